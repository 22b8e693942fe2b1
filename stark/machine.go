package stark

import (
	"slices"

	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// tile is the number of rows that a machine processes at a time, so that what it computes stays in the cache.
const tile = 256

// code is a table's program for several rows at a time, with vectors as registers. It reads public values
// when it runs, so one code serves all statements.
type code[E field.Element[E]] struct {
	program      *air.Program
	constants    []E        // the constants, in the first registers
	publics      []int      // the public values in the registers after those
	instructions []instr[E] // in order
	registers    int        // number of registers: constants, public values, cells of the row, of the next row, then others
	here         []cellAt   // which registers hold which columns, fixed ones too
	next         []cellAt
	values       []int // the register of each step that is asked for
}

type cellAt struct{ register, phase, column int } // the phase is ofColumns or ofFixed

// instr is one instruction.
type instr[E any] struct {
	op     opcode
	dst    int
	x      []int // registers
	factor E     // for opScale
	where  air.Where
	bounds []int // for opSum: the constraints whose values are in x
}

// opcode is the operation of an instruction.
type opcode uint8

const (
	opAdd opcode = iota
	opSub        // x[0] - x[1]
	opMul
	opScale  // factor x[0]
	opXor    // x[0] + x[1] - 2 x[0] x[1]
	opAndNot // x[0] (1 - x[1])
	opPack   // Σ 2^i x[i]
	opSum    // constraints of one kind are summed, each times its weight
)

// together is the number of constraints whose values are summed at once. With it, the sums fit in the
// second-level cache.
const together = 64

// machine runs code on rows.
type machine[E field.Element[E], X field.Extension[E, X]] struct {
	*code[E]
	field field.Field[E, X]
	slots [][]E         // the values of the registers
	wrap  []E           // memory for cells of the next row that wrap around
	list  [together][]E // operands of an instruction
	size  int
	tuple [][]E // tuple of a message
}

func newMachine[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], c *code[E], publics []E, rows int) *machine[E, X] {
	m := &machine[E, X]{code: c, field: f, size: min(rows, tile), slots: make([][]E, c.registers)}
	cells := len(c.here) + len(c.next)
	memory := make([]E, (c.registers-cells+len(c.next))*m.size)
	take := func() (v []E) {
		v, memory = memory[:m.size:m.size], memory[m.size:]
		return v
	}
	same := slices.Clone(c.constants)
	for _, i := range c.publics {
		same = append(same, publics[i])
	}
	for r := range m.slots {
		if r < len(same) || r >= len(same)+cells {
			m.slots[r] = take()
		}
		if r < len(same) {
			for i := range m.slots[r] {
				m.slots[r][i] = same[r]
			}
		}
	}
	m.wrap = memory
	return m
}

// run runs the code on the rows from lo on, as many as a machine takes, of columns with the given number of
// rows. The next row of a row is step further. sum gets the values of constraints that hold in the same rows.
func (m *machine[E, X]) run(column func(phase, i int) []E, rows, step, lo int, sum func(w air.Where, bounds []int, values [][]E)) {
	hi := lo + m.size
	for _, c := range m.here {
		m.slots[c.register] = column(c.phase, c.column)[lo:hi]
	}
	for i, c := range m.next {
		m.slots[c.register] = following(column(c.phase, c.column)[:rows], lo, step, m.wrap[i*m.size:][:m.size])
	}
	f := m.field
	for i := range m.instructions {
		in := &m.instructions[i]
		x := m.list[:len(in.x)]
		for j, r := range in.x {
			x[j] = m.slots[r]
		}
		switch dst := m.slots[in.dst]; in.op {
		case opAdd:
			f.Add(dst, x[0], x[1])
		case opSub:
			f.Sub(dst, x[0], x[1])
		case opMul:
			f.Mul(dst, x[0], x[1])
		case opScale:
			f.MulScalar(dst, x[0], in.factor)
		case opXor:
			f.Xor(dst, x[0], x[1])
		case opAndNot:
			f.AndNot(dst, x[0], x[1])
		case opPack:
			f.Pack(dst, x)
		case opSum:
			sum(in.where, in.bounds, x)
		}
	}
}

// following returns, for as many rows as wrap has, from row lo on, the cells of the rows that are step further. They
// are in wrap if the last of them is the column's first row. The step is then 1.
func following[E any](column []E, lo, step int, wrap []E) []E {
	n := len(wrap)
	if lo+n+step <= len(column) {
		return column[lo+step:][:n]
	}
	copy(wrap, column[lo+1:])
	wrap[n-1] = column[0]
	return wrap
}

// value returns the values of a step that is kept.
func (m *machine[E, X]) value(step int) []E { return m.slots[m.values[step]] }
