package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

// A pair has 16 bytes: the indices of two places and of the place of their sum, then one bit for each lane that is
// not added. A place has eight points: eight x, then eight y.
const pairBytes = 16

// A loop works on several chains at once. A chain has registers for the addresses of a pair's points, and masks of
// the lanes that are not added (idle) and of those that are (live).
type chain struct {
	number   int
	a, b, to string
	idle     string
	live     string
}

var chains = []chain{
	{0, "R8", "R9", "R10", "K7", "K5"},
	{1, "R11", "R13", "R15", "K6", "K4"},
}

// addresses returns the instructions that load the registers of a chain from its pair, from SI on.
func (c chain) addresses(b *block) (lines []string) {
	pair := pairBytes * c.number
	for i, register := range []string{c.a, c.b, c.to} {
		lines = append(lines,
			fmt.Sprintf("MOVL %d(SI), %s", pair+4*i, register),
			fmt.Sprintf("IMUL3Q $%d, %s, %s", 2*b.bytes(), register, register),
			fmt.Sprintf("ADDQ DI, %s", register))
	}
	return append(lines,
		fmt.Sprintf("KMOVB %d(SI), %s", pair+12, c.idle),
		fmt.Sprintf("KNOTB %s, %s", c.idle, c.live))
}

// operands holds the coordinates of a pair. Each is loaded only once, because the sum may overwrite the first point.
type operands struct{ x1, y1, x2, y2 element }

// rule is a formula for addition. λ = numerator / denominator.
type rule struct {
	name        string
	operands    func(b *block, c chain) operands
	denominator func(b *block, o operands) element
	numerator   func(b *block, o operands) element
}

// rules has the chord through two points with different x, and the tangent at a point whose y is not 0. All
// coordinates that are stored are below 1.1 p, by reduced.
var rules = []rule{
	{
		"chord",
		func(b *block, c chain) operands {
			return operands{b.load(c.a, 0), b.load(c.a, b.bytes()), b.load(c.b, 0), b.load(c.b, b.bytes())}
		},
		func(b *block, o operands) element { return b.difference(o.x2, o.x1) },
		func(b *block, o operands) element { return b.difference(o.y2, o.y1) },
	},
	{
		"tangent",
		func(b *block, c chain) operands {
			x, y := b.load(c.a, 0), b.load(c.a, b.bytes())
			return operands{x, y, x, y}
		},
		func(b *block, o operands) element { return b.carried(b.sum(o.y1, o.y1)) },
		func(b *block, o operands) element { // 3 x² < 3.1 p
			s := b.reduce(b.squared(o.x1))
			return b.carried(b.sum(b.sum(s, s), s))
		},
	},
}

func (b *block) sum(x, y element) (z element) {
	for i := range x {
		z = append(z, b.Op("VPADDQ", x[i], y[i]))
	}
	return z
}

// live returns e with 1 in idle lanes.
func (b *block) live(e element, c chain) (z element) {
	for i, v := range e {
		z = append(z, b.Emit(asm.Step{
			Mnemonic: "VPBROADCASTQ", Sources: []asm.Operand{{Text: constant(b.limbs.One(i))}, asm.ValueOperand(v)},
			Mask: c.idle + ", ", Merge: true, Hidden: true,
		}))
	}
	return z
}

// forward multiplies the product at DX by a pair's denominator and stores the result after it.
func (r rule) forward(b *block, c chain) {
	at := c.number * b.bytes()
	d := b.live(r.denominator(b, r.operands(b, c)), c)
	b.store(b.mul(b.load("DX", at), d), "DX", at+len(chains)*b.bytes())
}

// backward adds a pair. At BX it finds the inverse of the product of all denominators up to this pair's, and leaves
// there the inverse of the product of those before it. At DX is the product of those before it.
//
//	λ = numerator/denominator, x3 = λ² - x1 - x2, y3 = λ (x1 - x3) - y1
func (r rule) backward(b *block, c chain) {
	at := c.number * b.bytes()
	o := r.operands(b, c)
	rest := b.load("BX", at)
	quotient := b.mul(rest, b.load("DX", at))
	b.store(b.mul(rest, b.live(r.denominator(b, o), c)), "BX", at)
	slope := b.mul(quotient, r.numerator(b, o))
	x3 := b.reduced(b.plus(b.minus(b.minus(b.reduce(b.squared(slope)), o.x1), o.x2), 3))
	y3 := b.reduce(b.product(slope, b.difference(o.x1, x3)))
	b.storeLive(x3, c, 0)
	b.storeLive(b.reduced(b.plus(b.minus(y3, o.y1), 2)), c, b.bytes())
}

func (b *block) storeLive(e element, c chain, offset int) {
	for i, v := range e {
		b.Store(v, c.live+", "+address(c.to, offset, i))
	}
}

func pointFunctions(limbs int) (all []function) {
	points, pairs := argument{"points", "*uint64", "DI"}, argument{"pairs", "*Pair", "SI"}
	for _, r := range rules {
		forward := function{name: fmt.Sprintf("%sForward%d", r.name, limbs), arguments: []argument{points, pairs, {"products", "*uint64", "DX"}}}
		backward := function{name: fmt.Sprintf("%sBackward%d", r.name, limbs), arguments: []argument{points, pairs, {"products", "*uint64", "DX"}, {"inverse", "*uint64", "BX"}}}
		var forwards, backwards []*asm.Block
		for _, c := range chains {
			there, back := newBlock(limbs), newBlock(limbs)
			r.forward(there, c)
			r.backward(back, c)
			forward.before = append(forward.before, c.addresses(there)...)
			backward.before = append(backward.before, c.addresses(back)...)
			forwards, backwards = append(forwards, there.Block), append(backwards, back.Block)
		}
		forward.block, backward.block = newBlock(limbs), newBlock(limbs)
		forward.block.Block, backward.block.Block = asm.Interleave(forwards...), asm.Interleave(backwards...)
		forward.block.Schedule()
		backward.block.Schedule()
		size := len(chains) * forward.block.bytes()
		forward.behind = []string{fmt.Sprintf("ADDQ $%d, SI", len(chains)*pairBytes), fmt.Sprintf("ADDQ $%d, DX", size)}
		backward.behind = []string{fmt.Sprintf("SUBQ $%d, SI", len(chains)*pairBytes), fmt.Sprintf("SUBQ $%d, DX", size)}
		all = append(all, forward, backward)
	}
	return append(all, gather(limbs), pack(limbs))
}
