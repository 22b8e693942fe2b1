package main

import "github.com/zkbench/zkbench/internal/arith/asm"

import "fmt"

// The functions that only the study has. A state is twelve
// elements; a step takes a register of quarters of states, one or two of them, and the
// constants, fours of elements, are the same for all.
var studyLoops = []loop{
	{name: "product", pointers: []string{"hi", "lo", "a", "b"}, study: true, body: func(b *block) {
		hi, lo := b.times(b.Load(third), b.Load("(BX)"))
		b.Store(hi, first)
		b.Store(lo, second)
	}},
	{name: "mulByte", pointers: []string{"dst", "a", "b"}, study: true, body: func(b *block) {
		b.Store(b.canonical(b.lazyOf(b.byByte(b.Load(second), b.Load(third)))), first)
	}},
	{name: "spmv", pointers: []string{"dst", "a", "b"}, quarters: true, study: true, body: func(b *block) {
		var s wideSum
		for i := range 3 {
			s.add(b, b.quarter(32*i), b.four(32*i))
		}
		b.Store(b.canonical(s.lazy(b)), first)
	}},
	{name: "spmvByte", pointers: []string{"dst", "a", "b"}, quarters: true, study: true, body: func(b *block) {
		b.sumBytes(3, func(i int) (x, y value) { return b.quarter(32 * i), b.four(32 * i) })
	}},
	// Each of the matrix's columns is multiplied by an element of the state.
	{name: "mmult", pointers: []string{"dst", "a", "columns"}, quarters: true, study: true, body: func(b *block) {
		var s wideSum
		for j := range width {
			s.add(b, b.element(8*j), b.four(32*j))
		}
		b.Store(b.canonical(s.lazy(b)), first)
	}},
	{name: "mmultByte", pointers: []string{"dst", "a", "columns"}, quarters: true, study: true, body: func(b *block) {
		b.sumBytes(width, func(j int) (x, y value) { return b.element(8 * j), b.four(32 * j) })
	}},
}

// stateSize is the size of a state in bytes.
const stateSize = 8 * width

// byByte returns x y for a lazy x and y below 2^8, as an expansion with parts below 2^40.
func (b *block) byByte(x, y value) (low, high value) {
	return b.product(x, y), b.product(b.upper(x), y)
}

// sumBytes stores the sum of up to 12 products by bytes, with parts below 2^44.
func (b *block) sumBytes(n int, factors func(i int) (x, y value)) {
	low, high := b.byByte(factors(0))
	for i := 1; i < n; i++ {
		l, h := b.byByte(factors(i))
		low, high = b.add(low, l), b.add(high, h)
	}
	b.Store(b.canonical(b.lazyOf(low, high)), first)
}

// wideSum is a sum of products of elements, as the sums of their four dwords.
type wideSum struct {
	dwords [4]value
	some   bool
}

func (s *wideSum) add(b *block, x, y value) {
	hi, lo := b.times(x, y)
	for i, v := range []value{b.low(lo), b.shr(lo, 32), b.low(hi), b.shr(hi, 32)} {
		if s.some {
			v = b.add(s.dwords[i], v)
		}
		s.dwords[i] = v
	}
	s.some = true
}

// lazy returns the sum as a lazy lane: (d0 - d2 - d3) + (d1 + d2) 2^32, by 2^64 = 2^32 - 1 and 2^96
// = -1. For at most 12 products the dwords are below 2^36. So the lower part plus 2^38 + 1 is
// positive, and adding 2^32 - 1 - 2^6 to the upper part completes this to p.
func (s *wideSum) lazy(b *block) value {
	low := b.sub(b.add(s.dwords[0], b.constant("biasLow")), b.add(s.dwords[2], s.dwords[3]))
	high := b.sum(s.dwords[1], s.dwords[2], b.constant("biasHigh"))
	return b.lazyOf(low, high)
}

// quarter returns four elements of a state, and of the next.
func (b *block) quarter(at int) value {
	v := b.fourAt(fmt.Sprintf("%d(SI)", at))
	if b.Lanes == 4 {
		return v
	}
	return b.Emit(asm.Step{Mnemonic: "VINSERTI64X4", Before: "$1, ", Sources: []asm.Operand{{Text: fmt.Sprintf("%d(SI)", at+stateSize)}, asm.ValueOperand(v)}})
}

// element returns an element of a state in four lanes, and of the next state in the other four.
func (b *block) element(at int) value {
	v := b.Broadcast(fmt.Sprintf("%d(SI)", at))
	if b.Lanes == 4 {
		return v
	}
	// The upper half's lanes.
	return b.Emit(asm.Step{
		Mnemonic: "VPBROADCASTQ", Sources: []asm.Operand{{Text: fmt.Sprintf("%d(SI)", at+stateSize)}, asm.ValueOperand(v)},
		Mask: upperHalf + ", ", Merge: true, Hidden: true,
	})
}

// four returns four elements that all states share.
func (b *block) four(at int) value { return b.fourAt(fmt.Sprintf("%d(DX)", at)) }

func (b *block) fourAt(address string) value {
	return b.Emit(asm.Step{Mnemonic: b.Either("VBROADCASTI64X4", "VMOVDQU"), Sources: []asm.Operand{{Text: address}}})
}
