//go:build !purego

package sve

import "github.com/zkbench/zkbench/goldilocks"

// alternatives are other ways to some of the ten: the product by four products of 32-bit
// halves, as the study has it for base SVE.
func (k kernel) alternatives() []Function {
	if k != sve {
		return nil
	}
	return []Function{{Name: "mult_128_halves", Of: "mult_128", Dst: 2, A: 1, B: 1, Words: true, Run: func(dst, a, b []goldilocks.Element) {
		if len(a) > 0 {
			productHalvesSVE(&dst[0], &dst[len(a)], &a[0], &b[0], len(a))
		}
	}}}
}

func (k kernel) reduceWide(dst, a, b []goldilocks.Element) int {
	n := len(dst)
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		reduce128SVE(&dst[0], &a[0], &b[0], n)
	default:
		reduce128SVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) productWide(upper, lower, a, b []goldilocks.Element) int {
	n := len(a)
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		productSVE(&upper[0], &lower[0], &a[0], &b[0], n)
	default:
		productSVE2(&upper[0], &lower[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) mulBytesWide(dst, a, b []goldilocks.Element) int {
	n := len(dst)
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		mulByteSVE(&dst[0], &a[0], &b[0], n)
	default:
		mulByteSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) spmvWide(dst, a, b []goldilocks.Element) int {
	n := len(dst) / quarterLen
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		spmvSVE(&dst[0], &a[0], &b[0], n)
	default:
		spmvSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) spmvBytesWide(dst, a, b []goldilocks.Element) int {
	n := len(dst) / quarterLen
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		spmvByteSVE(&dst[0], &a[0], &b[0], n)
	default:
		spmvByteSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k kernel) mmultWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	n := len(dst) / quarterLen
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		mmultSVE(&dst[0], &a[0], &columns[0], n)
	default:
		mmultSVE2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

func (k kernel) mmultBytesWide(dst, a []goldilocks.Element, columns *[quarterLen * stateLen]goldilocks.Element) int {
	n := len(dst) / quarterLen
	switch {
	case k == portable || n == 0:
		return 0
	case k == sve:
		mmultByteSVE(&dst[0], &a[0], &columns[0], n)
	default:
		mmultByteSVE2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

//go:noescape
func productHalvesSVE(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func productSVE(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func productSVE2(hi, lo, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mulByteSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteSVE(dst, a, b *goldilocks.Element, n int)

//go:noescape
func spmvByteSVE2(dst, a, b *goldilocks.Element, n int)

//go:noescape
func mmultSVE(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultSVE2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteSVE(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func mmultByteSVE2(dst, a, columns *goldilocks.Element, n int)

//go:noescape
func reduce128SVE(dst, hi, lo *goldilocks.Element, n int)

//go:noescape
func reduce128SVE2(dst, hi, lo *goldilocks.Element, n int)
