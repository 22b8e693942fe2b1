package plonkish

import (
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// Var identifies a value of a Builder's witness. Cells of permuted columns hold Vars, and cells that hold the
// same Var are wired together. The zero Var leaves a cell empty, and a prover can put any number there. So
// Build refuses the zero Var in a cell that a gate or a lookup reads. For the number 0 use Builder.Zero.
type Var uint32

// Kind identifies what is fixed in a row: its gate, parameters and lookups. A row of the zero Kind has no
// gate, no parameters and no lookups.
type Kind uint32

// Builder makes a Circuit, row by row, together with its witness. Its methods do not return errors; Build
// returns the first error that occurred in a method. Circuit.Check checks the witness.
type Builder struct {
	builderAccess
	arith   Arithmetization
	kinds   []fixed
	rows    []Kind
	cells   [][]Var        // by permuted column
	free    [][]fr.Element // by other column
	values  []fr.Element   // of Vars; the first belongs to the zero Var
	same    []Var          // of Vars: another that is the same, or itself
	public  []Var
	tables  []*Table // copies of those that were looked up in
	given   []*Table // the originals, in the same order
	late    []lateRows
	short   []shortRow // with fewer free cells than there are
	zero    Var
	zeroAs  Kind               // the zero's row
	zeroIn  int                // and column
	sites   []string           // of rows, for tests; nil: not noted
	planted map[Var]fr.Element // for tests
	err     error
}

// shortRow is a row whose free cells are not all given, and how many are.
type shortRow struct{ row, given int }

// lateRows is a range of rows whose late cells fill computes.
type lateRows struct {
	first, end int
	fill       func(challenge fr.Element, cells [][]fr.Element)
}

type fixed struct {
	gate   int // index in the arithmetization; -1: none
	params []fr.Element
	tables []int // by lookup of the arithmetization; 0: none
}

// NewBuilder returns a Builder for a circuit of the given arithmetization, which it copies.
func NewBuilder(a Arithmetization) *Builder {
	a = a.clone()
	b := &Builder{
		arith: a, kinds: []fixed{a.kind(-1)}, values: make([]fr.Element, 1), same: make([]Var, 1),
		cells: make([][]Var, max(0, a.Permuted)), free: make([][]fr.Element, max(0, len(a.Columns)-a.Permuted)),
		err: a.check(),
	}
	b.builderAccess = inside.NewBuilderAccess(b.noteSites, b.plant)
	return b
}

// fail keeps the first error, for Build.
func (b *Builder) fail(format string, a ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, a...)...)
	}
}

// Var adds a value to the witness.
func (b *Builder) Var(value fr.Element) Var {
	v := Var(len(b.values))
	if planted, ok := b.planted[v]; ok {
		value = planted
	}
	b.values, b.same = append(b.values, value), append(b.same, v)
	return v
}

// Public adds a public input: a value that the verifier knows too.
func (b *Builder) Public(value fr.Element) Var {
	v := b.Var(value)
	b.public = append(b.public, v)
	return v
}

// Value returns the value of v. If v is the zero Var, or not a Var of this Builder, Value returns 0 and
// Build fails.
func (b *Builder) Value(v Var) fr.Element {
	if v == 0 || int(v) >= len(b.values) {
		b.fail("value %d; accepted are 1 to %d", v, len(b.values)-1)
		v = 0
	}
	return b.values[v]
}

// Equal wires all cells that hold x to all cells that hold y, so that the two values must be equal.
func (b *Builder) Equal(x, y Var) {
	if x == 0 || y == 0 || int(max(x, y)) >= len(b.values) {
		b.fail("values %d and %d to be equal; accepted are 1 to %d", x, y, len(b.values)-1)
		return
	}
	x, y = b.root(x), b.root(y)
	b.same[max(x, y)] = min(x, y)
}

// root returns the smallest Var that is wired to v.
func (b *Builder) root(v Var) Var {
	for b.same[v] != v {
		b.same[v] = b.same[b.same[v]]
		v = b.same[v]
	}
	return v
}

// Kind returns the Kind of rows with gate g and the given parameters. Parameters that are not given are 0. If
// g is nil, the rows have no gate. Parameters decide what a gate requires: an arithmetic gate whose
// parameters are all 0 requires nothing. Each call makes a new Kind, so call it once for many rows.
func (b *Builder) Kind(g *Gate, params ...fr.Element) Kind {
	i := slices.IndexFunc(b.arith.Gates, g.equal)
	switch {
	case i < 0 && g != nil:
		b.fail("a gate that arithmetization %q does not have", b.arith.Name)
		return 0
	case len(params) > b.arith.Params:
		b.fail("%d parameters of a row; accepted are up to %d", len(params), b.arith.Params)
		return 0
	}
	f := b.arith.kind(i)
	copy(f.params, params)
	return b.newKind(f)
}

func (a *Arithmetization) kind(gate int) fixed {
	return fixed{gate, make([]fr.Element, max(0, a.Params)), make([]int, len(a.Lookups))}
}

func (b *Builder) newKind(f fixed) Kind {
	b.kinds = append(b.kinds, f)
	return Kind(len(b.kinds) - 1)
}

// Row adds a row of kind k. The slice vars holds the row's cells in the permuted columns. The slice free
// holds its cells in the other columns, which are called free cells.
//
// If a cell is not given, its value is not fixed to 0: a prover can put any number there. So Build refuses
// such a cell if a gate or a lookup reads it. If a free cell is given, the prover can still choose its
// value, so gates and lookups must constrain it.
//
// A gate may read the next row, which is the next one added. So the last row must not have such a gate.
func (b *Builder) Row(k Kind, vars []Var, free ...fr.Element) {
	if int(k) >= len(b.kinds) || len(vars) > len(b.cells) || len(free) > len(b.free) {
		b.fail("a row of kind %d with %d values and %d free cells; accepted are %d kinds, %d values and %d free cells",
			k, len(vars), len(free), len(b.kinds), len(b.cells), len(b.free))
		return
	}
	b.rows = append(b.rows, k)
	if b.sites != nil {
		b.sites = append(b.sites, site())
	}
	for i := range b.cells {
		var v Var
		if i < len(vars) {
			v = vars[i]
		}
		if int(v) >= len(b.values) {
			b.fail("row %d holds value %d; accepted are 0 to %d", len(b.rows)-1, v, len(b.values)-1)
		}
		b.cells[i] = append(b.cells[i], v)
	}
	if len(free) < len(b.free) {
		b.short = append(b.short, shortRow{len(b.rows) - 1, len(free)})
	}
	for i := range b.free {
		var e fr.Element
		if i < len(free) {
			e = free[i]
		}
		b.free[i] = append(b.free[i], e)
	}
}

// Late registers the function fill for the n rows that were added last. The function computes the cells of
// these rows in the late columns. These are the columns that depend on the challenge of a proof (see the
// function Challenge). The function fill sets cells[i][j], the cell of late column i in row j of these n
// rows. Each check and each proof calls fill more than once, perhaps in several goroutines. The cells that
// fill sets must depend only on the challenge and on data that does not change.
func (b *Builder) Late(n int, fill func(challenge fr.Element, cells [][]fr.Element)) {
	if b.arith.Late == 0 || n < 0 || n > len(b.rows) || fill == nil {
		b.fail("a function for %d rows of %d late columns; accepted are 0 to %d rows, 1 column and more, and a function that is not nil", n, b.arith.Late, len(b.rows))
		return
	}
	b.late = append(b.late, lateRows{len(b.rows) - n, len(b.rows), fill})
}

// Zero returns a Var for the number 0. Each call returns the same Var. The circuit gets one more row at its
// end. This row fixes the Var to 0. For this row the arithmetization must have a gate that can require one
// permuted cell to be 0 without other requirements. The gate must do this with parameters that are all 0, or
// with one parameter that is 1 and others that are 0. Every arithmetic gate of this package can do this. If
// the arithmetization has no gate that can do it, Build returns zkbench.ErrParams.
func (b *Builder) Zero() Var {
	if b.zero == 0 {
		var ok bool
		if b.zeroAs, b.zeroIn, ok = b.zeroKind(); !ok {
			b.fail("a zero in arithmetization %q, which has no gate that fixes one cell to 0", b.arith.Name)
		}
		b.zero = b.Var(fr.Element{})
	}
	return b.zero
}

// zeroKind returns a kind of rows that fix one cell to 0, and that cell's permuted column.
func (b *Builder) zeroKind() (k Kind, column int, ok bool) {
	for i, g := range b.arith.Gates {
		for p := -1; p < b.arith.Params; p++ {
			f := b.arith.kind(i)
			if p >= 0 {
				f.params[p].SetOne()
			}
			if column, ok := g.fixes(f.params); ok && column < b.arith.Permuted {
				return b.newKind(f), column, true
			}
		}
	}
	return 0, 0, false
}

// givenCells returns a function that reports, for a row of the circuit, how many free cells are given and
// whether the late cells are filled.
func (b *Builder) givenCells() func(row int) (given int, filled bool) {
	short := make(map[int]int, len(b.short))
	for _, s := range b.short {
		short[s.row] = s.given
	}
	return func(row int) (int, bool) {
		row -= len(b.public)
		given, ok := short[row]
		if !ok {
			given = len(b.free)
		}
		return given, slices.ContainsFunc(b.late, func(l lateRows) bool { return l.first <= row && row < l.end })
	}
}

// Rows returns the number of rows so far, including those of public values and of Zero.
func (b *Builder) Rows() int {
	n := len(b.public) + len(b.rows)
	if b.zero != 0 {
		n++
	}
	return n
}

// TableRows returns the number of rows of all tables so far. Circuit.Size is at least this number.
func (b *Builder) TableRows() int { return tableRows(b.tables) }
