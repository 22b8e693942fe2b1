package koalabear

// Xor, AndNot and Pack compute a + b - 2 a b, a (1 - b), and the sum of 2^j a[j], row by row. They process
// the whole registers of a kernel, or nothing without one, and return the number of rows done, from the first
// on. Operands must be as long as dst, and none of Pack's may be dst.

// Xor sets the first elements of dst to a + b - 2 a b, which is the exclusive or if a and b are bits. It sets
// only as many elements as fill whole registers of the AVX-512 kernel, and returns their number. Without the
// kernel it returns 0.
func Xor(dst, a, b []Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 {
		xorAVX512(&dst[0], &a[:rows][0], &b[:rows][0], rows)
	}
	return rows
}

// AndNot sets the first elements of dst to a (1 - b), which is the bitwise "a and not b" if a and b are
// bits. It sets as many elements as Xor would, and returns their number.
func AndNot(dst, a, b []Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 {
		andNotAVX512(&dst[0], &a[:rows][0], &b[:rows][0], rows)
	}
	return rows
}

// Pack sets the first elements of dst to the sum of 2^j a[j], which is the number with the bits a[j]. It
// sets as many elements as Xor would, and returns their number. If a has no vectors, it returns 0.
func Pack(dst []Element, a [][]Element) (rows int) {
	if rows = whole(len(dst)); rows > 0 && len(a) > 0 {
		for _, v := range a {
			_ = v[:rows] // the kernel does not check lengths
		}
		packAVX512(&dst[0], &a[len(a)-1], rows, len(a))
		return rows
	}
	return 0
}

// whole returns how many of rows fill whole registers of the kernel.
func whole(rows int) int {
	if !hasKernel {
		return 0
	}
	return rows &^ 15
}
