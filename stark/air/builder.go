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

// Message is what a row sends to a bus, so many times. What all rows of all tables, and the
// statement, send to a bus of one name adds up to nothing: each tuple as often with a
// positive multiplicity as with a negative one, counted modulo the field's characteristic.
type Message struct {
	Bus          string
	multiplicity Expr
	tuple        []Expr
}

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

// Send sends a tuple to a bus, so many times; Receive takes it so many times away. A multiplicity
// is the table's to constrain: one that the prover chooses freely says nothing.
func (b *Builder) Send(bus string, multiplicity Expr, tuple ...Expr) {
	if len(tuple) == 0 {
		b.fail("it sends nothing to %q", bus)
		return
	}
	b.messages = append(b.messages, Message{bus, multiplicity, tuple})
}

// Receive takes a tuple from a bus, so many times.
func (b *Builder) Receive(bus string, multiplicity Expr, tuple ...Expr) {
	b.Send(bus, Expr{}.Sub(multiplicity), tuple...)
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
	return compile(b), nil
}
