package koalabear

// MaxLayers is the maximum number of layers that Butterflies computes at once.
const MaxLayers = 4

// Butterflies computes the layers of a transform on 2, 4, 8 or 16 vectors, row by row. The parameter src may
// be dst. Layers are counted from 0. Layer j works on pairs of vectors x and y. The index of x is 2^(j+1) b
// + i for integers b >= 0 and i from 0 to 2^j - 1, and the index of y is 2^j higher. Layer j replaces x by x
// + f y and y by x - f y, where the factors f are the vector w[2^j-1+i]. No operand may be shorter than
// dst[0]. Butterflies computes only the first rows, as many as fill whole registers of the AVX-512 kernel,
// and returns their number. Without the kernel it returns 0.
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
