#!/usr/bin/env bash
# Benchmarks of the revision $1 and of the working tree, in processes that take
# turns (A B B A), through benchstat. The two files stay, for zkbench compare.
#
#   COUNT      rounds, default 6
#   BENCHTIME  of each case and round, default 100ms
#   BENCH      which benchmarks, default those of one transfer and one issue
#   FLAGS      of the benchmarks, default one case with each range proof
#   OUT        where base.txt and new.txt go, default bin/benchstat
#   BENCHSTAT  default bin/tools/benchstat
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -ne 1 ] || ! base=$(git rev-parse --verify --quiet --end-of-options "$1^{commit}"); then
  echo "benchstat.sh: \"${1-}\" is not accepted; accepted: one revision, for example HEAD~1" >&2
  exit 2
fi
count=${COUNT:-6}
benchtime=${BENCHTIME:-100ms}
bench=${BENCH:-'Benchmark(Sender|VerificationSenderProof|Issuer|ProofVerificationIssuer)$'}
read -ra flags <<<"${FLAGS:--curves=BN254 -bits=32 -num_inputs=2 -num_outputs=2 -proof_type=bulletproof,csp -executor=serial}"
out=${OUT:-bin/benchstat}
benchstat=${BENCHSTAT:-bin/tools/benchstat}
packages=(token/transfer token/issue)
if ! [[ $count =~ ^[1-9][0-9]*$ ]]; then
  echo "benchstat.sh: COUNT: \"$count\" is not accepted; accepted: a whole number from 1" >&2
  exit 2
fi

temp=$(mktemp -d)
cleanup() {
  [ ! -e "$temp/base" ] || git worktree remove --force "$temp/base"
  rm -rf "$temp"
}
trap cleanup EXIT
trap 'exit 3' INT TERM

git worktree add --quiet --detach "$temp/base" "$base" >&2
trees=([0]="$temp/base" [1]="$PWD")
files=([0]="$out/base.txt" [1]="$out/new.txt")
mkdir -p "$out"
for side in 0 1; do
  for package in "${packages[@]}"; do
    (cd "${trees[side]}" && go test -c -trimpath -o "$temp/$side-${package##*/}.test" "./$package") >&2
  done
  : >"${files[side]}"
done

run() {
  local side=$1 package
  for package in "${packages[@]}"; do
    (cd "${trees[side]}/$package" && "$temp/$side-${package##*/}.test" -test.run '^$' -test.bench "$bench" \
      -test.benchtime "$benchtime" -test.benchmem "${flags[@]}") >>"${files[side]}"
  done
}
for ((round = 0; round < count; round++)); do
  echo "round $((round + 1)) of $count" >&2
  run $((round % 2))
  run $((1 - round % 2))
done
"$benchstat" "${files[@]}"
