package koalabear

// Dots adds to each dst[k] the sum of a[i] b[k][i] over the first indices i, and returns the number of these
// indices. If dst has length 4 or 6, this number is the largest that fills whole registers of the AVX-512
// kernel. For other lengths, and without the kernel, Dots returns 0. No vector may be shorter than a.
func Dots(dst, a []Element, b [][]Element) (rows int) {
	if rows = len(a) &^ 31; rows == 0 || !hasKernel || len(dst) != len(b) {
		return 0
	}
	for _, v := range b {
		_ = v[:rows] // the kernel does not check lengths
	}
	const lanes = 8
	var sums [6][2 * lanes]uint64
	switch len(dst) {
	case 4:
		dots4AVX512(&sums[0][0], &a[0], &b[0], rows)
	case 6:
		dots6AVX512(&sums[0][0], &a[0], &b[0], rows)
	default:
		return 0
	}
	for k := range dst {
		var low, high uint64
		for _, s := range sums[k] {
			low, high = low+s&(1<<32-1), high+s>>32
		}
		// A product of two elements is 2^32 times the form of their product.
		sum := (high%Modulus<<32 + low) % Modulus
		dst[k] = dst[k].Add(Element{uint32(sum)}.Mul(Element{1}))
	}
	return rows
}
