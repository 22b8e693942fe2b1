#!/usr/bin/env bash
# What a pull request changes in speed and in exact figures, in the repository of
# the current directory, whosever that is:
#
#   tools/pullrequest.sh BASE HEAD SUMMARY
#
# compares the last commit that HEAD has in common with BASE against HEAD, and
# appends the table as markdown to the file SUMMARY, also when the gate trips. The
# exit code is that of zkbench compare, 2 where it does not come to that.
# action.yml calls it.
#
#   RUN      the arguments of zkbench compare after --git RANGE: words, or what
#            stands in single or double quotes; default --bench ./...
#   GATE     default 3%
#   ZKBENCH  the program, default one that is built from where this script lies
set -euo pipefail

refuse() {
  echo "pullrequest.sh: $1" >&2
  exit 2
}
[ $# -eq 3 ] || refuse "$# arguments; accepted: BASE HEAD SUMMARY"
unset $(git rev-parse --local-env-vars) # a hook's: the repository is that of the directory
summary=$3
commit() { git rev-parse --verify --quiet --end-of-options "$1^{commit}"; }
head=$(commit "$2") || refuse "head: \"$2\" is not accepted; accepted: a revision"
base=$(commit "$1") && base=$(git merge-base "$base" "$head") ||
  refuse "base: \"$1\" is not accepted; accepted: a revision with a commit in common with $2, in a clone that has both (fetch-depth: 0)"
[ "$base" != "$head" ] || refuse "base: \"$1\" is not accepted; accepted: one that does not contain $2, which changes nothing there"

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
run=${RUN:---bench ./...}
xargs -n 1 printf '%s\0' <<<"$run" >"$temp/words" 2>/dev/null || refuse "run: \"$run\" is not accepted; accepted: words, their quotes closed"
args=()
while IFS= read -r -d '' word; do args+=("$word"); done <"$temp/words"
[ ${#args[@]} -gt 0 ] && [ -n "${run//[[:space:]]/}" ] || refuse "run: \"$run\" is not accepted; accepted: arguments of zkbench compare"

zkbench=${ZKBENCH-}
if [ -z "$zkbench" ]; then
  zkbench=$temp/zkbench
  # By the Go version of its own go.mod, and by no setting that is meant for what it measures.
  env -u GOFLAGS -u GOOS -u GOARCH -u GOEXPERIMENT GOWORK=off GOTOOLCHAIN=auto GOBIN="$temp" \
    go install -C "$(dirname "$0")/.." -buildvcs=false ./cmd/zkbench >&2 || refuse "zkbench does not build: see above"
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
