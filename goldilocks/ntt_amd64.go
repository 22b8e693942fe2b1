//go:build !purego

package goldilocks

import "math/bits"

// passes are the passes of a kernel. All have one radix, which is also that of the tables. To
// reversed order they run from the largest stride to 1, from reversed order the other way. The
// outer pass, with the largest stride, has this radix or a smaller one, so that a power of the
// radix is left. The outer passes are indexed by the logarithm of their radix.
//
// Cost of 2^k elements with AVX-512, k = 3 m + j, 1 <= j <= 3, to reversed order, from the
// instructions on two ports (internal/gen):
//
//   - the outer pass takes 16, 37 or 85 cycles for each 16, 32 or 64 elements, if j is 1, 2 or 3;
//   - each of the m-1 middle passes takes 124 cycles for each 64 elements;
//   - the inner pass takes 154 cycles for each 64 elements.
//
// For 2^12 elements these are 31 thousand cycles, for 2^20 they are 13.9 million. Memory beyond the
// second-level cache sees one pass over the data for every factor of 8 by which the data exceeds
// that cache, and one more. Each pass reads and writes 16 bytes per element, and reads 16 bytes of
// tables. For 2^20 elements that is 48 MB.
//
// go test ./goldilocks -run '^$' -bench NTT measures the time. Up to 2^20 elements it is these
// cycles at the processor's clock; beyond that, memory takes the rest.
type passes struct {
	radix    int // also the number of lanes
	to, from struct {
		outer  [4]func(x *Element, stride int)
		middle func(x *Element, stride, blocks int, rows *uint64)
		inner  func(x *Element, groups int, twiddles *uint64)
	}
}

// tableBytes is the memory of the tables of a radix per element of the domain: two words, in rows
// and groups together.
const tableBytes = 16

var avx2Passes, avx512Passes = newAVX2Passes(), newAVX512Passes()

func newAVX2Passes() (p passes) {
	p.radix = 4
	p.to.outer = [4]func(x *Element, stride int){1: nttOuter2ToAVX2, 2: nttOuter4ToAVX2}
	p.to.middle, p.to.inner = nttMiddleToAVX2, nttInnerToAVX2
	p.from.outer = [4]func(x *Element, stride int){1: nttOuter2FromAVX2, 2: nttOuter4FromAVX2}
	p.from.middle, p.from.inner = nttMiddleFromAVX2, nttInnerFromAVX2
	return p
}

func newAVX512Passes() (p passes) {
	p.radix = 8
	p.to.outer = [4]func(x *Element, stride int){1: nttOuter2ToAVX512, 2: nttOuter4ToAVX512, 3: nttOuter8ToAVX512}
	p.to.middle, p.to.inner = nttMiddleToAVX512, nttInnerToAVX512
	p.from.outer = [4]func(x *Element, stride int){1: nttOuter2FromAVX512, 2: nttOuter4FromAVX512, 3: nttOuter8FromAVX512}
	p.from.middle, p.from.inner = nttMiddleFromAVX512, nttInnerFromAVX512
	return p
}

// wideNTT transforms values if the kernel can, and reports whether it did. Vectors too short for
// eight lanes run in four.
func (d *Domain) wideNTT(k Kernel, values []Element, from Order) bool {
	switch {
	case k.name == avx512 && avx512Passes.takes(d.n):
		avx512Passes.transform(d.tables8(), values, from)
	case k.name != portable && avx2Passes.takes(d.n):
		avx2Passes.transform(d.tables4(), values, from)
	default:
		return false
	}
	return true
}

// takes reports whether n is enough for an outer pass and for groups in the inner one.
func (p *passes) takes(n int) bool { return n >= 2*p.radix*p.radix }

func (p *passes) transform(t *tables, x []Element, from Order) {
	log, logRadix := bits.Len(uint(len(x)))-1, bits.Len(uint(p.radix))-1
	outer := (log-1)%logRadix + 1 // so that the rest is a power of the radix
	stride := len(x) >> outer
	if from == Natural {
		p.to.outer[outer](&x[0], stride)
		for b := range 1 << outer {
			p.toReversed(t, x[b*stride:][:stride], b)
		}
		return
	}
	for b := range 1 << outer {
		p.fromReversed(t, x[b*stride:][:stride], b)
	}
	p.from.outer[outer](&x[0], stride)
}

// wideCached is the number of elements that are handled pass by pass. They fill most of the
// first-level cache.
const wideCached = 1 << 12

// toReversed transforms block b. len(x) is a power of the radix, and at least its square.
func (p *passes) toReversed(t *tables, x []Element, b int) {
	stride, blocks := len(x)/p.radix, 1
	if len(x) > wideCached {
		p.to.middle(&x[0], stride, 1, p.row(t, b))
		for i := range p.radix {
			p.toReversed(t, x[i*stride:][:stride], p.radix*b+i)
		}
		return
	}
	for ; stride > 1; stride, blocks = stride/p.radix, blocks*p.radix {
		p.to.middle(&x[0], stride, blocks, p.row(t, b*blocks))
	}
	p.to.inner(&x[0], blocks/p.radix, p.group(t, b*blocks/p.radix))
}

// fromReversed is the transpose of toReversed.
func (p *passes) fromReversed(t *tables, x []Element, b int) {
	stride, blocks := len(x)/p.radix, 1
	if len(x) > wideCached {
		for i := range p.radix {
			p.fromReversed(t, x[i*stride:][:stride], p.radix*b+i)
		}
		p.from.middle(&x[0], stride, 1, p.row(t, b))
		return
	}
	stride, blocks = 1, stride
	p.from.inner(&x[0], blocks/p.radix, p.group(t, b*blocks/p.radix))
	for blocks > 1 {
		stride, blocks = stride*p.radix, blocks/p.radix
		p.from.middle(&x[0], stride, blocks, p.row(t, b*blocks))
	}
}

// row returns the address of the rows from block b on.
func (p *passes) row(t *tables, b int) *uint64 { return &t.rows[2*p.radix*b] }

// group returns the address of the groups from group g on.
func (p *passes) group(t *tables, g int) *uint64 { return &t.groups[2*p.radix*(p.radix-1)*g] }

//go:noescape
func nttOuter2ToAVX2(x *Element, stride int)

//go:noescape
func nttOuter4ToAVX2(x *Element, stride int)

//go:noescape
func nttMiddleToAVX2(x *Element, stride, blocks int, rows *uint64)

//go:noescape
func nttInnerToAVX2(x *Element, groups int, twiddles *uint64)

//go:noescape
func nttOuter2FromAVX2(x *Element, stride int)

//go:noescape
func nttOuter4FromAVX2(x *Element, stride int)

//go:noescape
func nttMiddleFromAVX2(x *Element, stride, blocks int, rows *uint64)

//go:noescape
func nttInnerFromAVX2(x *Element, groups int, twiddles *uint64)

//go:noescape
func nttOuter2ToAVX512(x *Element, stride int)

//go:noescape
func nttOuter4ToAVX512(x *Element, stride int)

//go:noescape
func nttOuter8ToAVX512(x *Element, stride int)

//go:noescape
func nttMiddleToAVX512(x *Element, stride, blocks int, rows *uint64)

//go:noescape
func nttInnerToAVX512(x *Element, groups int, twiddles *uint64)

//go:noescape
func nttOuter2FromAVX512(x *Element, stride int)

//go:noescape
func nttOuter4FromAVX512(x *Element, stride int)

//go:noescape
func nttOuter8FromAVX512(x *Element, stride int)

//go:noescape
func nttMiddleFromAVX512(x *Element, stride, blocks int, rows *uint64)

//go:noescape
func nttInnerFromAVX512(x *Element, groups int, twiddles *uint64)
