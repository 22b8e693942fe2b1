package zkvm

import (
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// The buses. In brackets: who asks and who answers.
const (
	// busState has the index of an instruction and the time at which it begins. Each instruction asks for its
	// own and answers with its successor's. A statement answers with the first, and a halt has no successor.
	busState = "state"
	// busProgram has an instruction: its index, operation, registers rd, rs1 and rs2, and offset or target. [rows of
	// instructions; program]
	busProgram = "program"
	// busCell has a cell: its space, its address in that space, the two limbs of its content, and the time of
	// its last access. Each access asks for what was and answers with what is.
	busCell = "cell"
	// busHalf has a number of a half's bits. [all; halves]
	busHalf = "half"
	// busSign has a number of a half's bits and its highest bit. [all; halves]
	busSign = "sign"
	// busAnd has two bytes and their and. [logic; ands]
	busAnd = "and"
	// busBytes has two bytes. [narrow words; ands]
	busBytes = "bytes"
	// busPower has the kind of a shift, the amount, the way and the power of two. [shifts by registers; powers]
	busPower = "power"
	// busTarget has the address of an instruction and its index. [jumps; program]
	busTarget = "target"
	// busOrder has the address of a cell of memory. [zeros and regions]
	busOrder = "order"
	// busCommit has the time of a row of output, the index of the instruction behind the call, the address of the byte, and the
	// number of bytes from it on. [output; calls and output]
	busCommit = "commit"
	// busElement has a stream, and the number and value of one of its elements. [sponge; input and output]
	busElement = "element"
	// busHalt has the time of the halt and the limbs of the exit code. [the statement; calls]
	busHalt = "halt"
)

// The spaces of cells.
const (
	spaceRegisters = iota // the address is a register's number, or firstConstant plus an instruction's index
	spaceMemory           // the address is that of 8 bytes, divided by 8
	spaceReadOnly         // the same for memory that is never written: constants and the input
)

// firstConstant is the number of the register that holds the constant of instruction 0. No instruction writes it.
const firstConstant = 64

// column is a column's number in a table.
type column int

// columns hands out a table's columns, each with its range: the cells of honest rows are below 2^bits, and the
// table's statement implies it. For free, they are any elements of the field.
type columns struct {
	names []string
	bits  []int
}

// free is the range of cells that may be any element of the field: their constraints hold modulo the order.
const free = -1

func (c *columns) column(name string, bits int) column {
	c.names, c.bits = append(c.names, name), append(c.bits, bits)
	return column(len(c.names) - 1)
}

func (c *columns) bit(name string) column { return c.column(name, 1) }

// word is a number of two limbs in two columns.
type word struct{ lo, hi column }

func (c *columns) word(name string, s shape) word {
	return word{c.column(name+".lo", s.limb), c.column(name+".hi", s.limb)}
}

// limbs are the limbs of a word as expressions.
type limbs struct{ lo, hi air.Expr }

// builder states a table.
type builder struct {
	*air.Builder
	shape
}

func (b builder) at(c column) air.Expr { return b.Here(int(c)) }

func (b builder) word(w word) limbs { return limbs{b.at(w.lo), b.at(w.hi)} }

// zero states that e is 0 in every row.
func (b builder) zero(name string, e air.Expr) { b.Zero(air.Everywhere, name, e) }

// bit states that a column holds bits.
func (b builder) bit(name string, c column) { b.zero(name+" is a bit", b.at(c).Bool()) }

// rangeHalf ranges e to a half's bits in rows where when is 1.
func (b builder) rangeHalf(when, e air.Expr) { b.Ask(busHalf, when, e) }

// rangeSign ranges e to a half's bits, and sign to its highest bit, in rows where when is 1.
func (b builder) rangeSign(when, e, sign air.Expr) { b.Ask(busSign, when, e, sign) }

// rangeLimb ranges e to a limb's bits, given its upper half.
func (b builder) rangeLimb(when, e, upper air.Expr) {
	b.rangeHalf(when, e.Sub(upper.Times(b.halves())))
	b.rangeHalf(when, upper)
}

// rangeSigned ranges e to a limb's bits, and sign to its highest bit, given its upper half.
func (b builder) rangeSigned(when, e, upper, sign air.Expr) {
	b.rangeHalf(when, e.Sub(upper.Times(b.halves())))
	b.rangeSign(when, upper, sign)
}

// sum returns the sum of expressions.
func sum(all ...air.Expr) (s air.Expr) {
	for _, e := range all {
		s = s.Add(e)
	}
	return s
}

// one is the constant 1.
var one = air.Constant(1)

// access is an access to a cell: what it held, and the time of the access before.
type access struct {
	word
	time column
}

// timeBits bounds times: that of a statement's halt is 4 for each row of all tables.
const timeBits = 40

func (c *columns) access(name string, s shape) access {
	return access{c.word(name, s), c.column(name+".time", timeBits)}
}

// access states access number k of an instruction that begins at time. In rows where asks is 1 the cell held was,
// and the access before it had the time in a column; in rows where writes is 1, it holds now from then on. A row
// that asks and does not write reads a cell that never changes.
func (b builder) access(was limbs, before column, asks, writes air.Expr, space int64, address, time air.Expr, k int64, now limbs) {
	at := air.Constant(space)
	b.Ask(busCell, asks, at, address, was.lo, was.hi, b.at(before))
	b.Answer(busCell, writes, at, address, now.lo, now.hi, time.Plus(k))
	b.rangeHalf(writes, time.Plus(k-1).Sub(b.at(before)))
}

// register states an access to a register, as access does.
func (b builder) register(was limbs, before column, asks, writes, number, time air.Expr, k int64, now limbs) {
	b.access(was, before, asks, writes, spaceRegisters, number, time, k, now)
}

// table is one table of the machine.
type table interface {
	name() string
	shapeOf() *columns
	state(b builder)
}

// writer fills the rows of a table, one after the other, and counts what they ask the fixed tables for.
type writer struct {
	shape
	all    *stark.Cells
	cells  [][]uint64 // the columns of all
	row    int
	counts *counts
}

func (w *writer) set(c column, v uint64) { w.cells[c][w.row] = v }

// setWord sets the limbs of a word.
func (w *writer) setWord(at word, v uint64) {
	lo, hi := w.split(v)
	w.set(at.lo, lo)
	w.set(at.hi, hi)
}

// half counts the look-up of a half.
func (w *writer) half(v uint64) { w.counts.halves[v]++ }

// signOf counts the look-up of a half with its sign, which it returns.
func (w *writer) signOf(v uint64) (sign uint64) {
	w.counts.signs[v]++
	return v >> (w.shape.half - 1)
}

// upper sets the upper half of a limb and counts both of its halves.
func (w *writer) upper(at column, limb uint64) {
	lower, upper := limb&uint64(w.halves()-1), limb>>w.shape.half
	w.half(lower)
	w.half(upper)
	w.set(at, upper)
}

// upperSigned does what upper does, and returns the limb's sign.
func (w *writer) upperSigned(at column, limb uint64) (sign uint64) {
	lower, upper := limb&uint64(w.halves()-1), limb>>w.shape.half
	w.half(lower)
	w.set(at, upper)
	return w.signOf(upper)
}

// access sets what an access found, and counts its step of time.
func (w *writer) access(a access, found seen, time uint64) {
	w.setWord(a.word, found.value)
	w.before(a.time, found, time)
}

// before sets the time of the access before, and counts the step of time.
func (w *writer) before(at column, found seen, time uint64) {
	w.set(at, found.time)
	w.half(time - found.time - 1)
}

// zero is the constant 0.
var zero air.Expr

// byteOf returns byte i of a word.
func (w *writer) byteOf(word uint64, i int) uint64 { return word >> (i * w.byte) & (1<<w.byte - 1) }

// and counts the look-up of the and of two bytes, which it returns.
func (w *writer) and(x, y uint64) uint64 {
	w.counts.ands[x<<w.byte|y]++
	return x & y
}

// bytes counts the look-up of two bytes.
func (w *writer) bytes(x, y uint64) { w.counts.bytes[x<<w.byte|y]++ }

// second sets whether the second operand is an immediate. Otherwise it sets the time of the access before.
func (w *writer) second(immediate, before column, s *step, in *decoded) {
	if in.op&codeImmediate != 0 {
		w.set(immediate, 1)
		w.counts.constants[s.index]++
	} else {
		w.before(before, s.b, s.time+1)
	}
}
