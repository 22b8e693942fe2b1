//go:build !purego

package goldilocks

import "math/bits"

// tableBytes is the memory of the tables per element of the domain: one multiplier per root, and
// there are half as many roots.
const tableBytes = 16 / 2

// passes are the passes of a kernel, to reversed order and from it.
type passes struct{ to, from direction }

// direction has the butterflies of two vectors, and passes over blocks of 4 stride elements. Each
// pass computes two strides, 2 stride and stride, so that elements are loaded and stored once for
// both.
//
// With the larger stride, block b uses root b, and first is the multiplier of the first block. With
// the smaller stride, its halves use the roots 2b and 2b+1, and second is the multiplier of the
// first half. The multipliers of the second half and of the next blocks follow in memory.
//
// From reversed order, elements are canonical in and out of each function. To reversed order they
// are any words, and stride1, which runs last, makes them canonical.
type direction struct {
	pair   func(x, y *Element, n int, m *multiplier)
	middle func(x *Element, stride, blocks int, first, second *multiplier)
	// For these strides alone; stride4 for a multiple of 4 lanes.
	stride4, stride1 func(x *Element, blocks int, first, second *multiplier)
}

var (
	svePasses = passes{
		to:   direction{butterfliesSVE, nttMiddleToSVE, nttStride4ToSVE, nttStride1ToSVE},
		from: direction{transposedSVE, nttMiddleFromSVE, nttStride4FromSVE, nttStride1FromSVE},
	}
	sve2Passes = passes{
		to:   direction{butterfliesSVE2, nttMiddleToSVE2, nttStride4ToSVE2, nttStride1ToSVE2},
		from: direction{transposedSVE2, nttMiddleFromSVE2, nttStride4FromSVE2, nttStride1FromSVE2},
	}
)

// wideNTT transforms values if the kernel can, and reports whether it did.
func (d *Domain) wideNTT(k Kernel, values []Element, from Order) bool {
	switch {
	case k.name == portable || d.n < 4:
		return false
	case k.name == sve:
		svePasses.transform(d.multipliers(), values, from)
	default:
		sve2Passes.transform(d.multipliers(), values, from)
	}
	return true
}

// transform runs all passes on at least 4 elements. If the number of strides is odd, the largest
// stride is left to the butterflies of the two halves.
func (p *passes) transform(m []multiplier, x []Element, from Order) {
	half := len(x) / 2
	switch odd := bits.Len(uint(len(x)))%2 == 0; {
	case odd && from == Natural:
		p.to.pair(&x[0], &x[half], half, &m[0])
		p.to.toReversed(m, x[:half], 0)
		p.to.toReversed(m, x[half:], 1)
	case odd:
		p.from.fromReversed(m, x[:half], 0)
		p.from.fromReversed(m, x[half:], 1)
		p.from.pair(&x[0], &x[half], half, &m[0])
	case from == Natural:
		p.to.toReversed(m, x, 0)
	default:
		p.from.fromReversed(m, x, 0)
	}
}

// toReversed transforms block b, whose length is a power of 4.
func (d *direction) toReversed(m []multiplier, x []Element, b int) {
	stride := len(x) / 4
	if len(x) > cached {
		d.pass(m, x, stride, b)
		for i := range 4 {
			d.toReversed(m, x[i*stride:][:stride], 4*b+i)
		}
		return
	}
	for ; stride > 0; stride /= 4 {
		d.pass(m, x, stride, b)
	}
}

// fromReversed is the transpose of toReversed.
func (d *direction) fromReversed(m []multiplier, x []Element, b int) {
	if len(x) > cached {
		stride := len(x) / 4
		for i := range 4 {
			d.fromReversed(m, x[i*stride:][:stride], 4*b+i)
		}
		d.pass(m, x, stride, b)
		return
	}
	for stride := 1; stride < len(x); stride *= 4 {
		d.pass(m, x, stride, b)
	}
}

// pass computes the butterflies of 2 stride and stride in x, vector b of this length. If a stride
// does not fill the lanes, stride4 fills them with several blocks.
func (d *direction) pass(m []multiplier, x []Element, stride, b int) {
	blocks := len(x) / 4 / stride
	b *= blocks
	switch first, second := &m[b], &m[2*b]; {
	case stride == 1:
		d.stride1(&x[0], blocks, first, second)
	case stride == 4 && lanes() > 4 && lanes()%4 == 0:
		d.stride4(&x[0], blocks, first, second)
	default:
		d.middle(&x[0], stride, blocks, first, second)
	}
}

// lanes returns the number of elements in a register.
func lanes() int

//go:noescape
func butterfliesSVE(x, y *Element, n int, m *multiplier)

//go:noescape
func butterfliesSVE2(x, y *Element, n int, m *multiplier)

//go:noescape
func nttMiddleToSVE(x *Element, stride, blocks int, first, second *multiplier)

//go:noescape
func nttMiddleToSVE2(x *Element, stride, blocks int, first, second *multiplier)

//go:noescape
func nttStride4ToSVE(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride4ToSVE2(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride1ToSVE(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride1ToSVE2(x *Element, blocks int, first, second *multiplier)

//go:noescape
func transposedSVE(x, y *Element, n int, m *multiplier)

//go:noescape
func transposedSVE2(x, y *Element, n int, m *multiplier)

//go:noescape
func nttMiddleFromSVE(x *Element, stride, blocks int, first, second *multiplier)

//go:noescape
func nttMiddleFromSVE2(x *Element, stride, blocks int, first, second *multiplier)

//go:noescape
func nttStride4FromSVE(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride4FromSVE2(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride1FromSVE(x *Element, blocks int, first, second *multiplier)

//go:noescape
func nttStride1FromSVE2(x *Element, blocks int, first, second *multiplier)
