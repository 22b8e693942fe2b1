package vec52

// Transforms of fields of five limbs, by passes of one, two or three levels over a vector of
// blocks. A part is one of the vectors that a level splits its vector into; with rev(b) the bits
// of b behind the binary point, the least significant first, part b has the root
// exp(πi rev(b)), and its halves, parts 2b and 2b + 1, those of theirs.

// Direction is to reversed order, or from it: the transposed.
type Direction int

// The directions.
const (
	ToReversed Direction = iota
	FromReversed
)

// RowWords is the number of words of the roots of a part that Four takes: its own and those of
// its halves, each below 1.1 p, and limb behind limb.
func (f *Field) RowWords() int { return 3 * f.limbs }

// Row writes the roots of part b, of the roots of parts from 0 to 2b + 1.
func (f *Field) Row(row, roots []uint64, b int) {
	for k, j := range [3]int{b, 2 * b, 2*b + 1} {
		for i := range f.limbs {
			row[k*f.limbs+i] = roots[j/Width*f.Block()+Width*i+j%Width]
		}
	}
}

// EightWords is the number of words of the roots that Eight takes of eight blocks: blocks of the
// roots of parts of eight elements, then those of their halves, even and odd, and of their
// quarters, 0 to 3, all below 1.1 p.
func (f *Field) EightWords() int { return 7 * f.Block() }

// rows is how often a pass over rows runs its loop.
func (f *Field) rows(x []uint64, rows, stride, columns, parts int) int {
	if parts != 1 && columns != stride || columns > stride || f.limbs != 5 ||
		len(x) < ((parts*rows-1)*stride+columns)*f.Block() {
		panic("lanes: rows")
	}
	return columns * parts
}

// Four does two levels of parts that follow each other, each of four rows of stride blocks: of
// so many columns of one part, or of all of several. There are 28 levels at most.
func (f *Field) Four(d Direction, x []uint64, stride, columns, parts int, roots []uint64) {
	n := f.rows(x, 4, stride, columns, parts)
	if len(roots) < parts*f.RowWords() {
		panic("lanes: roots")
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

// FourOfAll is Four for the first part, whose first roots are 1.
func (f *Field) FourOfAll(d Direction, x []uint64, stride, columns int, roots []uint64) {
	n := f.rows(x, 4, stride, columns, 1)
	if len(roots) < f.RowWords() {
		panic("lanes: roots")
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

// TwoOfAll does the one level of the first part, either way.
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

// Eight does the three levels of parts of eight elements and less, eight blocks at a time.
func (f *Field) Eight(d Direction, x, roots []uint64) {
	n := len(x) / (Width * f.Block())
	if len(x)%(Width*f.Block()) != 0 || len(roots) < n*f.EightWords() || f.limbs != 5 {
		panic("lanes: lengths")
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

// Turn writes eight blocks of src, stride blocks apart, to a tile of eight in a row, blocks and
// lanes exchanged and both in reversed order, and further tiles from the block behind.
func (f *Field) Turn(tiles, src []uint64, stride int) {
	n := len(tiles) / (Width * f.Block())
	if len(tiles)%(Width*f.Block()) != 0 || n > 0 && len(src) < (7*stride+n)*f.Block() || f.limbs != 5 {
		panic("lanes: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.turnPortable(tiles, src, stride)
	default:
		turn5(&tiles[0], &src[0], stride*f.Block()*8, &f.constants[0], n)
	}
}

// In brings elements v 2^256 modulo p, of four words each and Width for each block, into lanes,
// below 1.1 p: that is gnark-crypto's form. Out is the way back, of elements below 2p to words
// below p.
func (f *Field) In(dst []uint64, words *uint64) {
	n := f.blocks(dst, dst, dst)
	switch {
	case n == 0:
	case !f.wide:
		f.inPortable(dst, words)
	default:
		in5(&dst[0], words, &f.constants[0], n)
	}
}

// Out is the inverse of In.
func (f *Field) Out(words *uint64, src []uint64) {
	n := f.blocks(src, src, src)
	switch {
	case n == 0:
	case !f.wide:
		f.outPortable(words, src)
	default:
		out5(words, &src[0], &f.constants[0], n)
	}
}

// AddVectors sets z = x + y and SubVectors z = x - y, below 1.1 p, of elements below 2p; z may be one of them.
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

// SubVectors sets z = x - y.
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
