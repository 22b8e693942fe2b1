//go:build !purego

package goldilocks

// alternatives are other ways to some of the ten: the product by four products of 32-bit
// halves, as the study has it for base SVE.
func (k Kernel) alternatives() []Function {
	if k.name != sve {
		return nil
	}
	return []Function{{Name: "mult_128_halves", Of: "mult_128", Dst: 2, A: 1, B: 1, Words: true, Run: func(dst, a, b []Element) {
		if len(a) > 0 {
			productHalvesSVE(&dst[0], &dst[len(a)], &a[0], &b[0], len(a))
		}
	}}}
}

func (k Kernel) reduceElementsWide(dst, a, b []Element) int {
	n := len(dst)
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		reduce128SVE(&dst[0], (*uint64)(&a[0]), (*uint64)(&b[0]), n)
	default:
		reduce128SVE2(&dst[0], (*uint64)(&a[0]), (*uint64)(&b[0]), n)
	}
	return n
}

func (k Kernel) productWide(upper, lower, a, b []Element) int {
	n := len(a)
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		productSVE(&upper[0], &lower[0], &a[0], &b[0], n)
	default:
		productSVE2(&upper[0], &lower[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mulBytesWide(dst, a, b []Element) int {
	n := len(dst)
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		mulByteSVE(&dst[0], &a[0], &b[0], n)
	default:
		mulByteSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) spmvWide(dst, a, b []Element) int {
	n := len(dst) / quarterLen
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		spmvSVE(&dst[0], &a[0], &b[0], n)
	default:
		spmvSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) spmvBytesWide(dst, a, b []Element) int {
	n := len(dst) / quarterLen
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		spmvByteSVE(&dst[0], &a[0], &b[0], n)
	default:
		spmvByteSVE2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mmultWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int {
	n := len(dst) / quarterLen
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		mmultSVE(&dst[0], &a[0], &columns[0], n)
	default:
		mmultSVE2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

func (k Kernel) mmultBytesWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int {
	n := len(dst) / quarterLen
	switch {
	case k.name == portable || n == 0:
		return 0
	case k.name == sve:
		mmultByteSVE(&dst[0], &a[0], &columns[0], n)
	default:
		mmultByteSVE2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

//go:noescape
func productHalvesSVE(hi, lo, a, b *Element, n int)

//go:noescape
func productSVE(hi, lo, a, b *Element, n int)

//go:noescape
func productSVE2(hi, lo, a, b *Element, n int)

//go:noescape
func mulByteSVE(dst, a, b *Element, n int)

//go:noescape
func mulByteSVE2(dst, a, b *Element, n int)

//go:noescape
func spmvSVE(dst, a, b *Element, n int)

//go:noescape
func spmvSVE2(dst, a, b *Element, n int)

//go:noescape
func spmvByteSVE(dst, a, b *Element, n int)

//go:noescape
func spmvByteSVE2(dst, a, b *Element, n int)

//go:noescape
func mmultSVE(dst, a, columns *Element, n int)

//go:noescape
func mmultSVE2(dst, a, columns *Element, n int)

//go:noescape
func mmultByteSVE(dst, a, columns *Element, n int)

//go:noescape
func mmultByteSVE2(dst, a, columns *Element, n int)
