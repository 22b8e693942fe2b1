package koalabear

// MaxLayers is the maximum number of layers that Butterflies computes at once.
const MaxLayers = 4

// Butterflies computes the layers of a transform on 2, 4, 8 or 16 vectors, row by row. src may be dst. Layer
// j has the factors w[2^j-1+i]. It takes the vectors x at 2^(j+1) b + i and y at 2^j further, and replaces
// them by x + w y and x - w y. No operand may be shorter than dst[0]. It returns how many of the first rows
// it has done: the whole registers of a kernel, or none.
func Butterflies(dst, src, w [][]Element) (rows int) {
	if rows = whole(len(dst[0])); rows == 0 {
		return 0
	}
	for i := range dst {
		_, _ = dst[i][:rows], src[i][:rows] // the kernel does not check lengths
	}
	for i := range len(dst) - 1 {
		_ = w[i][:rows]
	}
	switch len(dst) {
	case 2:
		butterflies2AVX512(&dst[0], &src[0], &w[0], rows)
	case 4:
		butterflies4AVX512(&dst[0], &src[0], &w[0], rows)
	case 8:
		butterflies8AVX512(&dst[0], &src[0], &w[0], rows)
	case 16:
		butterflies16AVX512(&dst[0], &src[0], &w[0], rows)
	default:
		return 0
	}
	return rows
}
