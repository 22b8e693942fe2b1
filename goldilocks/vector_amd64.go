//go:build !purego

package goldilocks

import "golang.org/x/sys/cpu"

// The lanes of a register.
const (
	lanesAVX2   = 4
	lanesAVX512 = 8
)

// whole returns how many of the first n elements fill whole registers of the kernel. A wide
// operation handles these and returns their number.
func (k Kernel) whole(n int) int {
	switch k.name {
	case avx512:
		return n &^ (lanesAVX512 - 1)
	case avx2:
		return n &^ (lanesAVX2 - 1)
	}
	return 0
}

func (k Kernel) addWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		addAVX512(&dst[0], &a[0], &b[0], n)
	default:
		addAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) subWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		subAVX512(&dst[0], &a[0], &b[0], n)
	default:
		subAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mulWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mulAVX512(&dst[0], &a[0], &b[0], n)
	default:
		mulAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mulAddWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mulAddAVX512(&dst[0], &a[0], &b[0], n)
	default:
		mulAddAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) xorWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		xorAVX512(&dst[0], &a[0], &b[0], n)
	default:
		xorAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) andNotWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		andNotAVX512(&dst[0], &a[0], &b[0], n)
	default:
		andNotAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) packWide(dst []Element, a [][]Element) int {
	n := k.whole(len(dst))
	switch last := &a[len(a)-1]; {
	case n == 0:
	case k.name == avx512:
		packAVX512(&dst[0], last, n, len(a))
	default:
		packAVX2(&dst[0], last, n, len(a))
	}
	return n
}

func (k Kernel) butterfliesWide(dst, src, w [][]Element) int {
	n := k.whole(len(dst[0]))
	switch two := len(dst) == 2; {
	case n == 0:
	case k.name == avx512 && two:
		butterflies2AVX512(&dst[0], &src[0], &w[0], n)
	case k.name == avx512:
		butterflies4AVX512(&dst[0], &src[0], &w[0], n)
	case two:
		butterflies2AVX2(&dst[0], &src[0], &w[0], n)
	default:
		butterflies4AVX2(&dst[0], &src[0], &w[0], n)
	}
	return n
}

// hasIFMA says whether the processor multiplies 52-bit numbers, beside the kernel avx512.
var hasIFMA = cpu.X86.HasAVX512IFMA

func (k Kernel) addProductsWide(dst, a [][]Element, c []Element) int {
	if k.name != avx512 {
		return 0
	}
	return addProductsAVX512(dst, a, c, hasIFMA)
}

func addProductsAVX512(dst, a [][]Element, c []Element, ifma bool) int {
	n := Kernel{avx512}.whole(len(dst[0]))
	if n == 0 || len(dst) != 2 && len(dst) != 3 {
		return 0
	}
	const most = 1 << 10 // vectors whose products' sums are below 2^64
	var few [64]uint64
	for len(a) > 0 {
		count := min(most, len(a))
		parts := few[:0]
		for _, f := range c[:count*len(dst)] {
			if ifma {
				g := f.Mul(1 << 32)
				parts = append(parts, uint64(f)&(1<<52-1), uint64(f)>>52, uint64(g)&(1<<52-1), uint64(g)>>52)
			} else {
				parts = append(parts, uint64(f)&(1<<22-1), uint64(f)>>22&(1<<22-1), uint64(f)>>44)
			}
		}
		switch two := len(dst) == 2; {
		case ifma && two:
			addProducts2IFMA(&dst[0], &a[0], &parts[0], n, count)
		case ifma:
			addProducts3IFMA(&dst[0], &a[0], &parts[0], n, count)
		case two:
			addProducts2AVX512(&dst[0], &a[0], &parts[0], n, count)
		default:
			addProducts3AVX512(&dst[0], &a[0], &parts[0], n, count)
		}
		a, c = a[count:], c[count*len(dst):]
	}
	return n
}

func (k Kernel) squareWide(dst, a []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		squareAVX512(&dst[0], &a[0], n)
	default:
		squareAVX2(&dst[0], &a[0], n)
	}
	return n
}

func (k Kernel) negWide(dst, a []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		negAVX512(&dst[0], &a[0], n)
	default:
		negAVX2(&dst[0], &a[0], n)
	}
	return n
}

func (k Kernel) mulScalarWide(dst, a []Element, c Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mulScalarAVX512(&dst[0], &a[0], n, c)
	default:
		mulScalarAVX2(&dst[0], &a[0], n, c)
	}
	return n
}

func (k Kernel) mulAddScalarWide(dst, a []Element, c Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mulAddScalarAVX512(&dst[0], &a[0], n, c)
	default:
		mulAddScalarAVX2(&dst[0], &a[0], n, c)
	}
	return n
}

func (k Kernel) dotWide(a, b []Element) (sum Element, n int) {
	n = k.whole(len(a))
	switch {
	case n == 0:
	case k.name == avx512:
		var sums [4][lanesAVX512]uint64
		dotAVX512(&sums, &a[0], &b[0], n)
		for lane := range lanesAVX512 {
			sum = sum.Add(fromDwords(sums[0][lane], sums[1][lane], sums[2][lane], sums[3][lane]))
		}
	default:
		var sums [4][lanesAVX2]uint64
		dotAVX2(&sums, &a[0], &b[0], n)
		for lane := range lanesAVX2 {
			sum = sum.Add(fromDwords(sums[0][lane], sums[1][lane], sums[2][lane], sums[3][lane]))
		}
	}
	return sum, n
}

// fromDwords returns a + b 2^32 + c 2^64 + d 2^96 modulo p.
func fromDwords(a, b, c, d uint64) Element {
	// 2^64 = 2^32 - 1 and 2^96 = -1.
	low := Reduce(a).Sub(Reduce(c)).Sub(Reduce(d))
	return low.Add(Reduce128(b>>32, b<<32)).Add(Reduce128(c>>32, c<<32))
}

//go:noescape
func addAVX512(dst, a, b *Element, n int)

//go:noescape
func addAVX2(dst, a, b *Element, n int)

//go:noescape
func subAVX512(dst, a, b *Element, n int)

//go:noescape
func subAVX2(dst, a, b *Element, n int)

//go:noescape
func mulAVX512(dst, a, b *Element, n int)

//go:noescape
func mulAVX2(dst, a, b *Element, n int)

//go:noescape
func mulAddAVX512(dst, a, b *Element, n int)

//go:noescape
func mulAddAVX2(dst, a, b *Element, n int)

//go:noescape
func xorAVX512(dst, a, b *Element, n int)

//go:noescape
func xorAVX2(dst, a, b *Element, n int)

//go:noescape
func andNotAVX512(dst, a, b *Element, n int)

//go:noescape
func andNotAVX2(dst, a, b *Element, n int)

//go:noescape
func packAVX512(dst *Element, last *[]Element, n, count int)

//go:noescape
func packAVX2(dst *Element, last *[]Element, n, count int)

//go:noescape
func butterflies2AVX512(dst, src, w *[]Element, n int)

//go:noescape
func butterflies2AVX2(dst, src, w *[]Element, n int)

//go:noescape
func butterflies4AVX512(dst, src, w *[]Element, n int)

//go:noescape
func butterflies4AVX2(dst, src, w *[]Element, n int)

//go:noescape
func addProducts2AVX512(dst, a *[]Element, parts *uint64, n, count int)

//go:noescape
func addProducts3AVX512(dst, a *[]Element, parts *uint64, n, count int)

//go:noescape
func addProducts2IFMA(dst, a *[]Element, parts *uint64, n, count int)

//go:noescape
func addProducts3IFMA(dst, a *[]Element, parts *uint64, n, count int)

//go:noescape
func squareAVX512(dst, a *Element, n int)

//go:noescape
func squareAVX2(dst, a *Element, n int)

//go:noescape
func negAVX512(dst, a *Element, n int)

//go:noescape
func negAVX2(dst, a *Element, n int)

//go:noescape
func mulScalarAVX512(dst, a *Element, n int, scalar Element)

//go:noescape
func mulAddScalarAVX512(dst, a *Element, n int, scalar Element)

//go:noescape
func mulAddScalarAVX2(dst, a *Element, n int, scalar Element)

//go:noescape
func dotAVX512(sums *[4][lanesAVX512]uint64, a, b *Element, n int)

//go:noescape
func mulScalarAVX2(dst, a *Element, n int, scalar Element)

//go:noescape
func dotAVX2(sums *[4][lanesAVX2]uint64, a, b *Element, n int)
