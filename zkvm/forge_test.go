package zkvm

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// rowOf is a row of a table as an algebra: the values of the table's expressions are numbers.
type rowOf struct {
	columns, fixed [][]uint64
	publics        []uint64
	row            int
}

func (r rowOf) Constant(c air.Int) goldilocks.Element {
	v := goldilocks.Element(c.Abs % goldilocks.Modulus)
	if c.Negative {
		return goldilocks.Element(0).Sub(v)
	}
	return v
}
func (r rowOf) Fixed(i int) goldilocks.Element { return goldilocks.Element(r.fixed[i][r.row]) }
func (r rowOf) Here(i int) goldilocks.Element  { return goldilocks.Element(r.columns[i][r.row]) }
func (r rowOf) Next(i int) goldilocks.Element {
	return goldilocks.Element(r.columns[i][(r.row+1)%len(r.columns[i])])
}

func (r rowOf) Public(i int) goldilocks.Element                { return goldilocks.Element(r.publics[i]) }
func (r rowOf) Add(x, y goldilocks.Element) goldilocks.Element { return x.Add(y) }
func (r rowOf) Sub(x, y goldilocks.Element) goldilocks.Element { return x.Sub(y) }
func (r rowOf) Mul(x, y goldilocks.Element) goldilocks.Element { return x.Mul(y) }

// tuple is what a message sends to a bus. Values behind its last one are 0.
type tuple struct {
	bus    string
	values [6]goldilocks.Element
}

// tupleOf returns what a message sends, and how often it is answered, given the values of the table's steps.
func tupleOf(message air.Sent, values []goldilocks.Element) (t tuple, times goldilocks.Element) {
	t.bus = message.Bus
	for i, step := range message.Tuple {
		t.values[i] = values[step]
	}
	return t, values[message.Multiplicity]
}

// compiled is a table of the machine as package stark has it.
type compiled struct {
	*air.Program
	fixed [][]uint64
	index func() map[tuple]place // where the table's fixed columns have a tuple
}

// place is where a fixed table counts how often a tuple is asked for.
type place struct{ row, column int }

// compiledTables has the tables of RV64 by name.
var compiledTables = sync.OnceValue(func() map[string]*compiled {
	all := make(map[string]*compiled)
	for _, t := range newMachine(rv64).tables() {
		p, err := t.Compile()
		if err != nil {
			panic(err)
		}
		c := &compiled{Program: p, fixed: t.Fixed}
		c.index = sync.OnceValue(func() map[tuple]place { return c.places(c.fixed) })
		all[t.Name] = c
	}
	return all
})

// places returns where a table with the given fixed columns counts its answers.
func (c *compiled) places(fixed [][]uint64) map[tuple]place {
	all, zeros := make(map[tuple]place), make([][]uint64, c.Columns)
	for i := range zeros {
		zeros[i] = make([]uint64, len(fixed[0]))
	}
	for row := range fixed[0] {
		values := air.Evaluate(c.Program, rowOf{columns: zeros, fixed: fixed, row: row})
		for _, m := range c.Messages {
			if t, _ := tupleOf(m, values); c.Steps[m.Multiplicity].Op == air.Here {
				if _, ok := all[t]; !ok {
					all[t] = place{row, c.Steps[m.Multiplicity].Index}
				}
			}
		}
	}
	return all
}

// forgery is a claim whose prover changes cells after the tables are filled, and then counts all look-ups again, as one does who
// wants to be believed.
type forgery struct {
	*claimed
	said   *Program // whose image is in the statement
	edits  map[table][]edit
	copies map[table][]copied
	broken []string // constraints that the tables of the least height break, but the sponge
	// unanswered has what the edits change and no fixed table counts: how often it is answered more than before, less how often it is asked for.
	unanswered map[tuple]goldilocks.Element
}

// copied is a row that is copied to another one before the edits.
type copied struct{ from, to int }

// edit changes a cell.
type edit struct {
	row    int
	column column
	to     func(v uint64) uint64
}

func forge(c *claimed) *forgery {
	return &forgery{claimed: c, said: c.program, edits: make(map[table][]edit), copies: make(map[table][]copied)}
}

// set sets cells of a row.
func (f *forgery) set(at table, row int, to uint64, columns ...column) *forgery {
	for _, c := range columns {
		f.edits[at] = append(f.edits[at], edit{row, c, func(uint64) uint64 { return to }})
	}
	return f
}

// add adds a number to cells of a row, modulo the field's order.
func (f *forgery) add(at table, row int, n int64, columns ...column) *forgery {
	for _, c := range columns {
		f.edits[at] = append(f.edits[at], edit{row, c, func(v uint64) uint64 {
			return uint64(goldilocks.Element(v).Add(goldilocks.Element(element(n))))
		}})
	}
	return f
}

// fixedOf returns the fixed columns of a table.
func (f *forgery) fixedOf(at table) [][]uint64 {
	p, height := f.said, f.form[slices.Index(f.all(), at)]
	switch at {
	case table(f.machine.program):
		return image(f.shape, p.instructions, height)
	case table(f.machine.constants):
		return wordImage(f.shape, p.constants, height)
	case table(f.machine.data):
		return wordImage(f.shape, p.data, height)
	case table(f.machine.regions):
		return regionImage(p.regions, height)
	}
	return compiledTables()[at.name()].fixed
}

// sent adds what a row sends to a count of tuples, so many times as said.
func (f *forgery) sent(to map[tuple]goldilocks.Element, at table, fixed, columns [][]uint64, row int, times goldilocks.Element) {
	p := compiledTables()[at.name()]
	values := air.Evaluate(p.Program, rowOf{columns, fixed, f.about.Publics, row})
	for _, m := range p.Messages {
		if t, n := tupleOf(m, values); n != 0 {
			to[t] = to[t].Add(n.Mul(times))
		}
	}
}

// traces returns the traces of the forgery.
func (f *forgery) traces() []stark.Trace {
	more := make(map[tuple]goldilocks.Element) // what is answered more often than before
	f.unanswered = more
	minus := goldilocks.Element(0).Sub(1)
	all := f.claimed.traces(f.form)
	for i, at := range f.all() {
		fill, edits := all[i].Fill, f.edits[at]
		all[i].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			if err := fill(ctx, ex, cells); err != nil {
				return err
			}
			if i == 0 {
				clear(more)
				f.broken = nil
			}
			columns := stark.Columns[uint64](cells)
			fixed := f.fixedOf(at)
			switch at.(type) {
			case *programTable, *constants:
				f.recount(more, compiledTables()[at.name()].places(fixed), columns)
			case *halves, *ands, *powers:
				f.recount(more, compiledTables()[at.name()].index(), columns)
			}
			var rows []int
			for _, e := range edits {
				rows = append(rows, e.row)
			}
			for _, c := range f.copies[at] {
				rows = append(rows, c.to)
			}
			slices.Sort(rows)
			rows = slices.Compact(rows)
			for _, row := range rows {
				f.sent(more, at, fixed, columns, row, minus)
			}
			for _, c := range f.copies[at] {
				for _, column := range columns {
					column[c.to] = column[c.from]
				}
			}
			for _, e := range edits {
				columns[e.column][e.row] = e.to(columns[e.column][e.row])
			}
			for _, row := range rows {
				f.sent(more, at, fixed, columns, row, 1)
			}
			if _, ok := at.(*sponge); !ok && len(columns[0]) == leastRows {
				for row := range columns[0] {
					for _, name := range f.breaks(at, fixed, columns, row) {
						if !slices.Contains(f.broken, name) {
							f.broken = append(f.broken, name)
						}
					}
				}
			}
			return nil
		}
	}
	return all
}

// recount answers tuples of a table with fixed columns as often as they are asked for.
func (f *forgery) recount(more map[tuple]goldilocks.Element, places map[tuple]place, columns [][]uint64) {
	for t, n := range more {
		if at, ok := places[t]; ok {
			cell := &columns[at.column][at.row]
			*cell = uint64(goldilocks.Element(*cell).Sub(n))
			delete(more, t)
		}
	}
}

// check checks the forgery.
func (f *forgery) check(t testing.TB) error {
	t.Helper()
	return f.system.Check(t.Context(), executor.Serial(), f.traces(), f.about)
}

// breaks returns the constraints that a row breaks.
func (f *forgery) breaks(at table, fixed, columns [][]uint64, row int) (broken []string) {
	p := compiledTables()[at.name()]
	values := air.Evaluate(p.Program, rowOf{columns, fixed, f.about.Publics, row})
	last := len(columns[0]) - 1
	for _, c := range p.Constraints {
		held := map[air.Where]bool{air.Everywhere: true, air.First: row == 0, air.Last: row == last, air.Transition: row < last}[c.Where]
		if held && values[c.Step] != 0 {
			broken = append(broken, c.Name)
		}
	}
	return broken
}

// detected returns what a check finds if the cells of one row have other values than in a valid trace: a constraint or a bus.
// It returns "" if it finds nothing.
func (f *forgery) detected(at table, columns [][]uint64, row int, change func()) string {
	fixed, sent := f.fixedOf(at), f.change(at, columns, row, change)
	for _, r := range []int{row, (row + len(columns[0]) - 1) % len(columns[0])} {
		if broken := f.breaks(at, fixed, columns, r); len(broken) > 0 {
			return broken[0]
		}
	}
	for t, n := range sent {
		if n != 0 {
			return fmt.Sprintf("bus %q", t.bus)
		}
	}
	return ""
}

// change changes a row, and returns how much more often it then sends each tuple.
func (f *forgery) change(at table, columns [][]uint64, row int, change func()) map[tuple]goldilocks.Element {
	fixed, sent := f.fixedOf(at), make(map[tuple]goldilocks.Element)
	f.sent(sent, at, fixed, columns, row, goldilocks.Element(0).Sub(1))
	change()
	f.sent(sent, at, fixed, columns, row, 1)
	return sent
}

// script is a program with the steps of a run that need not be true.
type script struct {
	*Program
	steps []step
	input []byte
}

// The program of a script has a constant, two cells of data and a region of zeros.
func newScript() *script {
	s := &script{Program: &Program{
		constants: []fixedWord{{constantAt / 8, 0x0807060504030201}},
		data:      []fixedWord{{dataAt / 8, 0xf8f7f6f5f4f3f2f1}, {dataAt/8 + 1, 1}},
		regions:   []region{{zerosAt / 8, zerosAt/8 + 512}},
	}}
	s.do(decoded{op: codeEqual, z: 1}, step{})
	return s
}

// zerosAt is where the zeros of a script are.
const zerosAt = dataAt + 4096

// do adds an instruction and executes it.
func (s *script) do(in decoded, of step) *script {
	switch in.family() {
	case codeSums, codeLogic, codeShiftBy, codeCompare:
		if in.op&codeImmediate != 0 {
			in.rs2 = firstConstant + uint64(len(s.instructions))
		}
	}
	in.address = 4 * uint64(len(s.instructions))
	of.index = len(s.instructions)
	s.instructions, s.steps = append(s.instructions, in), append(s.steps, of)
	return s
}

// put sets a register to a number.
func (s *script) put(register, v uint64) *script {
	return s.do(decoded{op: codeSums + codeImmediate, rd: register, constant: v}, step{result: v})
}

// The registers of scripts: the operands of an instruction, and its result, which nothing reads after it.
const (
	left = 5 + iota
	right
	result
)

// operation adds an instruction on two operands that are numbers, and its result.
func (s *script) operation(op, a, b, c uint64) *script {
	return s.put(left, a).put(right, b).do(decoded{op: op, rd: result, rs1: left, rs2: right}, step{result: c})
}

// claim halts and returns the claim of the run.
func (s *script) claim(t testing.TB) *claimed {
	t.Helper()
	s.put(a7, numberHalt).do(decoded{op: codeCall}, step{})
	x := newExecution(newMachine(rv64), s.Program)
	x.options.Input = s.input
	for _, of := range s.steps {
		x.step(of)
	}
	return claim(t, x)
}

// instead puts another program into the statement, whose instruction i is changed.
func (f *forgery) instead(t testing.TB, i int, change func(in *decoded)) *forgery {
	t.Helper()
	p := *f.said
	p.instructions = slices.Clone(p.instructions)
	change(&p.instructions[i])
	f.said = &p
	f.about.Image = must.Get(p.image(t.Context(), executor.Serial(), f.system))(t)
	return f
}

// written changes the result of a row whose register is not accessed again.
func (f *forgery) written(at table, row int, c word, lo, hi uint64) *forgery {
	f.set(at, row, lo, c.lo).set(at, row, hi, c.hi)
	last := f.machine.registers.last
	return f.set(f.machine.registers, result, lo, last.lo).set(f.machine.registers, result, hi, last.hi)
}
