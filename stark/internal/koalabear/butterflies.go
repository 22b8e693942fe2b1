package koalabear

// MaxLayers is the maximum number of layers that Butterflies computes at once.
const MaxLayers = 4

// Butterflies computes the layers of a transform on 2, 4, 8 or 16 vectors, row by row. The parameter src may
// be dst. The vectors in w hold the factors: layer j uses the vectors w[2^j-1+i] for i below 2^j. For each i
// and each b, layer j takes two vectors: x, which has the index 2^(j+1) b + i, and y, whose index is 2^j
// higher. It replaces x by x + f y and y by x - f y, where f is w[2^j-1+i]. No operand may be shorter than
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
