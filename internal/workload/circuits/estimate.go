package circuits

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// estimate is what a circuit will be, as far as it is known before it is built.
type estimate struct {
	constraints int
	memory      memoryModel
	// largest, where set, names the largest size of those that fit.
	largest func(fits func(constraints int) bool) string
}

// memoryModel is the memory of all stages, at most, beside that of the process: bytes for each
// point of the domain and for each constraint, as measured (docs/circuits.md).
type memoryModel struct {
	point, constraint int64
	statement         int64 // of an input, for each point of the domain; 0: it is small
}

// baseBytes are of the process.
const baseBytes int64 = 64 << 20

func domainOf(constraints int) int64 { return int64(ecc.NextPowerOfTwo(uint64(constraints))) }

func (m memoryModel) of(constraints int) int64 {
	return baseBytes + domainOf(constraints)*m.point + int64(constraints)*m.constraint
}

// verifyBytes are more than a verification takes.
const verifyBytes = 4 << 20

// load is the estimate of a case under load of a stage. Half of what all stages take is the set-up's, and half an
// operation's; to verify takes little, but its inputs are proved before.
func (e estimate) load(stage string) workload.Memory {
	if e.constraints == 0 { // not known before it is built
		return workload.Memory{}
	}
	whole, input := uint64(e.memory.of(e.constraints)), uint64(domainOf(e.constraints)*e.memory.statement)
	if stage == stageVerify {
		return workload.Memory{Base: whole, Input: input, Operation: verifyBytes}
	}
	return workload.Memory{Base: whole / 2, Input: input, Operation: whole / 2}
}

// fits refuses what needs more memory than there is, or a larger reference string, before
// anything is built.
func (e estimate) fits(needsReference bool) error {
	have := int64(memory.Available()) // 0: not known
	limit := &zkbench.LimitError{What: "bytes of memory", Estimate: e.memory.of(e.constraints), Max: have}
	if have == 0 || limit.Estimate <= have {
		domain := domainOf(e.constraints)
		if !needsReference || domain <= srs.MaxSize {
			return nil
		}
		limit = &zkbench.LimitError{What: "points of the domain", Estimate: domain, Max: srs.MaxSize}
	}
	if e.largest != nil && have > 0 {
		limit.What += fmt.Sprintf(" (what fits: %s)", e.largest(func(n int) bool { return e.memory.of(n) <= have }))
	}
	return limit
}

// largestSize returns the largest size up to most of which fits tells that it fits.
func largestSize(most int, fits func(n int) bool) int {
	lo, hi := 0, most
	for lo < hi {
		if mid := (lo + hi + 1) / 2; fits(mid) {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}
