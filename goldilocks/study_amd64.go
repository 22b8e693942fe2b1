//go:build !purego

package goldilocks

func (k Kernel) alternatives() []Function { return nil }

// states is how many of the states whose quarters fill n elements fill whole registers.
func (k Kernel) states(n int) int { return k.whole(n) / quarterLen }

func (k Kernel) reduceElementsWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		reduce128AVX512(&dst[0], (*uint64)(&a[0]), (*uint64)(&b[0]), n)
	default:
		reduce128AVX2(&dst[0], (*uint64)(&a[0]), (*uint64)(&b[0]), n)
	}
	return n
}

func (k Kernel) productWide(upper, lower, a, b []Element) int {
	n := k.whole(len(a))
	switch {
	case n == 0:
	case k.name == avx512:
		productAVX512(&upper[0], &lower[0], &a[0], &b[0], n)
	default:
		productAVX2(&upper[0], &lower[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mulBytesWide(dst, a, b []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mulByteAVX512(&dst[0], &a[0], &b[0], n)
	default:
		mulByteAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) spmvWide(dst, a, b []Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		spmvAVX512(&dst[0], &a[0], &b[0], n)
	default:
		spmvAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) spmvBytesWide(dst, a, b []Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		spmvByteAVX512(&dst[0], &a[0], &b[0], n)
	default:
		spmvByteAVX2(&dst[0], &a[0], &b[0], n)
	}
	return n
}

func (k Kernel) mmultWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mmultAVX512(&dst[0], &a[0], &columns[0], n)
	default:
		mmultAVX2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

func (k Kernel) mmultBytesWide(dst, a []Element, columns *[quarterLen * stateLen]Element) int {
	n := k.states(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		mmultByteAVX512(&dst[0], &a[0], &columns[0], n)
	default:
		mmultByteAVX2(&dst[0], &a[0], &columns[0], n)
	}
	return n
}

//go:noescape
func productAVX512(hi, lo, a, b *Element, n int)

//go:noescape
func mulByteAVX512(dst, a, b *Element, n int)

//go:noescape
func spmvAVX512(dst, a, b *Element, n int)

//go:noescape
func spmvByteAVX512(dst, a, b *Element, n int)

//go:noescape
func mmultAVX512(dst, a, columns *Element, n int)

//go:noescape
func mmultByteAVX512(dst, a, columns *Element, n int)

//go:noescape
func productAVX2(hi, lo, a, b *Element, n int)

//go:noescape
func mulByteAVX2(dst, a, b *Element, n int)

//go:noescape
func spmvAVX2(dst, a, b *Element, n int)

//go:noescape
func spmvByteAVX2(dst, a, b *Element, n int)

//go:noescape
func mmultAVX2(dst, a, columns *Element, n int)

//go:noescape
func mmultByteAVX2(dst, a, columns *Element, n int)
