"""Verifies files of vectors by what the pages in docs/ say, with nothing but Python.

    python3 testdata/verify FILE...

Each file has a line: its name, and "ok" or "refused" with the reason. The exit code is 0 if all are ok,
and 1 if one is refused. The code is for reading. It takes no care of time or memory.
"""

import sys

sys.dont_write_bytecode = True

import action
import policy
import pseudonym
import rangeproof
import request
from refused import Refused, must
from vectors import records


def verify(text):
    count = 0
    for record in records(text):
        if record.has("audit"):
            pseudonym.verify(record)
        elif record.has("kind"):
            action.verify(record)
        elif record.has("genesis"):
            request.verify(record)
        elif record.has("update"):
            policy.verify(record)
        else:
            rangeproof.verify(record)
        count += 1
    must(count > 0, "no records")


def main(paths):
    if not paths:
        sys.exit(__doc__)
    code = 0
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                verify(file.read())
            print(f"{path}: ok")
        except Refused as reason:
            print(f"{path}: refused: {reason}")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
