package main

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/arith/asm"
)

// A pair is 16 bytes: places of two points and of their sum, then the lanes that take no
// part, a bit each. Places count eights of points: the x of eight, then their y.
const pairBytes = 16

// A chain is one of those that a loop works on at once: its registers hold the addresses of a
// pair's points and its masks the lanes that take no part, and those that do.
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

// addresses load the registers of a chain from its pair, from SI on.
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

// operands are the coordinates of a pair. Each is loaded once: the sum may take the place of
// the first point.
type operands struct{ x1, y1, x2, y2 element }

// rule is one of addition: λ = numerator / denominator.
type rule struct {
	name        string
	operands    func(b *block, c chain) operands
	denominator func(b *block, o operands) element
	numerator   func(b *block, o operands) element
}

// The chord through two points of different x, and the tangent at a point whose y is not 0.
// All coordinates that are stored are below 1.1 p: reduced says so.
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

// live is e, but 1 in idle lanes.
func (b *block) live(e element, c chain) (z element) {
	for i, v := range e {
		z = append(z, b.Emit(asm.Step{
			Mnemonic: "VPBROADCASTQ", Sources: []asm.Operand{{Text: constant(b.limbs.One(i))}, asm.Of(v)},
			Mask: c.idle + ", ", Merge: true, Hidden: true,
		}))
	}
	return z
}

// forward multiplies the product that lies at DX by a pair's denominator; the result lies
// behind it.
func (r rule) forward(b *block, c chain) {
	at := c.number * b.bytes()
	d := b.live(r.denominator(b, r.operands(b, c)), c)
	b.store(b.mul(b.load("DX", at), d), "DX", at+len(chains)*b.bytes())
}

// backward has the inverse of the product of all denominators up to this pair's at BX, and
// leaves that of those before it there; their product lies at DX.
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
		b.Store(v, c.live+", "+at(c.to, offset, i))
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
