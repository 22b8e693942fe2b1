// Package inside lets this module's tests look into a circuit of package plonkish, and leave one of its
// constraints out. Its functions take a Builder or a Circuit of package plonkish, whose exported methods do not
// include what the functions do. The functions change only the caller's own Builder or a copy of a circuit. They
// never change a proving key or a verifying key.
package inside

import "github.com/consensys/gnark-crypto/ecc/bn254/fr"

// BuilderAccess is embedded in plonkish.Builder, and gives the functions of this package access to it.
type BuilderAccess struct {
	sites func()
	plant func(v uint32, value fr.Element)
}

// NewBuilderAccess returns the access to a Builder that does what Sites and Plant say by these two functions.
func NewBuilderAccess(sites func(), plant func(v uint32, value fr.Element)) BuilderAccess {
	return BuilderAccess{sites, plant}
}

func (a BuilderAccess) access() BuilderAccess { return a }

// Builder is a *plonkish.Builder that NewBuilder returned.
type Builder interface{ access() BuilderAccess }

// Sites makes the Builder record which source lines add its rows.
func Sites(b Builder) { b.access().sites() }

// Plant makes the Builder give the Var v the given value. This value replaces the one that v has or, if v does
// not exist yet, the one that v will be created with. Gadgets compute with that value from then on. The type
// parameter V stands for plonkish.Var.
func Plant[V ~uint32](b Builder, v V, value fr.Element) { b.access().plant(uint32(v), value) }

// CircuitAccess is embedded in plonkish.Circuit, and gives Look access to it.
type CircuitAccess struct{ inside func() *Circuit }

// NewCircuitAccess returns the access to a circuit that does what Look says by this function.
func NewCircuitAccess(inside func() *Circuit) CircuitAccess { return CircuitAccess{inside} }

func (a CircuitAccess) access() CircuitAccess { return a }

// Look returns a circuit as constraints on values. The parameter c is a *plonkish.Circuit that Build returned. The
// function Check in the result can leave one constraint out. The arithmetization must not have late columns,
// which are filled after a challenge has been drawn.
func Look(c interface{ access() CircuitAccess }) *Circuit { return c.access().inside() }

// Circuit describes a circuit by constraints on the values of its cells.
type Circuit struct {
	// Unknown maps a cell to the number of its value. Cells are numbered column by column. Cells that are
	// wired together have one number.
	Unknown []int
	Columns int
	Values  []fr.Element // by unknown
	// Constraints lists all constraints: each term of each row's gate, each lookup of each row, and each
	// wire. A wire says that one cell holds what the cells wired to it hold.
	Constraints []Constraint
	// Check checks the circuit with other values of its unknowns, either as it is or with one constraint
	// left out. If that constraint is a wire, values has one element more than there are unknowns. The last
	// element is then the value of the wire's cell, whether or not the wire is left out.
	Check func(values []fr.Element, constraint int, leftOut bool) error
}

// Constraint describes one constraint: a term, a lookup or a wire.
type Constraint struct {
	// Line says where the source adds the row, and to which gate and term, or to which lookup and table, the
	// constraint belongs. It also lists the row's parameters that the constraint reads and that are not 0.
	// Name has the values of these parameters too.
	Line, Name string

	Row   int
	Zero  Poly           // of a term, which must be 0
	Tuple []Poly         // of a lookup, which must be a row of Table
	Table [][]fr.Element // by column
	Cell  int            // of a wire; -1 for terms and lookups
	// TableName is the name of Table.
	TableName string
}

// Label gives each constraint a prefix: the result of the function label for the constraint's row. The prefix
// precedes the source line and the name of the constraint in reports, so that constraints with the same line or
// name can be told apart.
func (c *Circuit) Label(label func(row int) string) {
	for i := range c.Constraints {
		k := &c.Constraints[i]
		l := label(k.Row)
		k.Line, k.Name = l+k.Line, l+k.Name
	}
}

// Poly is a polynomial in cells, as a list of steps. The result of the last step is the polynomial's value.
type Poly []Step

// Op is the operation of a Step.
type Op uint8

// The operations of the steps of a Poly.
const (
	Const Op = iota
	Cell
	Add
	Sub
	Mul
)

// Step is the constant Value, the value of cell X, or an operation on the results of steps X and Y.
type Step struct {
	Op    Op
	X, Y  int
	Value fr.Element
}

// Cells returns the cells that the polynomial reads, each once.
func (p Poly) Cells() []int {
	var all []int
	for _, s := range p {
		if s.Op == Cell {
			all = append(all, s.X)
		}
	}
	return all
}

// Evaluate returns the value of the polynomial. It calls the function value to get what a cell holds.
func (p Poly) Evaluate(value func(cell int) fr.Element) fr.Element {
	values := make([]fr.Element, len(p))
	for i, s := range p {
		switch s.Op {
		case Const:
			values[i] = s.Value
		case Cell:
			values[i] = value(s.X)
		case Add:
			values[i].Add(&values[s.X], &values[s.Y])
		case Sub:
			values[i].Sub(&values[s.X], &values[s.Y])
		default:
			values[i].Mul(&values[s.X], &values[s.Y])
		}
	}
	return values[len(p)-1]
}
