#!/usr/bin/env bash
# Says what a pull request changes in speed and in exact figures, in the repository of
# the current directory:
#
#   tools/pullrequest.sh BASE HEAD SUMMARY
#
# compares the last commit that HEAD has in common with BASE against HEAD. It appends the
# table as Markdown to the file SUMMARY, also if a figure exceeds the gate. If something is
# refused, it appends the reason. The exit code is that of zkbench compare, and 2 if
# something was refused before.
#
#   RUN      the arguments of zkbench compare after --git RANGE: words with spaces or line
#            ends between them. Text in single or double quotes belongs to one word. A
#            backslash is a character like any other. Default: --bench ./...
#   GATE     default: 3%
#   ZKBENCH  the program; default: one that is built from the repository of this script
#
# If GITHUB_OUTPUT is set, exit-code and table (a path) are appended to the file that it
# names. action.yml calls this script, and for its cache also
#
#   tools/pullrequest.sh --key SUMMARY        prints key=..., which changes with the program
#   tools/pullrequest.sh --build DIR SUMMARY  builds DIR/zkbench
set -euo pipefail

temp=$(mktemp -d)
trap 'rm -rf "$temp"' EXIT
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# finish CODE: what was written to $temp/report goes to the summary, or to the log if there is none.
finish() {
  if ! { cat "$temp/report" >>"$summary"; } 2>/dev/null; then
    echo "pullrequest.sh: summary: \"$summary\" cannot be written; this is what it would say" >&2
    cat "$temp/report"
  fi
  [ -z "${GITHUB_OUTPUT-}" ] || echo "exit-code=$1" >>"$GITHUB_OUTPUT"
  exit "$1"
}

refuse() {
  echo "pullrequest.sh: $1" >&2
  printf '## zkbench compare\n\n**Exit code 2**\n\n```\n%s\n```\n' "$1" >"$temp/report"
  finish 2
}

usage() {
  echo "pullrequest.sh: $1 arguments; accepted: BASE HEAD SUMMARY" >&2
  exit 2
}

# With the Go version of our own go.mod, and with no setting that is meant for what is measured. Without C, so that
# a program from the cache runs on every image of the same system.
ourGo() {
  env -u GOFLAGS -u GOOS -u GOARCH -u GOEXPERIMENT GOWORK=off GOTOOLCHAIN=auto CGO_ENABLED=0 go "$@"
}

build() {
  GOBIN=$1 ourGo install -C "$here" -trimpath -buildvcs=false ./cmd/zkbench >&2 || refuse "zkbench does not build: see the log"
}

sources() {
  (cd "$here" && find . \( -name .git -o -path ./bin \) -prune -o -type f -print | LC_ALL=C sort)
}

case ${1-} in
--key)
  [ $# -eq 2 ] || usage $#
  summary=$2
  command -v go >/dev/null || refuse "go is not in the PATH; accepted: a job with actions/setup-go before this action"
  platform=$(ourGo env -C "$here" GOVERSION GOHOSTOS GOHOSTARCH) || refuse "the Go version of zkbench's go.mod is not here: see the log"
  export GIT_DIR=/nonexistent # the sources need not be in a repository
  digest=$({ sources; sources | (cd "$here" && git hash-object --no-filters --stdin-paths); } | git hash-object --stdin)
  echo "key=zkbench-$(tr '\n' - <<<"$platform")$digest"
  exit
  ;;
--build)
  [ $# -eq 3 ] || usage $#
  summary=$3
  mkdir -p "$2"
  build "$(cd "$2" && pwd)"
  exit
  ;;
esac

[ $# -eq 3 ] || usage $#
summary=$3
unset $(git rev-parse --local-env-vars) # a hook's: the repository is that of the directory
git rev-parse --git-dir >/dev/null 2>"$temp/messages" || refuse "directory: no repository is here: $(head -n 1 "$temp/messages")"
if [ -z "$1" ]; then
  case ${GITHUB_EVENT_NAME-} in
  '') cure= ;;
  push) cure='; the event push has no pull request: give the action base: ${{ github.event.before }}' ;;
  merge_group) cure='; the event merge_group has no pull request: give the action base: ${{ github.event.merge_group.base_sha }}' ;;
  *) cure="; the event $GITHUB_EVENT_NAME has no pull request: give the action a base, for example base: origin/main" ;;
  esac
  refuse "base: \"\" is not accepted; accepted: a revision with a commit in common with $2$cure"
fi
if [[ $1 =~ ^0+$ ]]; then
  refuse "base: \"$1\" is not accepted: a new branch has no earlier commit; accepted: a revision, for example origin/main"
fi
shallow=
[ "$(git rev-parse --is-shallow-repository)" != true ] || shallow='; this is a shallow clone, and actions/checkout needs fetch-depth: 0'
commit() { git rev-parse --verify --quiet --end-of-options "$1^{commit}"; }
head=$(commit "$2") || refuse "head: \"$2\" is not accepted; accepted: a revision"
base=$(commit "$1") && base=$(git merge-base "$base" "$head") ||
  refuse "base: \"$1\" is not accepted; accepted: a revision with a commit in common with $2, in a clone that has both (fetch-depth: 0)$shallow"
[ "$base" != "$head" ] || refuse "base: \"$1\" is not accepted; accepted: one that does not contain $2, which changes nothing there"

run=${RUN:---bench ./...}
args=() word= begun= quote=
for ((i = 0; i < ${#run}; i++)); do
  c=${run:i:1}
  case $c in
  "$quote") quote= ;;
  [\'\"]) if [ -z "$quote" ]; then quote=$c begun=1; else word+=$c; fi ;;
  [[:space:]])
    if [ -n "$quote" ]; then
      word+=$c
    elif [ -n "$begun" ]; then
      args+=("$word")
      word= begun=
    fi
    ;;
  *) word+=$c begun=1 ;;
  esac
done
[ -z "$quote" ] || refuse "run: \"$run\" is not accepted; accepted: words, their quotes closed"
[ -z "$begun" ] || args+=("$word")
[ ${#args[@]} -gt 0 ] || refuse "run: \"$run\" is not accepted; accepted: arguments of zkbench compare"

zkbench=${ZKBENCH-}
if [ -z "$zkbench" ]; then
  build "$temp"
  zkbench=$temp/zkbench
fi

table=$temp/table
if [ -n "${GITHUB_OUTPUT-}" ]; then # for steps that come later
  table=$(mktemp -d "${RUNNER_TEMP:-${TMPDIR:-/tmp}}/zkbench-XXXXXX")/compare.md
  echo "table=$table" >>"$GITHUB_OUTPUT"
fi
code=0
# Its messages go to the log as they come; the last one is for the summary too.
{ "$zkbench" compare --git "$base..$head" --gate "${GATE:-3%}" --format markdown "${args[@]}" 2>&1 >"$table" | tee "$temp/messages" >&2; } || code=$?
{
  echo "## zkbench compare"
  echo
  cat "$table"
  if [ "$code" -ne 0 ]; then
    echo
    echo "**Exit code $code**"
    echo
    echo '```'
    tail -n 1 "$temp/messages"
    echo '```'
    if tail -n 1 "$temp/messages" | grep -q failed && git cat-file -e "$head:.gitmodules" 2>/dev/null && [[ $run != *submodule* ]]; then
      echo
      echo "The worktrees that were compared have no submodules. In the input run, --build 'git submodule update --init' gets them."
    fi
  fi
} >"$temp/report"
finish "$code"
