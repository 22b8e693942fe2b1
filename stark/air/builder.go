package air

import (
	"fmt"

	"github.com/zkbench/zkbench"
)

// Table describes a table that a prover fills: its columns and what their rows must satisfy.
type Table struct {
	Name    string
	Columns int
	// Fixed are the fixed columns, which verifiers know and provers do not fill. They hold numbers below the
	// field's order. All have the same length, a power of two of at least 2, which is then the table's
	// height.
	Fixed [][]uint64
	// Image is the number of fixed columns whose contents each statement gives, as an image. A proof's form gives
	// their height. Builder.Fixed reads them too. A table has columns in Fixed, or an Image, or neither. The table
	// must state everything that it needs to know about an image, whose contents may be any numbers.
	Image int
	// State writes the table's constraints and messages to b. It must write the same constraints and messages
	// in each call.
	State func(b *Builder)
}

// Where says in which rows a constraint holds.
type Where uint8

// The rows in which a constraint can hold.
const (
	Everywhere Where = iota
	First            // in the first row
	Last             // in the last row
	Transition       // in all rows but the last; the row after the last is the first
)

// String describes the rows, for example "in the first row".
func (w Where) String() string {
	return [...]string{"in every row", "in the first row", "in the last row", "in all rows but the last"}[w]
}

// Constraint is an expression that must be 0 in some rows. The field Where says in which rows.
type Constraint struct {
	Name  string
	Where Where
	zero  Expr
}

// Message is a tuple that a row sends on a bus, to ask for the tuple or to answer with it.
type Message struct {
	Bus          string
	kind         kind
	most         uint64 // maximum multiplicity of an ask
	multiplicity Expr
	tuple        []Expr
}

// kind says what a message does.
type kind uint8

const (
	answers kind = iota
	asks
	asksOnce // asks; compile constrains the multiplicity to 0 and 1 unless the table does
	links    // answers or asks by a fixed column
)

// Builder collects the constraints and messages of a table.
type Builder struct {
	columns     int
	fixed       int
	image       bool // whether the fixed columns are an image
	constraints []Constraint
	messages    []Message
	err         error
}

// Here returns the row's own cell in a column.
func (b *Builder) Here(column int) Expr { return b.cell(Here, "column", column, b.columns) }

// Next returns the next row's cell in a column.
func (b *Builder) Next(column int) Expr { return b.cell(Next, "column", column, b.columns) }

// Fixed returns the row's cell in fixed column i, or in column i of the image.
func (b *Builder) Fixed(i int) Expr { return b.cell(Fixed, "fixed column", i, b.fixed) }

func (b *Builder) cell(op Op, of string, i, n int) Expr {
	if i < 0 || i >= n {
		b.fail("reads %s %d of %d", of, i, n)
		return Expr{}
	}
	return Expr{&node{op: op, index: i}}
}

// mostPublics is more public values than any statement has.
const mostPublics = 1 << 20

// Public returns public value i of the statement.
func (b *Builder) Public(i int) Expr {
	if i < 0 || i >= mostPublics {
		b.fail("reads public value %d, accepted are 0 to %d", i, mostPublics-1)
		return Expr{}
	}
	return Expr{&node{op: Public, index: i}}
}

// Zero adds the constraint that the given expression is 0. The first argument selects the rows in which the
// constraint holds. Errors refer to the constraint by the given name.
func (b *Builder) Zero(where Where, name string, zero Expr) {
	if where > Transition {
		b.fail("constraint %q holds nowhere", name)
		return
	}
	b.constraints = append(b.constraints, Constraint{name, where, zero})
}

// Ask states that rows ask for a tuple on a bus. The second argument is an expression that decides which
// rows ask for the tuple. If the value of the expression is 1 in a row, the row asks once. If the value is
// 0, the row does not ask. Compile adds the constraint that the value is 0 or 1, unless the stated
// constraints imply it.
func (b *Builder) Ask(bus string, when Expr, tuple ...Expr) {
	b.message(Message{bus, asksOnce, 1, when, tuple})
}

// AskUpTo states that rows ask for a tuple on a bus. The value of multiplicity is how many times a row asks.
// The table must constrain this value to be a number between 0 and the value of the parameter most. Proofs
// are accepted only for heights at which all rows together ask on each bus fewer times than the field's
// order.
func (b *Builder) AskUpTo(most uint64, bus string, multiplicity Expr, tuple ...Expr) {
	if most < 1 {
		b.fail("asks %q for a tuple up to 0 times, accepted are 1 and more", bus)
	}
	b.message(Message{bus, asks, most, multiplicity, tuple})
}

// Answer states that rows answer with a tuple on a bus. The value of multiplicity is how many times a row
// answers. The prover may choose this value. The table must constrain the tuple, so that the tuple says
// something true whenever the multiplicity is not 0. The tuple may be true only because of other tuples, for
// which the row asks. Then the rows that answer with those other tuples must not rely on this tuple.
func (b *Builder) Answer(bus string, multiplicity Expr, tuple ...Expr) {
	b.message(Message{bus, answers, 0, multiplicity, tuple})
}

// Link states that rows ask for a tuple on a bus or answer with it. A fixed column decides which of the two
// a row does, and how many times. The second argument is the column's index. If a row's cell in the column
// is a number n in the lower half of the field, the row answers with the tuple n times. If the cell is -n,
// the row asks for the tuple n times. An image cannot decide this, because then nothing would bound how often it
// asks.
func (b *Builder) Link(bus string, fixed int, tuple ...Expr) {
	if b.image {
		b.fail("links bus %q by column %d of an image, accepted are columns of Fixed", bus, fixed)
		return
	}
	b.message(Message{bus, links, 0, b.Fixed(fixed), tuple})
}

func (b *Builder) message(m Message) {
	if len(m.tuple) == 0 {
		b.fail("sends an empty tuple to bus %q", m.Bus)
		return
	}
	b.messages = append(b.messages, m)
}

func (b *Builder) fail(format string, a ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, a...)
	}
}

// Compile returns the table's constraints and messages as a Program. It returns zkbench.ErrParams if the
// table has no columns or states nothing, if the function t.State reads a column or public value that does
// not exist, if the fixed columns do not all have the same height, a power of two and at least 2, or if the table
// has both fixed columns and an image.
func (t *Table) Compile() (*Program, error) {
	if t.Columns < 1 || t.State == nil {
		return nil, fmt.Errorf("%w: table %q has %d columns, accepted are 1 and more and a State function", zkbench.ErrParams, t.Name, t.Columns)
	}
	for i, c := range t.Fixed {
		if n := len(c); n < 2 || n&(n-1) != 0 || n != len(t.Fixed[0]) {
			return nil, fmt.Errorf("%w: table %q: fixed column %d has %d rows, accepted is one power of two for all, at least 2", zkbench.ErrParams, t.Name, i, n)
		}
	}
	if t.Image < 0 || t.Image > 0 && len(t.Fixed) > 0 {
		return nil, fmt.Errorf("%w: table %q: image of %d columns beside %d fixed columns, accepted are 0 and more, and only one of the two", zkbench.ErrParams, t.Name, t.Image, len(t.Fixed))
	}
	b := &Builder{columns: t.Columns, fixed: len(t.Fixed) + t.Image, image: t.Image > 0}
	t.State(b)
	if b.err == nil && len(b.constraints)+len(b.messages) == 0 {
		b.fail("states nothing")
	}
	if b.err != nil {
		return nil, fmt.Errorf("%w: table %q: %w", zkbench.ErrParams, t.Name, b.err)
	}
	return compile(b, t.Fixed), nil
}
