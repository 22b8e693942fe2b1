#!/usr/bin/env bash
# How operations scale with processors: measured on this machine, beside what --predict-cpus says.
#
#   tools/scaling.sh [PROCESSORS [ZKBENCH]]
#
# The columns of its table: the time of one operation on one processor, on PROCESSORS (default all) and as
# predicted for them, then three factors. "measured" and "predicted" are over one processor. "separate" is what
# PROCESSORS processes reach that run at the same time, each on one processor, divided by what one alone reaches:
# they too share memory, caches and clocks. Each has tables of its own, so that they may need more cache than one
# operation does. "held" is measured / (predicted x separate / PROCESSORS). A row ends with "disturbed" if other
# programs used the processors. It takes about five minutes on sixteen processors, and needs nothing but ZKBENCH
# (default bin/zkbench), which may be a static binary from elsewhere.
set -euo pipefail

n=${1:-$(nproc)}
zkbench=${2:-bin/zkbench}
seconds=${SCALING_SECONDS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# p50 FILE: the median latency in ns; stage FILE: the time of the predicted operation in ns.
p50() { sed -n 's/.*{"name":"latency-p50","unit":"ns","value":\([0-9.e+]*\).*/\1/p' "$1"; }
stage() { sed -n 's/.*"stages":\[{"name":"operation","time":\([0-9]*\).*/\1/p' "$1"; }
# rate FILE...: operations per ns of all processes together.
rate() {
	local file
	for file in "$@"; do p50 "$file"; done | awk '{s += 1 / $1} END {printf "%.9g", s}'
}

measure() { # OUT WORKLOAD...
	local out=$1
	shift
	"$zkbench" run "$@" --samples 1 --check none --duration "${seconds}s" --json "$out" >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		return 1
	}
}

printf '%-46s %12s %12s %12s %9s %9s %9s %6s\n' operation "1 (ms)" "$n (ms)" "predicted" measured predicted separate held
while read -r executor workload; do
	[[ -n $workload ]] || continue
	serial=() pool=()
	if [[ $executor == pool ]]; then
		serial=(--executor serial) pool=(--executor pool)
	fi
	# shellcheck disable=SC2086 # the workload's flags are words
	{
		measure "$dir/one" $workload "${serial[@]}" --cpus 1
		measure "$dir/all" $workload "${pool[@]}" --cpus "$n"
		"$zkbench" run $workload --samples 1 --duration "${seconds}s" --predict-cpus "$n" --json "$dir/predicted" >"$dir/log" 2>&1 || {
			cat "$dir/log" >&2
			exit 1
		}
		pids=()
		for i in $(seq "$n"); do
			measure "$dir/apart$i" $workload "${serial[@]}" --cpus 1 &
			pids+=($!)
		done
		for pid in "${pids[@]}"; do wait "$pid"; done
	}
	awk -v name="$workload" -v one="$(p50 "$dir/one")" -v all="$(p50 "$dir/all")" -v told="$(stage "$dir/predicted")" \
		-v alone="$(rate "$dir/one")" -v apart="$(rate "$dir"/apart*)" -v n="$n" 'BEGIN {
		m = one / all; p = one / told; s = apart / alone
		printf "%-46s %12.3f %12.3f %12.3f %9.2f %9.2f %9.2f %6.2f", name, one / 1e6, all / 1e6, told / 1e6, m, p, s, m / (p * s / n)
	}'
	if grep -q '"name":"disturbed"' "$dir/one" "$dir/all"; then
		echo '  disturbed'
	else
		echo
	fi
	rm -f "$dir"/*
done <<'WORKLOADS'
pool sender --bits 64
pool verification-sender-proof --bits 64
pool validator-batch --batch 64
pool keccak-stark --bytes 13600
pool keccak-stark --bytes 13600 --field goldilocks
pool proof-batch --bytes 1360
pool guest-prove --size 1300
pool merkle-build --leaves 262144
- msm --points 262144
- pedersen --system turbo --hashes 64 --stage prove
- pedersen --system turbo --hashes 64 --stage keys
WORKLOADS
