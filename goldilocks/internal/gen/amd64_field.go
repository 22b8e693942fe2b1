package main

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

// block is a block of the field's lanes, with the upper dwords that were already computed.
type block struct {
	*asm.Block
	high map[value]value
}

type value = asm.Value

func newBlock(lanes int) *block { return &block{asm.New(lanes), map[value]value{}} }

// The field on the lanes of a block. A lazy lane may hold any 64-bit number. A canonical lane is
// below p. In a half lane the upper dword is unspecified.

const (
	lessThan = 1
	atLeast  = 5

	// Orders of dwords, the last first.
	odds  = 0xf5 // 3, 3, 1, 1
	evens = 0xa0 // 2, 2, 0, 0

	oddDwords = "K7" // the masks of these dwords, and of lanes 4 to 7, in blocks of eight lanes
	upperHalf = "K6"
)

// The registers of constants in a block of eight lanes.
var pinned = map[string]string{"epsilon": "Z31", "modulus": "Z30"}

// inRegisters are the constants that some functions have in registers.
var inRegisters = []string{"epsilon", "modulus", "low34", "fours", "zero", "scalar"}

// words are the constants.
var words = map[string]uint64{
	"epsilon": 1<<32 - 1,
	"modulus": modulus,
	"sign":    1 << 63,
	"flipped": (modulus - 1) ^ 1<<63,

	"biasLow":  1<<38 + 1, // with biasHigh 2^32 it is 2^38 + 1 + 2^64 - 2^32 - 2^38 = p
	"biasHigh": 1<<32 - 1 - 1<<6,
}

const (
	modulus = 1<<64 - 1<<32 + 1
)

func (b *block) add(x, y value) value { return b.Op("VPADDQ", y, x) }

// sub returns x - y.
func (b *block) sub(x, y value) value { return b.Op("VPSUBQ", y, x) }

func (b *block) xorSign(x value) value {
	return b.WithConstant(b.Either("VPXORQ", "VPXOR"), "sign", x)
}

func (b *block) shl(x value, n int) value { return b.Immediate("VPSLLQ", n, x) }
func (b *block) shr(x value, n int) value { return b.Immediate("VPSRLQ", n, x) }

// low returns the lower dword.
func (b *block) low(x value) value {
	return b.WithConstant(b.Either("VPANDQ", "VPAND"), "epsilon", x)
}

// product returns the full product of the lower dwords.
func (b *block) product(x, y value) value { return b.Op("VPMULUDQ", y, x) }

// timesEpsilon returns the lower dword times 2^32 - 1.
func (b *block) timesEpsilon(x value) value { return b.WithConstant("VPMULUDQ", "epsilon", x) }

// upper returns a lane whose lower dword is the upper dword of x. Its own upper dword is
// unspecified. It is a shuffle, since shifts and multiplications share port 0.
func (b *block) upper(x value) value {
	if h, ok := b.high[x]; ok {
		return h
	}
	h := b.Immediate("VPSHUFD", odds, x)
	b.high[x] = h
	return h
}

// where computes mnemonic(constant, x) in the lanes in which u < v, and x in the others. AVX-512
// only.
func (b *block) where(mnemonic, constant string, x, u, v value) value {
	return b.Masked(mnemonic, constant, x, b.Compare(lessThan, asm.ValueOperand(v), asm.ValueOperand(u)))
}

// times returns the 128-bit product of two lazy lanes.
//
// With halves 0 and 1: t = x1 y0 + (x0 y0 >> 32) and u = x0 y1 + t0 are each at most (2^32-1)^2 +
// 2^32 - 1 < 2^64. It takes 14 instructions, and 2 for halves not computed yet.
func (b *block) times(x, y value) (hi, lo value) {
	x1, y1 := b.upper(x), b.upper(y)
	ll, lh, hl, hh := b.product(x, y), b.product(x, y1), b.product(x1, y), b.product(x1, y1)
	t := b.add(hl, b.shr(ll, 32))
	u := b.add(lh, b.low(t))
	hi = b.add(b.add(hh, b.shr(t, 32)), b.shr(u, 32))
	return hi, b.join(ll, u)
}

// join returns the lower dword of low with the lower dword of high above it.
func (b *block) join(low, high value) value {
	if b.Lanes == 4 {
		return b.Immediate("VPBLENDD", 0xaa, b.shl(high, 32), low)
	}
	// The odd dwords are copies of even ones. The mask keeps low's even ones.
	return b.Emit(asm.Step{
		Mnemonic: "VPSHUFD", Before: fmt.Sprintf("$%d, ", evens),
		Sources: []asm.Operand{asm.ValueOperand(high), asm.ValueOperand(low)}, Mask: oddDwords + ", ", Merge: true, Hidden: true,
	})
}

// squared returns the 128-bit square of a lazy lane: x0^2 + 2^33 x0 x1 + 2^64 x1^2.
func (b *block) squared(x value) (hi, lo value) {
	x1 := b.upper(x)
	ll, lh, hh := b.product(x, x), b.product(x, x1), b.product(x1, x1)
	// At most (2^32-1)^2 + 2^31 < 2^64.
	u := b.add(lh, b.shr(ll, 33))
	hi = b.add(hh, b.shr(u, 31))
	// ll + 2^33 lh: no carries from below bit 33.
	return hi, b.add(b.shl(lh, 33), ll)
}

// reduce returns a lazy lane equal to hi 2^64 + lo modulo p. With hi = h 2^32 + l it is lo - h + l
// (2^32-1), since 2^64 = 2^32 - 1 and 2^96 = -1.
//
// A borrow leaves at least 2^64 - 2^32 + 1, from which 2^32 - 1 can be subtracted. A carry leaves
// at most (2^32-1)^2 - 1, to which it can be added. It takes 8 instructions; AVX2: 12.
func (b *block) reduce(hi, lo value) value {
	h := b.shr(hi, 32)
	m := b.timesEpsilon(hi)
	if b.Lanes == 8 {
		d := b.sub(lo, h)
		d = b.where("VPSUBQ", "epsilon", d, lo, h)
		s := b.add(d, m)
		return b.where("VPADDQ", "epsilon", s, s, m)
	}
	// With the sign bit flipped a signed comparison is an unsigned one.
	lo = b.xorSign(lo)
	d := b.sub(lo, h)
	d = b.sub(d, b.shr(b.Op("VPCMPGTQ", lo, d), 32))
	s := b.add(d, m)
	return b.xorSign(b.add(s, b.shr(b.Op("VPCMPGTQ", s, d), 32)))
}

// mul and square return lazy lanes, from lazy lanes.
func (b *block) mul(x, y value) value { return b.reduce(b.times(x, y)) }
func (b *block) square(x value) value { return b.reduce(b.squared(x)) }

// canonical makes a lazy lane canonical: from p on, x + (2^32-1) wraps to x - p.
func (b *block) canonical(x value) value {
	if b.Lanes == 8 {
		mask := b.Compare(atLeast, asm.Operand{Text: "=modulus"}, asm.ValueOperand(x))
		return b.Masked("VPADDQ", "epsilon", x, mask)
	}
	// x >= p if its flipped form is above the flipped p - 1.
	over := b.Op("VPCMPGTQ", b.constant("flipped"), b.xorSign(x))
	return b.add(x, b.shr(over, 32))
}

// constant returns the named constant as a value.
func (b *block) constant(name string) value {
	move := b.Either("VMOVDQA64", "VMOVDQU")
	if b.Lanes == 8 && !slices.Contains(inRegisters, name) {
		move = "VPBROADCASTQ"
	}
	return b.Emit(asm.Step{Mnemonic: move, Sources: []asm.Operand{{Text: "=" + name}}})
}

// addCanonical returns the canonical sum of canonical lanes: x - (p - y), plus p if that borrowed.
func (b *block) addCanonical(x, y value) value {
	return b.subCanonical(x, b.fromModulus(y))
}

// fromModulus returns p - y.
func (b *block) fromModulus(y value) value {
	if b.Lanes == 8 {
		return b.Emit(asm.Step{Mnemonic: "VPSUBQ", Sources: []asm.Operand{asm.ValueOperand(y), {Text: "=modulus"}}})
	}
	return b.sub(b.constant("modulus"), y)
}

// subCanonical returns the canonical x - y for a canonical x and y <= p.
func (b *block) subCanonical(x, y value) value {
	d := b.sub(x, y)
	if b.Lanes == 8 {
		return b.where("VPSUBQ", "epsilon", d, x, y)
	}
	return b.sub(d, b.shr(b.Op("VPCMPGTQ", b.xorSign(x), b.xorSign(y)), 32))
}

// addLazy returns a lazy sum of a lazy lane and a canonical one. If it carries, adding 2^32 - 1
// gives at most 2^64 - 1 + p - 1 - 2^64 + 2^32 - 1 < 2^64.
func (b *block) addLazy(x, y value) value {
	s := b.add(x, y)
	if b.Lanes == 8 {
		return b.where("VPADDQ", "epsilon", s, s, y)
	}
	return b.add(s, b.shr(b.Op("VPCMPGTQ", b.xorSign(s), b.xorSign(y)), 32))
}
