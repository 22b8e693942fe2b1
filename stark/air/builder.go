package air

import (
	"fmt"

	"github.com/zkbench/zkbench"
)

// Table is what a prover fills and a verifier knows: columns, and what their rows satisfy.
type Table struct {
	Name    string
	Columns int
	// Fixed are columns that everybody knows and no prover fills: numbers below the field's order. All have one
	// length, a power of two from 2 on, which is the table's height then.
	Fixed [][]uint64
	// State says what holds, to the Builder: the same each time.
	State func(b *Builder)
}

// Where says in which rows a constraint holds.
type Where uint8

// The rows of constraints.
const (
	Everywhere Where = iota
	First            // in the first row
	Last             // in the last
	Transition       // in all but the last, whose next row is the first
)

// String is the rows' name.
func (w Where) String() string {
	return [...]string{"in every row", "in the first row", "in the last row", "in all rows but the last"}[w]
}

// Constraint is an expression that is 0 in the rows that it says.
type Constraint struct {
	Name  string
	Where Where
	zero  Expr
}

// Message is a tuple that a row asks a bus for, or answers with.
type Message struct {
	Bus          string
	kind         kind
	most         uint64 // of an ask, its greatest multiplicity
	multiplicity Expr
	tuple        []Expr
}

// kind is what a message is.
type kind uint8

const (
	answers kind = iota
	asks
	asksOnce // asks, with a multiplicity that the table may not have constrained to 0 and 1
	links    // by a fixed column
)

// Builder takes down what a table states.
type Builder struct {
	columns     int
	fixed       int
	constraints []Constraint
	messages    []Message
	err         error
}

// Here is the row's cell of a column, Next that of the next row.
func (b *Builder) Here(column int) Expr { return b.cell(Here, "column", column, b.columns) }

// Next is the next row's cell of a column.
func (b *Builder) Next(column int) Expr { return b.cell(Next, "column", column, b.columns) }

// Fixed is the row's cell of a fixed column.
func (b *Builder) Fixed(i int) Expr { return b.cell(Fixed, "fixed column", i, b.fixed) }

func (b *Builder) cell(op Op, of string, i, n int) Expr {
	if i < 0 || i >= n {
		b.fail("it reads %s %d of %d", of, i, n)
		return Expr{}
	}
	return Expr{&node{op: op, index: i}}
}

// Public is a value of the statement.
func (b *Builder) Public(i int) Expr {
	if i < 0 {
		b.fail("it reads public value %d", i)
		return Expr{}
	}
	return Expr{&node{op: Public, index: i}}
}

// Zero states that an expression is 0 in some rows. The name is what an error says.
func (b *Builder) Zero(where Where, name string, zero Expr) {
	if where > Transition {
		b.fail("constraint %q holds nowhere", name)
		return
	}
	b.constraints = append(b.constraints, Constraint{name, where, zero})
}

// Ask asks a bus for a tuple: once in each row in which when is 1, and not in those in which it is 0.
// That it is 0 or 1 is one more constraint, unless constraints that are stated imply it.
func (b *Builder) Ask(bus string, when Expr, tuple ...Expr) {
	b.message(Message{bus, asksOnce, 1, when, tuple})
}

// AskUpTo asks a bus for a tuple as often as a multiplicity says. The table must constrain the
// multiplicity to the numbers 0 to most; proofs are accepted only of heights for which what all rows
// ask of a bus is fewer than the field's order.
func (b *Builder) AskUpTo(most uint64, bus string, multiplicity Expr, tuple ...Expr) {
	if most < 1 {
		b.fail("it asks %q for a tuple up to 0 times", bus)
	}
	b.message(Message{bus, asks, most, multiplicity, tuple})
}

// Answer answers with a tuple as often as a multiplicity says, which the prover may choose. The table
// must constrain the tuple: it is true wherever the multiplicity is not 0. If that rests on what the row
// asks, no answer to it may rest on this one.
func (b *Builder) Answer(bus string, multiplicity Expr, tuple ...Expr) {
	b.message(Message{bus, answers, 0, multiplicity, tuple})
}

// Link answers or asks by a fixed column: where its cell is a number n of the lower half of the field
// it answers n times, and where it is -n it asks n times.
func (b *Builder) Link(bus string, fixed int, tuple ...Expr) {
	b.message(Message{bus, links, 0, b.Fixed(fixed), tuple})
}

func (b *Builder) message(m Message) {
	if len(m.tuple) == 0 {
		b.fail("it asks %q for nothing, or answers with nothing", m.Bus)
		return
	}
	b.messages = append(b.messages, m)
}

func (b *Builder) fail(format string, a ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, a...)
	}
}

// Compile writes down what the table states. A statement that reads what there is not, and fixed columns of
// no height, are a zkbench.ErrParams.
func (t *Table) Compile() (*Program, error) {
	if t.Columns < 1 || t.State == nil {
		return nil, fmt.Errorf("%w: table %q has %d columns, accepted are 1 or more that State describes", zkbench.ErrParams, t.Name, t.Columns)
	}
	for i, c := range t.Fixed {
		if n := len(c); n < 2 || n&(n-1) != 0 || n != len(t.Fixed[0]) {
			return nil, fmt.Errorf("%w: table %q: fixed column %d has %d rows, accepted is a power of two from 2 on that all have", zkbench.ErrParams, t.Name, i, n)
		}
	}
	b := &Builder{columns: t.Columns, fixed: len(t.Fixed)}
	t.State(b)
	if b.err == nil && len(b.constraints)+len(b.messages) == 0 {
		b.fail("it states nothing")
	}
	if b.err != nil {
		return nil, fmt.Errorf("%w: table %q: %w", zkbench.ErrParams, t.Name, b.err)
	}
	return compile(b, t.Fixed), nil
}
