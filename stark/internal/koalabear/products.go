package koalabear

//go:generate go run ./internal/gen

// AddProducts adds to dst, whose coordinates are those of an extension of degree 4 or 6, the sum of
// columns, each times an element of the extension: weights has the coordinates of one behind those of
// the other. No column is shorter than dst's. It returns how many of the first rows it has done: the
// whole registers of a kernel, or none.
func AddProducts(dst, columns [][]Element, weights []Element) (rows int) {
	if rows = whole(len(dst[0])); rows == 0 || len(columns) == 0 {
		return 0
	}
	for _, c := range columns {
		_ = c[:rows] // the kernel looks at no length
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
