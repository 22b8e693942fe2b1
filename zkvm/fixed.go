package zkvm

import "github.com/zkbench/zkbench/stark/air"

// halves is the fixed table of all numbers of a half's bits, with their signs.
type halves struct {
	columns
	asked, signs column // how often the row is asked for, without and with its sign
}

func newHalves() *halves {
	t := &halves{}
	t.asked, t.signs = t.column("asked", free), t.column("signs", free)
	return t
}

func (*halves) name() string        { return "halves" }
func (t *halves) shapeOf() *columns { return &t.columns }

func (t *halves) state(b builder) {
	b.Answer(busHalf, b.at(t.asked), b.Fixed(0))
	b.Answer(busSign, b.at(t.signs), b.Fixed(0), b.Fixed(1))
}

// fixed returns the fixed columns: the numbers and their signs.
func (*halves) fixed(s shape) [][]uint64 {
	numbers, signs := make([]uint64, s.halves()), make([]uint64, s.halves())
	for i := range numbers {
		numbers[i], signs[i] = uint64(i), uint64(i)>>(s.half-1)
	}
	return [][]uint64{numbers, signs}
}

// ands is the fixed table of the and of all pairs of bytes.
type ands struct {
	columns
	asked, bytes column // how often the row is asked for, with and without its and
}

func newAnds() *ands {
	t := &ands{}
	t.asked, t.bytes = t.column("asked", free), t.column("bytes", free)
	return t
}

func (*ands) name() string        { return "ands" }
func (t *ands) shapeOf() *columns { return &t.columns }

func (t *ands) state(b builder) {
	b.Answer(busAnd, b.at(t.asked), b.Fixed(0), b.Fixed(1), b.Fixed(2))
	b.Answer(busBytes, b.at(t.bytes), b.Fixed(0), b.Fixed(1))
}

// fixed returns the fixed columns: two bytes, and their and.
func (*ands) fixed(s shape) [][]uint64 {
	n := 1 << (2 * s.byte)
	left, right, both := make([]uint64, n), make([]uint64, n), make([]uint64, n)
	for i := range n {
		left[i], right[i] = uint64(i)>>s.byte, uint64(i)&(1<<s.byte-1)
		both[i] = left[i] & right[i]
	}
	return [][]uint64{left, right, both}
}

// registers is the fixed table of the registers' cells: what they hold at first and, by columns, at the end. Their
// times begin at 0. The cell of the output's position holds the output's length at the end.
type registers struct {
	columns
	last access
}

// Numbers of registers. What an instruction writes to register 0 goes to the sink, as in package riscv. Behind it are the cells of
// the output.
const (
	sink         = 32
	allRegisters = cellElement + 1
)

func newRegisters(s shape) *registers {
	t := &registers{}
	t.last = t.columns.access("last", s)
	return t
}

func (*registers) name() string        { return "registers" }
func (t *registers) shapeOf() *columns { return &t.columns }

func (t *registers) state(b builder) {
	register, exists := b.Fixed(0), b.Fixed(1)
	b.Answer(busCell, exists, air.Constant(spaceRegisters), register, zero, zero, zero)
	last := b.word(t.last.word)
	b.zero("length of the output", b.Fixed(2).Mul(last.lo.Times(elementBytes).Add(last.hi).Sub(b.Public(publicOutput))))
	b.Ask(busCell, exists, air.Constant(spaceRegisters), register, last.lo, last.hi, b.at(t.last.time))
}

func (t *registers) fill(w *writer, last seen) {
	w.setWord(t.last.word, last.value)
	w.set(t.last.time, last.time)
}

// fixed returns the fixed columns: the numbers of the registers, whether the row is a register, and whether it is the position of
// the output.
func (*registers) fixed() [][]uint64 {
	numbers, exists, position := make([]uint64, firstConstant), make([]uint64, firstConstant), make([]uint64, firstConstant)
	for i := range numbers {
		numbers[i], exists[i], position[i] = uint64(i), flag(i < allRegisters), flag(i == cellPosition)
	}
	return [][]uint64{numbers, exists, position}
}

// bridges is the table that brings cells nearer that were accessed so long ago that one look-up does not range the
// difference of times.
type bridges struct {
	columns
	real, space, address column
	cell                 access
	lower, upper         column // halves of the step of time, less 1
}

func newBridges(s shape) *bridges {
	t := &bridges{}
	t.real, t.space, t.address = t.bit("real"), t.column("space", 2), t.column("address", 48)
	t.cell = t.columns.access("cell", s)
	t.lower, t.upper = t.column("lower", s.half), t.column("upper", s.half)
	return t
}

func (*bridges) name() string        { return "bridges" }
func (t *bridges) shapeOf() *columns { return &t.columns }

func (t *bridges) state(b builder) {
	real, cell, time := b.at(t.real), b.word(t.cell.word), b.at(t.cell.time)
	lower, upper := b.at(t.lower), b.at(t.upper)
	b.Ask(busCell, real, b.at(t.space), b.at(t.address), cell.lo, cell.hi, time)
	b.Answer(busCell, real, b.at(t.space), b.at(t.address), cell.lo, cell.hi, sum(time, one, lower, upper.Times(b.halves())))
	b.rangeHalf(real, lower)
	b.rangeHalf(real, upper)
}

// bridge is a row of bridges: a cell that is brought from one time to another.
type bridge struct {
	space, address uint64
	seen
	to uint64
}

func (t *bridges) fill(w *writer, br *bridge) {
	w.set(t.real, 1)
	w.set(t.space, br.space)
	w.set(t.address, br.address)
	w.setWord(t.cell.word, br.value)
	w.set(t.cell.time, br.time)
	step := br.to - br.time - 1
	lower, upper := step&uint64(w.halves()-1), step>>w.shape.half
	w.half(lower)
	w.half(upper)
	w.set(t.lower, lower)
	w.set(t.upper, upper)
}
