// Package inside is how this module's tests look into a circuit of package plonkish, and leave one of
// its constraints out. The methods that do so take a Key, which nobody outside has
// by accident. They change the witness of a builder of one's own, or a copy of a circuit, and no key.
package inside

import "github.com/consensys/gnark-crypto/ecc/bn254/fr"

// Key is the argument of methods that are for this module's tests. Its field is of this package alone, so
// that no other package's struct is assignable to it.
type Key struct{ _ forTests }

type forTests struct{}

// Circuit is a circuit as constraints on the values of its cells.
type Circuit struct {
	// Unknown is the number of a cell's value, by cell: column by column. Cells that are wired are one
	// unknown.
	Unknown []int
	Columns int
	Values  []fr.Element // by unknown
	// Constraints are all of them: each term of each row's gate, each lookup of each row, and of each
	// cell that is wired that it holds what the others hold.
	Constraints []Constraint
	// Check checks the circuit with other values of its unknowns, as it is or with a constraint left out.
	// If that is a wire, the last value, one more than there are unknowns, is its cell's own either way.
	Check func(values []fr.Element, constraint int, leftOut bool) error
}

// Constraint is one of a circuit.
type Constraint struct {
	// Line is where the source adds the row, which gate and term or which lookup and table it is, and which
	// of the row's parameters it reads that are not 0. Name has the values of these parameters too.
	Line, Name string

	Row   int
	Zero  Poly           // of a term: it is 0
	Tuple []Poly         // of a lookup: it is a row of Table
	Table [][]fr.Element // by column
	Cell  int            // of a wire; -1: none
	// TableName is that of Table.
	TableName string
}

// Label puts words before the lines and names of constraints, by their row, to tell instances apart.
func (c *Circuit) Label(label func(row int) string) {
	for i := range c.Constraints {
		k := &c.Constraints[i]
		l := label(k.Row)
		k.Line, k.Name = l+k.Line, l+k.Name
	}
}

// Poly is a polynomial in cells, as steps of which the last is its value.
type Poly []Step

// Op is what a Step does.
type Op uint8

// The operations of steps.
const (
	Const Op = iota
	Cell
	Add
	Sub
	Mul
)

// Step is one step: Value, the cell X, or an operation on the steps X and Y.
type Step struct {
	Op    Op
	X, Y  int
	Value fr.Element
}

// Cells are those that a polynomial reads, each once.
func (p Poly) Cells() []int {
	var all []int
	for _, s := range p {
		if s.Op == Cell {
			all = append(all, s.X)
		}
	}
	return all
}

// At is the polynomial's value where a cell has the given one.
func (p Poly) At(value func(cell int) fr.Element) fr.Element {
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
