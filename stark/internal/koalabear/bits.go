package koalabear

// Xor, AndNot and Pack are a + b - 2 a b, a (1 - b), and the sum of 2^j a[j], row by row. They return
// how many of the first rows they have done: the whole registers of a kernel, or none. Operands are as
// long as dst, and none of Pack's is dst.

// Xor is the exclusive or of bits.
func Xor(dst, a, b []Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 {
		xorAVX512(&dst[0], &a[:rows][0], &b[:rows][0], rows)
	}
	return rows
}

// AndNot is a and not b of bits.
func AndNot(dst, a, b []Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 {
		andNotAVX512(&dst[0], &a[:rows][0], &b[:rows][0], rows)
	}
	return rows
}

// Pack is the number that bits are, the first one its least.
func Pack(dst []Element, a [][]Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 && len(a) > 0 {
		for _, v := range a {
			_ = v[:rows] // the kernel looks at no length
		}
		packAVX512(&dst[0], &a[len(a)-1], rows, len(a))
		return rows
	}
	return 0
}

// whole is how many of so many rows fill whole registers of the kernel.
func whole(rows int) int {
	if !hasKernel {
		return 0
	}
	return rows &^ 15
}
