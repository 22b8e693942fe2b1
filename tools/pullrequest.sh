#!/usr/bin/env bash
# What a pull request changes in speed and in exact figures, in the repository of
# the current directory, whosever that is:
#
#   tools/pullrequest.sh BASE HEAD SUMMARY
#
# compares the last commit that HEAD has in common with BASE against HEAD, and
# appends the table as markdown to the file SUMMARY, also when the gate trips. The
# exit code is that of zkbench compare. action.yml calls it.
#
#   RUN      the arguments of zkbench compare after --git RANGE, as a shell takes
#            words, default --bench ./...
#   GATE     default 3%
#   ZKBENCH  the program, default one that is built from where this script lies
set -euo pipefail

refuse() {
  echo "pullrequest.sh: $1" >&2
  exit 2
}
[ $# -eq 3 ] || refuse "$# arguments; accepted: BASE HEAD SUMMARY"
head=$2 summary=$3
base=$(git merge-base "$1" "$head" 2>/dev/null) ||
  refuse "base: \"$1\" is not accepted; accepted: a revision with a commit in common with $head, in a clone that has both (fetch-depth: 0)"
words=$(xargs -n 1 printf '%s\n' <<<"${RUN:---bench ./...}" 2>/dev/null) || refuse "run: \"${RUN-}\" is not accepted; accepted: words, their quotes closed"
args=()
while IFS= read -r word; do args+=("$word"); done <<<"$words"

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
zkbench=${ZKBENCH-}
if [ -z "$zkbench" ]; then
  zkbench=$temp/zkbench
  GOBIN=$temp go install -C "$(dirname "$0")/.." -buildvcs=false ./cmd/zkbench >&2
fi

code=0
# Its messages go to the log as they come; the last one is for the summary too.
{ "$zkbench" compare --git "$base..$head" --gate "${GATE:-3%}" --format markdown "${args[@]}" 2>&1 >"$temp/table" | tee "$temp/messages" >&2; } || code=$?
{
  echo "## zkbench compare"
  echo
  cat "$temp/table"
  if [ "$code" -ne 0 ]; then
    echo
    echo "**Exit code $code**"
    echo
    echo '```'
    tail -n 1 "$temp/messages"
    echo '```'
  fi
} >>"$summary"
exit "$code"
