package circuits

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/srs"
)

// estimate holds what is known of a circuit's size before it is built.
type estimate struct {
	constraints int
	memory      memoryModel
	// largest, if set, describes the largest size that fits.
	largest func(fits func(constraints int) bool) string
}

// memoryModel is the maximum memory of all stages beyond that of the process: bytes of any circuit, per point of the
// domain, and per constraint, as measured (docs/circuits.md).
type memoryModel struct {
	base              int64
	point, constraint int64
	onePass           int64 // in addition, for each of at most onePassPoints
	statement         int64 // bytes of an input per point of the domain; 0 if it is small
}

// onePassPoints is the largest domain for which plonkish computes the quotient in one pass.
const onePassPoints = 1 << 16

// baseBytes is the memory of the process.
const baseBytes int64 = 64 << 20

func domainOf(constraints int) int64 { return int64(ecc.NextPowerOfTwo(uint64(constraints))) }

// bytes returns the memory of the process with a circuit of this size.
func (m memoryModel) bytes(constraints int) int64 {
	domain := domainOf(constraints)
	return baseBytes + m.base + domain*m.point + min(domain, onePassPoints)*m.onePass + int64(constraints)*m.constraint
}

// verifyBytes is more than a verification takes.
const verifyBytes = 4 << 20

// load returns the estimate for a case that runs one stage under load. It assigns half of the memory of all stages to
// the set-up, and half to an operation. Verifying takes little, and makes no garbage that would fill the memory of the
// process, but its inputs are proved before.
func (e estimate) load(stage string) workload.Memory {
	if e.constraints == 0 { // not known before it is built
		return workload.Memory{}
	}
	whole, input := uint64(e.memory.bytes(e.constraints)), uint64(domainOf(e.constraints)*e.memory.statement)
	if stage == stageVerify {
		return workload.Memory{Base: whole - uint64(baseBytes), Input: input, Operation: verifyBytes}
	}
	return workload.Memory{Base: whole / 2, Input: input, Operation: whole / 2}
}

// fits returns an error if the circuit needs more memory than there is, or a larger reference string than
// package srs makes. It is called before anything is built.
func (e estimate) fits(needsReference bool) error {
	have := int64(memory.Available()) // 0: not known
	limit := &zkbench.LimitError{What: "bytes of memory", Estimate: e.memory.bytes(e.constraints), Max: have}
	if have == 0 || limit.Estimate <= have {
		domain := domainOf(e.constraints)
		if !needsReference || domain <= srs.MaxSize {
			return nil
		}
		limit = &zkbench.LimitError{What: "points of the domain", Estimate: domain, Max: srs.MaxSize}
	}
	if e.largest != nil && have > 0 {
		limit.What += fmt.Sprintf(" (what fits: %s)", e.largest(func(n int) bool { return e.memory.bytes(n) <= have }))
	}
	return limit
}

// largestSize returns the largest size up to most for which fits returns true.
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
