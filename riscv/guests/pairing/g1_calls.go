//go:build !bigint && precompile

package main

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/guest"
)

// words returns the point in the form that calls take.
func (z *g1) words() *[8]uint64 { return (*[8]uint64)(unsafe.Pointer(z)) }

// multiply sets z to n·p, for n below the order.
func (z *g1) multiply(p *g1, n *digits) {
	minus := g1{x: p.x}
	minus.y.Sub(&zero, &p.y)
	t := *p
	for i := n.n - 2; i >= 0; i-- {
		guest.G1Double(t.words(), t.words())
		switch n.d[i] {
		case 1:
			t.add(p)
		case -1:
			t.add(&minus)
		}
	}
	*z = t
}

// add adds p to t. p must not be -t.
func (t *g1) add(p *g1) {
	if t.x == p.x { // for the last digit of n = r - 2
		guest.G1Double(t.words(), t.words())
		return
	}
	guest.G1Add(t.words(), t.words(), p.words())
}
