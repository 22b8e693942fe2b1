package plonkish

import (
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// Var is a value of a Builder's witness, which cells of permuted columns hold. The zero Var is no
// value: a prover can put any number in its cell. Build refuses it in a cell that a gate or a lookup
// reads; the Var of 0 is Builder.Zero.
type Var uint32

// Kind is what is fixed in a row: its gate, parameters and lookups. The zero Kind has none.
type Kind uint32

// Builder makes a Circuit, row by row, together with its witness. What it is given is checked
// when the Circuit is built, or by Circuit.Check.
type Builder struct {
	arith   Arithmetization
	kinds   []fixed
	rows    []Kind
	cells   [][]Var        // by permuted column
	free    [][]fr.Element // by other column
	values  []fr.Element   // of Vars; the first stands for none
	same    []Var          // of Vars: another that is the same, or itself
	public  []Var
	tables  []*Table
	late    []lateRows
	short   []shortRow // with fewer free cells than there are
	zero    Var
	zeroAs  Kind               // the zero's row
	zeroIn  int                // and column
	sites   []string           // of rows, for tests; nil: not noted
	planted map[Var]fr.Element // for tests
	err     error
}

// shortRow is a row and how many of its free cells are given.
type shortRow struct{ row, given int }

// lateRows compute cells of late columns.
type lateRows struct {
	first, end int
	fill       func(challenge fr.Element, cells [][]fr.Element)
}

type fixed struct {
	gate   int // index in the arithmetization; -1: none
	params []fr.Element
	tables []int // by lookup of the arithmetization; 0: none
}

// NewBuilder begins a circuit of an arithmetization.
func NewBuilder(a Arithmetization) *Builder {
	return &Builder{
		arith: a, kinds: []fixed{a.kind(-1)}, values: make([]fr.Element, 1), same: make([]Var, 1),
		cells: make([][]Var, max(0, a.Permuted)), free: make([][]fr.Element, max(0, len(a.Columns)-a.Permuted)),
		err: a.check(),
	}
}

// fail keeps the first error, for Build.
func (b *Builder) fail(format string, a ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, a...)...)
	}
}

// Var is a new value.
func (b *Builder) Var(value fr.Element) Var {
	v := Var(len(b.values))
	if planted, ok := b.planted[v]; ok {
		value = planted
	}
	b.values, b.same = append(b.values, value), append(b.same, v)
	return v
}

// Public is a new value that a verifier knows.
func (b *Builder) Public(value fr.Element) Var {
	v := b.Var(value)
	b.public = append(b.public, v)
	return v
}

// Value is what a Var holds; there is none of the zero Var.
func (b *Builder) Value(v Var) fr.Element {
	if v == 0 || int(v) >= len(b.values) {
		b.fail("value %d; accepted are 1 to %d", v, len(b.values)-1)
		v = 0
	}
	return b.values[v]
}

// Equal wires all cells that hold x to those that hold y.
func (b *Builder) Equal(x, y Var) {
	if x == 0 || y == 0 || int(max(x, y)) >= len(b.values) {
		b.fail("values %d and %d to be equal; accepted are 1 to %d", x, y, len(b.values)-1)
		return
	}
	x, y = b.root(x), b.root(y)
	b.same[max(x, y)] = min(x, y)
}

// root is the least of the Vars that are the same.
func (b *Builder) root(v Var) Var {
	for b.same[v] != v {
		b.same[v] = b.same[b.same[v]]
		v = b.same[v]
	}
	return v
}

// Kind is of rows of a gate of the arithmetization, nil for none, with as many of the row's parameters as
// are given; the others are 0. A gate says with them what its terms say: with no parameters an
// arithmetic gate says nothing. Who has many rows of one asks once.
func (b *Builder) Kind(g *Gate, params ...fr.Element) Kind {
	i := slices.IndexFunc(b.arith.Gates, g.is)
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

// Row adds a row: what its cells of permuted columns hold, and then those of the other columns, the
// free ones. Cells that are missing are not 0: a prover can put any number there, and Build refuses
// those that a gate or a lookup reads. A gate may read the next row, which is the next one added, so
// that the last row is of none that does. A free cell that is given is the prover's choice too; what
// it is, gates and lookups must say.
func (b *Builder) Row(k Kind, vars []Var, free ...fr.Element) {
	if int(k) >= len(b.kinds) || len(vars) > len(b.cells) || len(free) > len(b.free) {
		b.fail("row of kind %d, %d values and %d others; accepted are %d kinds, %d values and %d others",
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
			b.fail("row %d holds value %d of %d", len(b.rows)-1, v, len(b.values)-1)
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

// Late has the cells of late columns, in the last n rows so far, filled when the challenge is known:
// cells[i][j] is that of late column i in row j of these n. It is called for each check and each
// proof, more than once and perhaps by several goroutines, and depends on nothing else that changes.
func (b *Builder) Late(n int, fill func(challenge fr.Element, cells [][]fr.Element)) {
	if b.arith.Late == 0 || n < 0 || n > len(b.rows) || fill == nil {
		b.fail("%d rows of %d late columns to be filled; accepted are 0 to %d, a late column and a function", n, b.arith.Late, len(b.rows))
		return
	}
	b.late = append(b.late, lateRows{len(b.rows) - n, len(b.rows), fill})
}

// Zero returns a Var of 0, the same one each time. A row of its own fixes it, the last one of the circuit.
// The row needs a gate of the arithmetization that, with all parameters 0 or one of them 1, says of a single
// permuted cell that it is 0, as the arithmetic gates do. In an arithmetization without such a gate Build returns
// zkbench.ErrParams.
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

// zeroKind is of rows that fix a cell of a permuted column to 0.
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

// given tells of a row of the circuit how many free cells are given, and whether late ones are filled.
func (b *Builder) given() func(row int) (given int, filled bool) {
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

// Rows is the number of rows so far, those of public values and of Zero included.
func (b *Builder) Rows() int {
	n := len(b.public) + len(b.rows)
	if b.zero != 0 {
		n++
	}
	return n
}

// TableRows is the number of rows of all tables so far: a circuit's size is at least that.
func (b *Builder) TableRows() int { return tableRows(b.tables) }
