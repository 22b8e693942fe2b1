package stark

import (
	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// tile is the number of rows that a machine processes at a time. With fewer rows, the registers of a table of
// 2,500 columns would fit in the second-level cache. But then the time that each step takes for itself counts more.
const tile = 256

// code is a table's program for several rows at a time, with vectors as registers. It reads public values
// when it runs, so one code serves all statements.
type code[E field.Element[E]] struct {
	program   *air.Program
	constants []E      // the constants, in the first registers
	publics   []int    // the public values in the registers after those
	passes    []pass   // in order
	registers int      // number of registers: constants, public values, cells of the row, of the next row, then others
	here      []cellAt // which registers hold which columns, fixed ones too; they follow each other
	next      []cellAt
	values    []int // the register of each step that is asked for
}

type cellAt struct{ register, phase, column int } // the phase is ofColumns, ofFixed or ofImage

// pass is steps, and what follows them.
type pass struct {
	steps  []step.Step // the second factor of a Mul may be a constant, and the first never is
	then   then
	dst    int   // for thenPacked
	x      []int // registers
	where  air.Where
	bounds []int // for thenSummed: the constraints whose values are in x
}

// then is what follows the steps of a pass.
type then uint8

const (
	thenNothing then = iota
	thenPacked       // dst is Σ 2^i x[i]
	thenSummed       // constraints of one kind are summed, each times its weight
)

// together is the number of constraints whose values are summed at once. With it, the sums fit in the
// second-level cache.
const together = 64

// machine runs code on rows.
type machine[E field.Element[E], X field.Extension[E, X]] struct {
	*code[E]
	field field.Field[E, X]
	slots [][]E         // the values of the registers
	cells [][]E         // where the row's cells are
	list  [together][]E // operands of what follows steps
	size  int
	// What of a message's tuple differs from row to row, with the weights.
	tuple   [][]E
	weights []X
}

func newMachine[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], from *memory[E], c *code[E], publics []E, rows int) *machine[E, X] {
	m := &machine[E, X]{code: c, field: f, size: min(rows, tile), slots: make([][]E, c.registers), cells: make([][]E, len(c.here))}
	memory := from.elements(c.registers * m.size)
	for r := range m.slots {
		m.slots[r], memory = memory[:m.size:m.size], memory[m.size:]
	}
	for i, e := range c.constants {
		field.Fill(m.slots[i], e)
	}
	for i, public := range c.publics {
		field.Fill(m.slots[len(c.constants)+i], publics[public])
	}
	return m
}

// run runs the code on the rows from lo on, as many as a machine takes, of columns with the given number of
// rows. The next row of a row is step further. sum gets the values of constraints that hold in the same rows.
func (m *machine[E, X]) run(column func(phase, i int) []E, rows, step, lo int, sum func(w air.Where, bounds []int, values [][]E)) {
	for i, c := range m.here {
		m.cells[i] = column(c.phase, c.column)[lo:][:m.size]
	}
	if len(m.here) > 0 {
		field.Copy(m.slots[m.here[0].register:], m.cells) // in registers that follow each other
	}
	for _, c := range m.next {
		copyNext(m.slots[c.register], column(c.phase, c.column)[:rows], lo+step)
	}
	for i := range m.passes {
		p := &m.passes[i]
		m.field.Steps(m.slots, p.steps, m.size)
		x := m.list[:len(p.x)]
		for j, r := range p.x {
			x[j] = m.slots[r]
		}
		switch p.then {
		case thenPacked:
			m.field.Pack(m.slots[p.dst], x)
		case thenSummed:
			sum(p.where, p.bounds, x)
		}
	}
}

// copyNext copies the cells of a column from a row on, which is at most their number. After the last row comes the
// first one.
func copyNext[E any](dst, column []E, row int) {
	n := copy(dst, column[min(row, len(column)):])
	copy(dst[n:], column)
}

// value returns the values of a step that is kept.
func (m *machine[E, X]) value(step int) []E { return m.slots[m.values[step]] }

// same reports whether a step has the same value in all rows: a constant or a public value.
func (m *machine[E, X]) same(step int) bool {
	return m.values[step] < len(m.constants)+len(m.publics)
}
