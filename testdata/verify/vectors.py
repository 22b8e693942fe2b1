"""The form of the files of vectors: testdata/README.md."""

from refused import Refused, must


def records(text):
    """The records of a file."""
    lines = []
    for line in text.splitlines() + [""]:
        if line.startswith("#"):
            continue
        if line:
            lines.append(line)
        elif lines:
            yield Record(lines)
            lines = []


class Record:
    """The values of a record by their names. Each is to be asked for, or the record is refused."""

    def __init__(self, lines):
        self.values = {}
        for line in lines:
            name, _, value = line.rpartition(" ")
            must(name not in self.values, f"{name} stands twice")
            self.values[name] = value

    def word(self, name):
        must(name in self.values, f"{name} is missing")
        return self.values.pop(name)

    def number(self, name):
        value = self.word(name)
        must(value.isascii() and value.isdigit() and len(value) <= 20 and int(value) < 1 << 64, f"{name} is not a number of 64 bits")
        return int(value)

    def bytes(self, name):
        try:
            return bytes.fromhex(self.word(name))
        except ValueError:
            raise Refused(f"{name} is not hexadecimal")

    def has(self, name):
        return name in self.values

    def all(self, name, read):
        """The values name[0], name[1] and so on."""
        found = []
        while self.has(f"{name}[{len(found)}]"):
            found.append(read(f"{name}[{len(found)}]"))
        return found

    def end(self):
        must(not self.values, "not known: " + ", ".join(self.values))
