package koalabear

//go:generate go run ./internal/gen

// AddProducts multiplies each column by an element of an extension of degree 4 or 6, and adds the sum of
// these products to dst. The parameter dst has one vector for each coordinate. The parameter weights holds
// the elements' coordinates, one element after the other. No column may be shorter than dst's vectors.
// AddProducts computes only the first rows, as many as fill whole registers of the AVX-512 kernel, and
// returns their number. Without the kernel it returns 0.
func AddProducts(dst, columns [][]Element, weights []Element) (rows int) {
	if rows = whole(len(dst[0])); rows == 0 || len(columns) == 0 {
		return 0
	}
	for _, c := range columns {
		_ = c[:rows] // the kernel does not check lengths
	}
	switch _ = weights[:len(columns)*len(dst)]; len(dst) {
	case 4:
		addProducts4AVX512(&dst[0], &columns[0], &weights[0], rows, len(columns))
	case 6:
		addProducts6AVX512(&dst[0], &columns[0], &weights[0], rows, len(columns))
	default:
		return 0
	}
	return rows
}
