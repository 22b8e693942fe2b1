package vec52

// The functions in this file transform vectors over fields of five limbs, in passes of one, two or three levels over
// the vector's blocks.

// Direction is the direction of a transform: from natural order to bit-reversed order, or back. The matrices of the
// two directions are transposes of each other.
type Direction int

// The two directions of a transform.
const (
	ToReversed Direction = iota
	FromReversed
)

// RowWords returns how many words Four needs in its parameter roots for each part of a vector. These words hold
// three roots: the root of the part, and the roots of its two halves. Each root is below 1.1 p and is stored limb
// after limb.
func (f *Field) RowWords() int { return 3 * f.limbs }

// SetRow sets row to the three roots that Four needs for part b (see RowWords). The parameter roots must hold the
// roots of parts 0 to 2b + 1, eight in each block.
func (f *Field) SetRow(row, roots []uint64, b int) {
	for k, j := range [3]int{b, 2 * b, 2*b + 1} {
		for i := range f.limbs {
			row[k*f.limbs+i] = roots[j/Width*f.Block()+Width*i+j%Width]
		}
	}
}

// EightWords returns how many words Eight needs in its parameter roots for every eight blocks of a vector. These
// words form seven blocks of roots, all below 1.1 p. The first block has the roots of the parts of eight elements.
// The next two blocks have the roots of the parts' first halves and of their second halves. The last four have the
// roots of their quarters 0 to 3.
func (f *Field) EightWords() int { return 7 * f.Block() }

// rows checks the arguments of a pass over rows and returns how often its loop runs.
func (f *Field) rows(x []uint64, rows, stride, columns, parts int) int {
	if parts != 1 && columns != stride || columns > stride || f.limbs != 5 ||
		len(x) < ((parts*rows-1)*stride+columns)*f.Block() {
		panic("vec52: rows")
	}
	return columns * parts
}

// Four computes two levels of a transform (see the package comment) on consecutive parts of a vector, which are in
// x. The parameter parts is the number of these parts. Each part consists of four rows, and the parameter stride is
// the number of blocks in a row. Four works on the first blocks of each row; the parameter columns is the number of
// these blocks. If there are several parts, columns must be equal to stride. The parameter roots has RowWords words
// for each part. The representation of an element grows with each level, and the kernels have room for at most 28
// levels in all.
func (f *Field) Four(d Direction, x []uint64, stride, columns, parts int, roots []uint64) {
	n := f.rows(x, 4, stride, columns, parts)
	if len(roots) < parts*f.RowWords() {
		panic("vec52: roots")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.rowsPortable(x, 4, stride, columns, parts, roots, func(x, z []element) { f.four(d, x, z) })
	case d == ToReversed:
		fourTo5(&x[0], stride*f.Block()*8, columns, &roots[0], &f.constants[0], n)
	default:
		fourFrom5(&x[0], stride*f.Block()*8, columns, &roots[0], &f.constants[0], n)
	}
}

// FourOfAll computes the same two levels as Four, for a single part that is the whole vector. It skips the
// multiplications by the first two of the part's three roots, because they are 1.
func (f *Field) FourOfAll(d Direction, x []uint64, stride, columns int, roots []uint64) {
	n := f.rows(x, 4, stride, columns, 1)
	if len(roots) < f.RowWords() {
		panic("vec52: roots")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.rowsPortable(x, 4, stride, columns, 1, roots, func(x, z []element) { f.fourOfAll(d, x, z) })
	case d == ToReversed:
		fourOneTo5(&x[0], stride*f.Block()*8, columns, &roots[0], &f.constants[0], n)
	default:
		fourOneFrom5(&x[0], stride*f.Block()*8, columns, &roots[0], &f.constants[0], n)
	}
}

// TwoOfAll computes the level that splits the whole vector into two rows. The parameter stride is the number of
// blocks in a row. TwoOfAll works on the first blocks of each row; the parameter columns is the number of these
// blocks. This level is the same in both directions.
func (f *Field) TwoOfAll(x []uint64, stride, columns int) {
	n := f.rows(x, 2, stride, columns, 1)
	switch {
	case n == 0:
	case !f.wide:
		f.rowsPortable(x, 2, stride, columns, 1, nil, func(x, _ []element) { f.twoOfAll(x) })
	default:
		twoOne5(&x[0], stride*f.Block()*8, columns, &f.constants[0], &f.constants[0], n)
	}
}

// Eight computes three levels of a transform (see the package comment) on parts of eight elements: on the parts
// themselves, on their halves and on their quarters. Each block of x is one such part, and the number of blocks must
// be a multiple of eight. The parameter roots has EightWords words for every eight blocks.
func (f *Field) Eight(d Direction, x, roots []uint64) {
	n := len(x) / (Width * f.Block())
	if len(x)%(Width*f.Block()) != 0 || len(roots) < n*f.EightWords() || f.limbs != 5 {
		panic("vec52: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.eightPortable(d, x, roots)
	case d == ToReversed:
		eightTo5(&x[0], &roots[0], &f.constants[0], n)
	default:
		eightFrom5(&x[0], &roots[0], &f.constants[0], n)
	}
}

// Turn copies the elements of src to the parameter tiles in transposed order. A tile is eight blocks. For i and k
// from 0 to 7, element k of block t + i stride of src becomes element i' of block k' in tile t. Here i' and k' are
// the numbers i and k with their three bits in reverse order.
func (f *Field) Turn(tiles, src []uint64, stride int) {
	n := len(tiles) / (Width * f.Block())
	if len(tiles)%(Width*f.Block()) != 0 || n > 0 && len(src) < (7*stride+n)*f.Block() || f.limbs != 5 {
		panic("vec52: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.turnPortable(tiles, src, stride)
	default:
		turn5(&tiles[0], &src[0], stride*f.Block()*8, &f.constants[0], n)
	}
}

// Import converts elements from gnark-crypto's form to blocks. In that form an element v has four words, which hold
// v 2^256 modulo p. The parameter words is the address of the first element. There are Width elements for each
// block of dst. The results are below 1.1 p.
func (f *Field) Import(dst []uint64, words *uint64) {
	n := f.blocks(dst, dst, dst)
	switch {
	case n == 0:
	case !f.wide:
		f.inPortable(dst, words)
	default:
		in5(&dst[0], words, &f.constants[0], n)
	}
}

// Export converts the elements in src, which must be below 2p, to gnark-crypto's form. The results are below p.
// Export is the inverse of Import.
func (f *Field) Export(words *uint64, src []uint64) {
	n := f.blocks(src, src, src)
	switch {
	case n == 0:
	case !f.wide:
		f.outPortable(words, src)
	default:
		out5(words, &src[0], &f.constants[0], n)
	}
}

// AddVectors sets z = x + y, element by element. x and y must be below 2p; z is below 1.1 p and may be x or y.
func (f *Field) AddVectors(z, x, y []uint64) {
	n := f.blocks(z, x, y)
	switch {
	case n == 0:
	case !f.wide:
		f.linearPortable(z, x, y, func(a, b element) element { return f.plus(a, b) })
	default:
		add5(&z[0], &x[0], &y[0], &f.constants[0], n)
	}
}

// SubVectors sets z = x - y, element by element. x and y must be below 2p; z is below 1.1 p and may be x or y.
func (f *Field) SubVectors(z, x, y []uint64) {
	n := f.blocks(z, x, y)
	switch {
	case n == 0:
	case !f.wide:
		f.linearPortable(z, x, y, func(a, b element) element { return f.plus(f.minus(a, b), f.multiple(2)) })
	default:
		sub5(&z[0], &x[0], &y[0], &f.constants[0], n)
	}
}
