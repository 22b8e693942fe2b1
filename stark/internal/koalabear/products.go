package koalabear

//go:generate go run ./internal/gen

// AddProducts adds to dst the sum of columns, each times an element of an extension of degree 4 or 6. dst has
// one vector for each coordinate. weights holds the elements' coordinates, one element after the other. No
// column may be shorter than dst's vectors. AddProducts returns how many of the first rows it has done: the
// whole registers of a kernel, or none.
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
