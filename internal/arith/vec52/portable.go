package vec52

import (
	"math/bits"

	"github.com/zkbench/zkbench/internal/arith/vec52/layout"
)

// This file and the other *_portable.go files do in Go, lane by lane, what the kernels do. All limbs are the same.

const maxLimbs = 8

// element holds the limbs of one element. Limbs of sums may have more than 52 bits, or be negative in two's
// complement.
type element [maxLimbs]uint64

func (f *Field) load(e *element, block []uint64, lane int) {
	for i := range f.limbs {
		e[i] = block[Width*i+lane]
	}
}

func (f *Field) store(e *element, block []uint64, lane int) {
	for i := range f.limbs {
		block[Width*i+lane] = e[i]
	}
}

// constant returns the constant whose limb i is at index(i) of the constants.
func (f *Field) constant(index func(i int) int) (e element) {
	for i := range f.limbs {
		e[i] = f.constants[index(i)]
	}
	return e
}

// multiple returns k p.
func (f *Field) multiple(k int) element {
	return f.constant(func(i int) int { return layout.Limbs(f.limbs).Multiples(i) + k })
}

// mulLow and mulHigh return the halves of the product of the lower 52 bits, as VPMADD52 computes them.
func mulLow(x, y uint64) uint64 {
	return (x & low52) * (y & low52) & low52
}

func mulHigh(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x&low52, y&low52)
	return hi<<12 | lo>>52
}

// product returns x y/R modulo p in limbs that may exceed 52 bits.
func (f *Field) product(x, y *element) (z element) {
	var t [2 * maxLimbs]uint64
	n := f.limbs
	for i := range n {
		for j := range n {
			t[i+j] += mulLow(x[i], y[j])
			t[i+j+1] += mulHigh(x[i], y[j])
		}
	}
	p := f.multiple(1)
	for i := range n {
		m := mulLow(t[i], f.constants[layout.Limbs(n).Inverse()])
		for j := range n {
			t[i+j] += mulLow(m, p[j])
			t[i+j+1] += mulHigh(m, p[j])
		}
		t[i+1] += t[i] >> radix
	}
	copy(z[:], t[n:2*n])
	return z
}

func (f *Field) plus(x, y element) element {
	for i := range f.limbs {
		x[i] += y[i]
	}
	return x
}

func (f *Field) minus(x, y element) element {
	for i := range f.limbs {
		x[i] -= y[i]
	}
	return x
}

func (f *Field) carried(x element) element {
	for i := range f.limbs - 1 {
		x[i+1] += uint64(int64(x[i]) >> radix)
		x[i] &= low52
	}
	return x
}

func (f *Field) mul(x, y element) element { return f.carried(f.product(&x, &y)) }

// difference returns x - y + 2p.
func (f *Field) difference(x, y element) element {
	return f.carried(f.plus(f.minus(x, y), f.multiple(2)))
}

// reduced returns x minus a multiple of p: a number below 1.1 p. x must be below 8p, with a last limb that is not
// negative.
func (f *Field) reduced(x element) element {
	l := layout.Limbs(f.limbs)
	q := mulHigh(x[f.limbs-1], f.constants[l.Quotient()])
	return f.carried(f.minus(x, f.multiple(int(q%Width))))
}

// canonical reduces x, which must be below 2p, to below p. It does not branch, because x may be secret.
func (f *Field) canonical(x *element) {
	t := f.carried(f.minus(*x, f.multiple(1)))
	below := uint64(int64(t[f.limbs-1]) >> 63) // all bits where x < p
	for i := range f.limbs {
		x[i] = x[i]&below | t[i]&^below
	}
}

func (f *Field) mulPortable(z, x, y []uint64) {
	for at := 0; at < len(z); at += f.Block() {
		for lane := range Width {
			var a, b element
			f.load(&a, x[at:], lane)
			f.load(&b, y[at:], lane)
			a = f.mul(a, b)
			f.store(&a, z[at:], lane)
		}
	}
}
