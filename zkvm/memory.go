package zkvm

import (
	"slices"
	"unsafe"

	"github.com/zkbench/zkbench/stark/air"
)

// The cells of memory have eight bytes each, and their addresses are divided by 8. Every cell is in one table: those of the
// program's constants, and of its data, by fixed columns of the program; and those that are zero at first, by a list of the
// cells that a run touches.

// fixedWord is a cell of the program, with what it holds at first.
type fixedWord struct{ address, value uint64 }

// The fixed columns of a cell of the program.
const (
	wordAddress = iota
	wordLo
	wordHi
	wordExists // 0 in rows behind the program's cells
	wordFixed
)

// wordImage returns the fixed columns of cells in the given number of rows.
func wordImage(s shape, all []fixedWord, rows int) [][]uint64 {
	columns := make([][]uint64, wordFixed)
	for i := range columns {
		columns[i] = make([]uint64, rows)
	}
	for i, c := range all {
		lo, hi := s.split(c.value)
		for column, v := range [wordFixed]uint64{c.address, lo, hi, 1} {
			columns[column][i] = v
		}
	}
	return columns
}

// constants is the table of the program's cells that are never written.
type constants struct {
	columns
	loaded column // how often
}

func newConstants() *constants {
	t := &constants{}
	t.loaded = t.column("loaded", free)
	return t
}

func (*constants) name() string        { return "constants" }
func (t *constants) shapeOf() *columns { return &t.columns }

func (t *constants) state(b builder) {
	exists := b.Fixed(wordExists)
	b.zero("loads of cells only", b.at(t.loaded).Mul(one.Sub(exists)))
	b.Answer(busCell, b.at(t.loaded), air.Constant(spaceReadOnly), b.Fixed(wordAddress), b.Fixed(wordLo), b.Fixed(wordHi), zero)
}

// data is the table of the program's cells that can be written.
type data struct {
	columns
	first column // the time before the first access
	last  access
}

func newData(s shape) *data {
	t := &data{}
	t.first, t.last = t.column("first", timeBits), t.columns.access("last", s)
	return t
}

func (*data) name() string        { return "data" }
func (t *data) shapeOf() *columns { return &t.columns }

func (t *data) state(b builder) {
	exists, address := b.Fixed(wordExists), b.Fixed(wordAddress)
	b.cell(t.first, t.last, exists, address, limbs{b.Fixed(wordLo), b.Fixed(wordHi)})
}

// cell states, in rows where exists is 1, a cell of memory with what it holds at first. The time before the first access is
// free: one that is not before it makes the access impossible.
func (b builder) cell(first column, last access, exists, address air.Expr, content limbs) {
	end := b.word(last.word)
	b.Answer(busCell, exists, air.Constant(spaceMemory), address, content.lo, content.hi, b.at(first))
	b.Ask(busCell, exists, air.Constant(spaceMemory), address, end.lo, end.hi, b.at(last.time))
}

func (t *data) fill(w *writer, c *cell) { w.cell(t.first, t.last, c) }

// cell sets the columns of a cell.
func (w *writer) cell(first column, last access, c *cell) {
	w.set(first, c.first)
	w.setWord(last.word, c.value)
	w.set(last.time, c.time)
}

// region is a range of cells that are zero at first: from start up to, but not including, end.
type region struct{ start, end uint64 }

// mostRegion is the number of cells that a region may have. Gaps in the list of its cells are ranged to it.
const mostRegion = 1 << 32

// regions is the table of the program's regions of zeros, with the first cell of each. It begins the list of the region's
// other cells, and ends it.
type regions struct {
	columns
	gap
	first column
	last  access
}

// The fixed columns of a region.
const (
	regionStart = iota
	regionEnd
	regionExists
	regionFixed
)

func newRegions(s shape) *regions {
	t := &regions{}
	t.gap = t.columns.gap(s)
	t.first, t.last = t.column("first", timeBits), t.columns.access("last", s)
	return t
}

func (*regions) name() string        { return "regions" }
func (t *regions) shapeOf() *columns { return &t.columns }

func (t *regions) state(b builder) {
	start, exists := b.Fixed(regionStart), b.Fixed(regionExists)
	b.next(t.gap, exists, start)
	b.Ask(busOrder, exists, b.Fixed(regionEnd))
	b.cell(t.first, t.last, exists, start, limbs{})
}

func (t *regions) fill(w *writer, z *zeroCell) {
	w.gap(t.gap, z)
	w.cell(t.first, t.last, z.cell)
}

// gap is the number of cells between a cell and the next one in a list: its halves.
type gap struct{ lower, upper column }

func (c *columns) gap(s shape) gap { return gap{c.column("lower", s.half), c.column("upper", s.half)} }

// next answers with the address of the next cell in a list, in rows where exists is 1.
func (b builder) next(g gap, exists, address air.Expr) {
	lower, upper := b.at(g.lower), b.at(g.upper)
	b.Answer(busOrder, exists, sum(address, one, lower, upper.Times(b.halves())))
	b.rangeHalf(exists, lower)
	b.rangeHalf(exists, upper)
}

// gap sets the columns of a gap.
func (w *writer) gap(at gap, z *zeroCell) {
	gap := z.next - z.address - 1
	lower, upper := gap&uint64(w.halves()-1), gap>>w.shape.half
	w.half(lower)
	w.half(upper)
	w.set(at.lower, lower)
	w.set(at.upper, upper)
}

// regionImage returns the fixed columns of regions in the given number of rows.
func regionImage(all []region, rows int) [][]uint64 {
	columns := make([][]uint64, regionFixed)
	for i := range columns {
		columns[i] = make([]uint64, rows)
	}
	for i, r := range all {
		columns[regionStart][i], columns[regionEnd][i], columns[regionExists][i] = r.start, r.end, 1
	}
	return columns
}

// zeros is the table of cells that are zero at first. A row asks for its address in the list of cells and answers with that
// of the next cell, which is higher. A list begins at the start of a region and ends at the end of one. All steps together are
// less than the field's order, so that addresses rise as numbers. Then no list leaves its region, and no cell is in two rows.
type zeros struct {
	columns
	real, address column
	gap
	first column
	last  access
}

func newZeros(s shape) *zeros {
	t := &zeros{}
	t.real, t.address = t.bit("real"), t.column("address", 44)
	t.gap = t.columns.gap(s)
	t.first, t.last = t.column("first", timeBits), t.columns.access("last", s)
	return t
}

func (*zeros) name() string        { return "zeros" }
func (t *zeros) shapeOf() *columns { return &t.columns }

func (t *zeros) state(b builder) {
	real, address := b.at(t.real), b.at(t.address)
	b.Ask(busOrder, real, address)
	b.next(t.gap, real, address)
	b.cell(t.first, t.last, real, address, limbs{})
}

func (t *zeros) fill(w *writer, z *zeroCell) {
	w.set(t.real, 1)
	w.set(t.address, z.address)
	w.gap(t.gap, z)
	w.cell(t.first, t.last, z.cell)
}

// zeroCell is a row of zeros or regions: a cell, and the address of the next one.
type zeroCell struct {
	address, next uint64
	*cell
}

// cell is a cell of memory during a run.
type cell struct {
	seen
	first   uint64 // the time before the first access
	touched bool
}

// memory is the cells of a run that can be written, in pages.
type memory map[uint64]*[pageCells]cell

const pageCells = 512

// cell returns the cell at an address.
func (m memory) cell(address uint64) *cell {
	page := m[address/pageCells]
	if page == nil {
		page = new([pageCells]cell)
		m[address/pageCells] = page
	}
	return &page[address%pageCells]
}

// bytes returns how much memory the cells take, with the pages that the executor had for them.
func (m memory) bytes() uint64 {
	return uint64(len(m)) * (uint64(unsafe.Sizeof([pageCells]cell{})) + pageBytes)
}

// zeros returns the rows of the cells in regions: the first cell of each region, and the others that were touched.
func (m memory) zeros(all []region) (first, others []zeroCell) {
	var numbers []uint64
	for n := range m {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, r := range all {
		list := []zeroCell{{address: r.start, cell: m.cell(r.start)}}
		from, _ := slices.BinarySearch(numbers, r.start/pageCells)
		for _, n := range numbers[from:] {
			if n*pageCells >= r.end {
				break
			}
			for i := range m[n] {
				address := n*pageCells + uint64(i)
				if c := &m[n][i]; c.touched && r.start < address && address < r.end {
					list[len(list)-1].next = address
					list = append(list, zeroCell{address: address, cell: c})
				}
			}
		}
		list[len(list)-1].next = r.end
		first, others = append(first, list[0]), append(others, list[1:]...)
	}
	return first, others
}
