#!/usr/bin/env bash
# What a pull request changes in speed and in exact figures:
#
#   tools/pullrequest.sh BASE HEAD SUMMARY
#
# compares the last commit that HEAD has in common with BASE against HEAD, which
# is checked out here, and appends the tables as markdown to the file SUMMARY,
# also when the gate trips. The exit code is then that of zkbench compare, or of
# benchstat where that failed.
#
#   GATE          default 3%
#   COMPAREFLAGS  further flags of zkbench compare, for example --processes 8
#   COUNT, BENCHTIME, BENCH, FLAGS  as in tools/benchstat.sh
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -ne 3 ]; then
  echo "pullrequest.sh: $# arguments; accepted: BASE HEAD SUMMARY" >&2
  exit 2
fi
head=$2 summary=$3
base=$(git merge-base "$1" "$2")
gate=${GATE:-3%}
read -ra more <<<"${COMPAREFLAGS-}"

make -s build bin/tools >&2

table=$(mktemp)
messages=$(mktemp)
trap 'rm -f "$table" "$messages"' EXIT

code=0
# Its messages go to the log as they come; the last one is for the summary too.
{ bin/zkbench compare --git "$base..$head" sender verification-sender-proof \
  --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --proof-type bulletproof,csp --executor serial \
  --gate "$gate" --accept tools/accepted.txt --format markdown "${more[@]}" 2>&1 >"$table" | tee "$messages" >&2; } || code=$?
{
  echo "## zkbench compare"
  echo
  cat "$table"
  if [ "$code" -ne 0 ]; then
    echo
    echo "**Exit code $code**"
    echo
    echo '```'
    tail -n 1 "$messages"
    echo '```'
  fi
} >>"$summary"

stat=0
make -s benchstat BASE="$base" >"$table" || stat=$?
{
  echo
  echo "## benchstat"
  echo
  echo '```'
  cat "$table"
  echo '```'
  [ "$stat" -eq 0 ] || echo "**benchstat failed with exit code $stat**"
} >>"$summary"

[ "$code" -ne 0 ] || code=$stat
exit "$code"
