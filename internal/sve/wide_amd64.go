//go:build !purego

package sve

import "github.com/zkbench/zkbench/goldilocks"

func (k kernel) alternatives() []Function { return nil }

// whole is how many of the first n elements fill whole registers: those that a wide
// function does, and says so.
func (k kernel) whole(n int) int {
	switch k {
	case avx512:
		return n &^ 7
	case avx2:
		return n &^ 3
	}
	return 0
}

// states is how many of the states whose quarters fill n elements fill whole registers.
func (k kernel) states(n int) int { return k.whole(n) / quarterLen }

func (k kernel) reduceWide(dst, a, b []goldilocks.Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		reduce128AVX512(&dst[0], &a[0], &b[0], n)
	default:
		reduce128AVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) productWide(upper, lower, a, b []goldilocks.Element) int {
	n := k.whole(len(a))
	switch {
	case n == 0:
	case k == avx512:
		productAVX512(&upper[0], &lower[0], &a[0], &b[0], n)
	default:
		productAVX2(&upper[0], &lower[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) mulBytesWide(dst, a, b []goldilocks.Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		mulByteAVX512(&dst[0], &a[0], &b[0], n)
	default:
		mulByteAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) spmvWide(dst, a, b []goldilocks.Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		spmvAVX512(&dst[0], &a[0], &b[0], n)
	default:
		spmvAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) spmvBytesWide(dst, a, b []goldilocks.Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		spmvByteAVX512(&dst[0], &a[0], &b[0], n)
	default:
		spmvByteAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) mmultWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		mmultAVX512(&dst[0], &a[0], &columns[0], n)
	default:
		mmultAVX2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

func (k kernel) mmultBytesWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k == avx512:
		mmultByteAVX512(&dst[0], &a[0], &columns[0], n)
	default:
		mmultByteAVX2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

//go:noescape
func productAVX512(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteAVX512(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultAVX512(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteAVX512(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func productAVX2(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteAVX2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultAVX2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteAVX2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func reduce128AVX512(dst, hi, lo *goldilocks.Element, n int)

//go:noescape
func reduce128AVX2(dst, hi, lo *goldilocks.Element, n int)
