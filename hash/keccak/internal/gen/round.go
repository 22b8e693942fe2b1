package main

import (
	"fmt"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/arith/asm"
)

// block is a block of code on lanes. A value is a lane of the state, for all states.
type block struct{ *asm.Block }

type value = asm.Value

var offsets = keccak.Rotations()

// source returns the lane that ρ and π move to lane x + 5y.
func source(x, y int) int { return (x+3*y)%5 + 5*x }

// The functions of three words that VPTERNLOGQ computes, by its numbering.
const (
	parity = 0x96 // x ^ y ^ z
	chi    = 0xd2 // x ^ ^y & z
)

// ternary computes a function of three words. The result takes the first one's register.
func (b *block) ternary(function int, x, y, z value) value {
	return b.Emit(asm.Step{
		Mnemonic: "VPTERNLOGQ", Before: fmt.Sprintf("$%#x, ", function),
		Sources: []asm.Operand{asm.ValueOperand(z), asm.ValueOperand(y), asm.ValueOperand(x)}, Merge: true, Hidden: true,
	})
}

// roundInRegisters computes a round with AVX-512; constant is the address of ι's constant. It takes 100
// instructions that need a port. θ has 15 for the parities of columns, 5 that rotate them, 5 that add two of
// them and 25 that add this to each lane; ρ has 24, χ 25 and ι 1.
//
// With VPTERNLOGQ wherever it fits there would be 90. But Zen 4 starts only one of those per cycle if no
// source has been in its register for long, and two of other instructions. So θ has five of them and not 35,
// and the χ of a row is placed among the sums and rotations of the next row. At two instructions per cycle a
// round takes at least 50 cycles. It takes more, because θ waits for all lanes: go test ./hash/keccak -run
// '^$' -bench Permutation measures it.
func (b *block) roundInRegisters(a [keccak.Lanes]value, constant string) (out [keccak.Lanes]value) {
	var columns, sums [5]value
	for x := range 5 {
		sum := b.Op("VPXORQ", a[x+10], b.Op("VPXORQ", a[x+5], a[x]))
		columns[x] = b.ternary(parity, sum, a[x+15], a[x+20])
	}
	// In this order a column is rotated when nothing else reads it any more, so that it leaves its
	// register to the sum: 25 lanes and two times five columns would need more than there are.
	for _, x := range []int{0, 3, 1, 4, 2} {
		sums[x] = b.Op("VPXORQ", columns[(x+4)%5], b.Immediate("VPROLQ", 1, columns[(x+1)%5]))
	}
	var rows [5][5]value
	for i := range keccak.Lanes + 5 {
		if i < keccak.Lanes {
			from := source(i%5, i/5)
			v := b.Op("VPXORQ", sums[from%5], a[from])
			if n := offsets[from]; n > 0 {
				v = b.Immediate("VPROLQ", n, v)
			}
			rows[i/5][i%5] = v
		}
		if i >= 5 {
			x, row := i%5, &rows[i/5-1]
			out[i-5] = b.ternary(chi, row[x], row[(x+1)%5], row[(x+2)%5])
		}
	}
	out[0] = b.WithWord("VPXORQ", constant, out[0])
	return out
}

// xor adds the word at an address to a value.
func (b *block) xor(address string, v value) value {
	return b.Emit(asm.Step{Mnemonic: "VPXOR", Sources: []asm.Operand{{Text: address}, asm.ValueOperand(v)}})
}

// rotate rotates a value with AVX2, which has no instruction for it. Rotations by whole bytes are shuffles.
func (b *block) rotate(v value, n int) value {
	switch n {
	case 0:
		return v
	case 8, 56:
		return b.WithConstant("VPSHUFB", fmt.Sprintf("left%d", n), v)
	}
	return b.Op("VPOR", b.Immediate("VPSLLQ", n, v), b.Immediate("VPSRLQ", keccak.LaneBits-n, v))
}

// roundInMemory computes a round with AVX2, whose 16 registers are fewer than the lanes: it reads from places
// in memory and writes to others. It takes 184 instructions that need a port. θ has 20 for the parities of
// columns, 15 that rotate them, 5 that add two of them and 25 that add this to each lane; ρ has 68, χ 50 and
// ι 1.
func (b *block) roundInMemory(from, to func(lane int) string, constant string) {
	var columns, sums [5]value
	for x := range 5 {
		columns[x] = b.Load(from(x))
		for i := x + 5; i < keccak.Lanes; i += 5 {
			columns[x] = b.xor(from(i), columns[x])
		}
	}
	for x := range 5 {
		next := columns[(x+1)%5]
		// A sum shifts by one on every port, a shift on two of them.
		rotated := b.Op("VPOR", b.Op("VPADDQ", next, next), b.Immediate("VPSRLQ", keccak.LaneBits-1, next))
		sums[x] = b.Op("VPXOR", rotated, columns[(x+4)%5])
	}
	for y := range 5 {
		var row [5]value
		for x := range 5 {
			i := source(x, y)
			row[x] = b.rotate(b.xor(from(i), sums[i%5]), offsets[i])
		}
		for x := range 5 {
			v := b.Op("VPXOR", b.Op("VPANDN", row[(x+2)%5], row[(x+1)%5]), row[x])
			if x == 0 && y == 0 {
				v = b.Op("VPXOR", b.Broadcast(constant), v)
			}
			b.Store(v, to(x+5*y))
		}
	}
}
