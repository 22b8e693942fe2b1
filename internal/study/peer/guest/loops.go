// Package guest builds the RISC-V programs that the peers (package peer) execute so that their speeds can be compared.
// Each program is a loop of instructions that RV32IM and RV64IM have in common. Each program is an executable without a
// runtime, and executes (retires) a known number of instructions.
package guest

import (
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/internal/study/rv"
)

// Loop is a loop of RISC-V instructions that computes a sum. The sum is in register x7 (t2). Register x5 (t0) contains
// the number of iterations that are left.
type Loop struct {
	Name        string
	Proved      uint32                // instructions of the run that provers prove
	start, body []uint32              // instructions that set the registers, and those of a turn
	sum32       func(n uint32) uint32 // the sum of n turns with 32-bit registers, computed in Go
	sum64       func(n uint32) uint64 // the same with 64-bit registers
}

// Registers of the loops.
const (
	t0, x, s           = 5, 6, 7
	a0, a1, a7         = 10, 11, 17
	p, base, v, at, to = 12, 13, 14, 15, 16
	w, y, k            = 28, 29, 30
)

// Constants of the loops.
const (
	firstX = 77
	firstY = 0x2545f491
	timesY = 0x5851f42d

	words  = 1 << 14 // of 4 bytes, 64 KiB
	stride = 9       // words between two turns; odd, so that every word is used
	ahead  = 8       // words that a turn uses
)

// Proved returns the loops whose runs are proved: those of Loops, and before them one with the name "sums". The runs have
// 2^20 instructions; that of "memory" has fewer, as many as the tables of package zkvm hold.
func Proved() []Loop {
	return append([]Loop{{
		Name: "sums", Proved: 1 << 20,
		start: []uint32{rv.Addi(x, 0, firstX)},
		body:  []uint32{add(s, s, x), add(x, x, s)},
		sum32: sumSums[uint32], sum64: sumSums[uint64],
	}}, Loops()...)
}

// Loops returns three loops. The loop named "integer" does shifts and sums. The loop named "memory" loads and stores
// words in 64 KiB of memory. The loop named "multiply" does multiplications.
func Loops() []Loop {
	return []Loop{
		{
			Name: "integer", Proved: 1 << 20,
			start: []uint32{rv.Addi(x, 0, firstX)},
			body: []uint32{
				slli(v, x, 13), xor(x, x, v), srli(v, x, 7), xor(x, x, v), slli(v, x, 17), xor(x, x, v),
				add(s, s, x),
			},
			sum32: sumIntegers[uint32], sum64: sumIntegers[uint64],
		},
		{
			Name: "memory", Proved: 7 << 17,
			start: slices.Concat([]uint32{rv.Addi(s, 0, firstX), rv.Lui(base, dataAt)}, set(to, 4*(words-1))),
			body: []uint32{
				add(p, base, at),
				lw(v, p, 0), add(s, s, v), sw(s, p, 4), lw(v, p, 8), xor(s, s, v), sw(s, p, 12),
				lw(v, p, 16), add(s, s, v), sw(s, p, 20), lw(v, p, 24), xor(s, s, v), sw(s, p, 28),
				rv.Addi(at, at, 4*stride), and(at, at, to),
			},
			sum32: sumMemory[uint32], sum64: sumMemory[uint64],
		},
		{
			Name: "multiply", Proved: 1 << 20,
			start: slices.Concat([]uint32{rv.Addi(x, 0, firstX)}, set(y, firstY), set(k, timesY)),
			body: []uint32{
				mul(v, x, y), mulhu(w, x, y), xor(x, v, w), add(x, x, t0),
				mul(y, y, k), mulhu(w, y, x), add(s, s, w),
			},
			sum32: sumProducts[uint32], sum64: sumProducts[uint64],
		},
	}
}

// register is the type of a guest's registers.
type register interface{ uint32 | uint64 }

func sumSums[T register](n uint32) (s T) {
	x := T(firstX)
	for range n {
		s += x
		x += s
	}
	return s
}

func sumIntegers[T register](n uint32) (s T) {
	x := T(firstX)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		s += x
	}
	return s
}

func sumMemory[T register](n uint32) T {
	var memory [words + ahead]uint32
	s, at := T(firstX), 0
	for range n {
		p := memory[at : at+ahead]
		for i := 0; i < ahead; i += 4 {
			s += T(int32(p[i]))
			p[i+1] = uint32(s)
			s ^= T(int32(p[i+2]))
			p[i+3] = uint32(s)
		}
		at = (at + stride) % words
	}
	return s
}

func sumProducts[T register](n uint32) (s T) {
	high := func(x, y T) T {
		hi, lo := bits.Mul64(uint64(x), uint64(y))
		if uint64(^T(0))>>32 == 0 {
			return T(lo >> 32)
		}
		return T(hi)
	}
	x, y := T(firstX), T(firstY)
	for ; n > 0; n-- {
		x = x*y ^ high(x, y)
		x += T(n)
		y *= timesY
		s += high(y, x)
	}
	return s
}
