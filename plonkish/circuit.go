package plonkish

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// blinded is the number of rows at the end whose cells are random: a column is opened at two
// points at most, and commitment and openings take a random element each; one more makes the
// running product, of which one row less is random, as hiding.
const blinded = 4

// BlindedRows is the number of rows at the end of each circuit that hold random numbers, for zero knowledge.
// No gate and no table can use them.
const BlindedRows = blinded

const minSize, maxSize = 8, 1 << poly.TwoAdicity

// Circuit is a statement and a witness: rows of gates, with values in their cells. It is immutable and safe
// for concurrent use.
type Circuit struct {
	circuitAccess
	arith   *Arithmetization
	n       int // rows, a power of two
	kinds   []fixed
	rows    []Kind         // the first are those of public values, without a gate
	cells   [][]Var        // by permuted column
	free    [][]fr.Element // by other column
	values  []fr.Element
	public  int
	tables  []*Table
	entries map[entry]int // of the tables, and their rows
	sigma   [][]uint32    // by permuted column and row: the next cell of those that are the same
	digest  [sha256.Size]byte

	late      []lateRows
	challenge fr.Element // of late cells

	sites []string // where the Builder's rows are added, for tests; nil: not noted
}

// Build returns the circuit of all rows so far. A Builder can build only one circuit. Build returns the first
// error of the Builder's methods. This error wraps zkbench.ErrParams. Build returns an *UnheldError if a cell
// or a public value could be any number, and a *zkbench.LimitError if there are too many rows.
func (b *Builder) Build() (*Circuit, error) {
	if b.err != nil {
		return nil, b.err
	}
	if len(b.kinds) == 0 {
		return nil, fmt.Errorf("%w: a builder without an arithmetization; use NewBuilder", zkbench.ErrParams)
	}
	if err := b.checkAfterLast(); err != nil {
		return nil, err
	}
	if b.zero != 0 {
		cells := make([]Var, b.zeroIn+1)
		cells[b.zeroIn] = b.zero
		b.Row(b.zeroAs, cells)
	}
	b.fail("this builder has built its circuit already")
	public := len(b.public)
	used := public + len(b.rows)
	capacity := max(used, tableRows(b.tables))
	n := max(minSize, 1<<bits.Len(uint(capacity+blinded-1)))
	if most := b.arith.maxSize(); n > most {
		return nil, &zkbench.LimitError{What: "rows of a circuit", Estimate: int64(capacity), Max: int64(most - blinded)}
	}
	arith := b.arith // a pointer to the Builder's would keep all of the Builder
	c := &Circuit{
		arith: &arith, n: n, kinds: b.kinds, rows: append(make([]Kind, public, used), b.rows...),
		cells: slices.Clone(b.cells), values: b.values, public: public, free: slices.Clone(b.free), tables: b.tables, entries: entries(b.tables), sites: b.sites,
	}
	for i := range c.cells {
		first := make([]Var, public, used)
		if i == 0 {
			copy(first, b.public)
		}
		c.cells[i] = append(first, c.cells[i]...)
	}
	for i := range c.free {
		c.free[i] = append(make([]fr.Element, public, used), c.free[i]...)
	}
	for _, l := range b.late {
		c.late = append(c.late, lateRows{public + l.first, public + l.end, l.fill})
	}
	c.wire(b.root)
	if err := c.checkHeld(b.givenCells()); err != nil {
		return nil, err
	}
	c.digest = c.sum()
	c.circuitAccess = inside.NewCircuitAccess(c.inside)
	return c, nil
}

// maxSize returns the largest size at which 32 bits can number all permuted cells, and those of one more
// column for public values.
func (a *Arithmetization) maxSize() int {
	return min(maxSize, 1<<(bits.Len64(1<<32/uint64(a.Permuted+1))-1))
}

// exprs returns what a row's gate and lookups read, without the parts that are multiplied by a parameter of
// 0.
func (f *fixed) exprs(a *Arithmetization) (all []Expr) {
	if f.gate >= 0 {
		for _, t := range a.Gates[f.gate].Terms {
			all = append(all, t.Zero)
		}
	}
	for i, t := range f.tables {
		if t > 0 {
			all = append(all, a.Lookups[i].Tuple...)
		}
	}
	for i, e := range all {
		all[i] = evaluate(compile(e), f.used())
	}
	return all
}

// used reports which parameters are not 0.
func (f *fixed) used() usedParams {
	used := make(usedParams, len(f.params))
	for i := range used {
		used[i] = !f.params[i].IsZero()
	}
	return used
}

// wire links all cells that hold the same value in one cycle. Public value i counts as one more cell, of a
// column after the permuted ones; the cycle meets it just before the first cell of row i.
func (c *Circuit) wire(root func(Var) Var) {
	label := func(column, row int) uint32 { return uint32(column*c.n + row) }
	c.sigma = make([][]uint32, len(c.cells))
	for j := range c.sigma {
		c.sigma[j] = make([]uint32, len(c.rows))
	}
	first := make([]uint32, len(c.values))
	latest := make([]*uint32, len(c.values))
	for j, column := range c.cells {
		for i, v := range column {
			here, next := label(j, i), &c.sigma[j][i]
			if j == 0 && i < c.public {
				here = label(len(c.cells), i)
			}
			v = root(v)
			switch {
			case v == 0:
				*next = here
				continue
			case latest[v] == nil:
				first[v] = here
			default:
				*latest[v] = here
			}
			*next, latest[v] = first[v], next
		}
	}
}

// sum returns the digest of the circuit without its values.
func (c *Circuit) sum() (digest [sha256.Size]byte) {
	h := sha256.New()
	number := func(x int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(x))) }
	write := func(all []fr.Element) {
		for i := range all {
			e := all[i].Bytes()
			h.Write(e[:])
		}
	}
	arith := c.arith.digest()
	h.Write(arith[:])
	number(c.n)
	number(len(c.rows))
	number(c.public)
	number(len(c.kinds))
	for _, k := range c.kinds {
		number(k.gate)
		write(k.params)
		for _, t := range k.tables {
			number(t)
		}
	}
	number(len(c.tables))
	for _, t := range c.tables {
		number(len(t.Columns))
		for _, column := range t.Columns {
			number(len(column))
			write(column)
		}
	}
	buffer := make([]byte, 0, 4*len(c.rows))
	for _, k := range c.rows {
		buffer = binary.LittleEndian.AppendUint32(buffer, uint32(k))
	}
	h.Write(buffer)
	for _, s := range c.sigma {
		buffer = buffer[:0]
		for _, cell := range s {
			buffer = binary.LittleEndian.AppendUint32(buffer, cell)
		}
		h.Write(buffer)
	}
	h.Sum(digest[:0])
	return digest
}

// digest hashes the whole Arithmetization except the names of columns.
func (a *Arithmetization) digest() (digest [sha256.Size]byte) {
	h := sha256.New()
	expr := func(e Expr) {
		for _, step := range compile(e) {
			fmt.Fprintf(h, "%d %d %d %d %d %x\n", step.op, step.x, step.y, step.variable.kind, step.variable.index, step.value.Bytes())
		}
	}
	fmt.Fprintf(h, "%q %d %d %d %d %d %d\n", a.Name, len(a.Columns), a.Permuted, a.Late, a.Params, len(a.Gates), len(a.Lookups))
	for _, g := range a.Gates {
		fmt.Fprintf(h, "gate %q %d\n", g.Name, len(g.Terms))
		for _, t := range g.Terms {
			fmt.Fprintf(h, "term %q\n", t.Name)
			expr(t.Zero)
		}
	}
	for _, l := range a.Lookups {
		fmt.Fprintf(h, "lookup %q %d\n", l.Name, len(l.Tuple))
		for _, e := range l.Tuple {
			expr(e)
		}
	}
	h.Sum(digest[:0])
	return digest
}

// Rows returns the number of used rows, including those of public values.
func (c *Circuit) Rows() int { return len(c.rows) }

// Size returns the number of all rows (used, unused and blinded), which is a power of two.
func (c *Circuit) Size() int { return c.n }

// Public returns the public values.
func (c *Circuit) Public() []fr.Element {
	public := make([]fr.Element, c.public)
	for i := range public {
		public[i] = c.values[c.cells[0][i]]
	}
	return public
}

// cell returns what a column holds in a used row.
func (c *Circuit) cell(column, row int) fr.Element {
	if column < len(c.cells) {
		return c.values[c.cells[column][row]]
	}
	return c.free[column-len(c.cells)][row]
}

// UnsatisfiedError reports the first constraint that a witness breaks. It names a gate and its term, a lookup
// and its table, or two wired cells that differ. It wraps zkbench.ErrWitness and never contains a value of
// the witness.
type UnsatisfiedError struct {
	Row        int
	Gate, Term string
	Cells      []string // columns that the term reads
}

func (e *UnsatisfiedError) Error() string {
	return fmt.Sprintf("%v: row %d: gate %q: term %q of %q", zkbench.ErrWitness, e.Row, e.Gate, e.Term, e.Cells)
}

func (e *UnsatisfiedError) Unwrap() error { return zkbench.ErrWitness }

// Wiring is the value of the field Gate in an UnsatisfiedError which reports that two wired cells differ. No
// gate and no lookup of an arithmetization has that name.
const Wiring = "wiring"

// Check returns nil if the witness satisfies the circuit, and an *UnsatisfiedError if not. To check late
// columns (columns that depend on a proof's challenge), it derives one challenge from the values in the other
// columns.
func (c *Circuit) Check() error {
	return c.guess().check(context.Background(), executor.Serial())
}

// guess returns the circuit with late cells, for a challenge that all its other values decide.
func (c *Circuit) guess() *Circuit {
	if c.arith.Late == 0 {
		return c
	}
	return c.guessFrom(c.witness())
}

// guessFrom does what guess does; witness is the digest of the values.
func (c *Circuit) guessFrom(witness []byte) *Circuit {
	var e fr.Element
	h := sha512.Sum512(witness)
	return c.withChallenge(*e.SetBytes(h[:]))
}

// withChallenge returns the circuit with its late cells filled.
func (c *Circuit) withChallenge(challenge fr.Element) *Circuit {
	if c.arith.Late == 0 {
		return c
	}
	d := *c
	d.challenge, d.free = challenge, slices.Clone(c.free)
	late := d.free[len(d.free)-c.arith.Late:]
	for i := range late {
		late[i] = slices.Clone(late[i])
	}
	for _, l := range c.late {
		cells := make([][]fr.Element, len(late))
		for i := range cells {
			cells[i] = late[i][l.first:l.end:l.end]
		}
		l.fill(challenge, cells)
	}
	return &d
}

func (c *Circuit) check(ctx context.Context, ex executor.Executor) error {
	gates := make([][]program, len(c.arith.Gates))
	for i, g := range c.arith.Gates {
		for _, t := range g.Terms {
			gates[i] = append(gates[i], compile(t.Zero))
		}
	}
	err := inOrder(ctx, ex, len(c.rows), rowsOfTask, func(lo, hi int) error { return c.checkRows(gates, lo, hi) })
	if err != nil {
		return err
	}
	if len(c.tables) > 0 {
		tuples := c.tuples()
		err := inOrder(ctx, ex, len(c.rows), rowsOfTask, func(lo, hi int) error { return c.checkLookups(tuples, lo, hi) })
		if err != nil {
			return err
		}
	}
	return inOrder(ctx, ex, len(c.sigma)*len(c.rows), wiresOfTask, c.checkWires)
}

// The rows and the wires that a task checks: enough that they take far longer than a call of Do.
const (
	rowsOfTask  = 1 << 8
	wiresOfTask = 1 << 13
)

// inOrder calls check for ranges of n, of the given size, in tasks. It returns the error of the first range that has
// one.
func inOrder(ctx context.Context, ex executor.Executor, n, size int, check func(lo, hi int) error) error {
	errs := make([]error, (n+size-1)/size)
	err := ex.Do(ctx, len(errs), func(_ context.Context, i int) error {
		errs[i] = check(i*size, min((i+1)*size, n))
		return nil
	})
	if err != nil {
		return err
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkRows checks the gates of rows from lo to hi.
func (c *Circuit) checkRows(gates [][]program, lo, hi int) error {
	cells := reader{Circuit: c}
	for cells.row = lo; cells.row < hi; cells.row++ {
		gate := c.kinds[c.rows[cells.row]].gate
		if gate < 0 {
			continue
		}
		for i, p := range gates[gate] {
			if e := cells.evaluate(p); !e.IsZero() {
				g := c.arith.Gates[gate]
				return &UnsatisfiedError{Row: cells.row, Gate: g.Name, Term: g.Terms[i].Name, Cells: c.arith.names(p.variables())}
			}
		}
	}
	return nil
}

// checkLookups checks the lookups of rows from lo to hi.
func (c *Circuit) checkLookups(tuples [][]program, lo, hi int) error {
	var missing error
	c.lookups(tuples, lo, hi, func(row, i, at int) bool {
		if at < 0 {
			l := &c.arith.Lookups[i]
			missing = &UnsatisfiedError{Row: row, Gate: l.Name, Term: c.tables[c.kinds[c.rows[row]].tables[i]-1].Name, Cells: c.arith.names(l.reads())}
		}
		return at >= 0
	})
	return missing
}

// checkWires checks the wires of the permuted cells from lo to hi, which are numbered column by column.
func (c *Circuit) checkWires(lo, hi int) error {
	for i := lo; i < hi; i++ {
		j, row := i/len(c.rows), i%len(c.rows)
		column, other := int(c.sigma[j][row])/c.n, int(c.sigma[j][row])%c.n
		if column == len(c.cells) {
			column = 0 // a public value is that of the first cell of its row
		}
		if c.cell(j, row) != c.cell(column, other) {
			return &UnsatisfiedError{Row: row, Gate: Wiring, Term: fmt.Sprintf("row %d", other), Cells: []string{c.arith.Columns[j], c.arith.Columns[column]}}
		}
	}
	return nil
}

// reader evaluates programs in a row of a circuit.
type reader struct {
	*Circuit
	row     int
	scratch []fr.Element
}

func (r *reader) evaluate(p program) fr.Element {
	if len(r.scratch) < len(p) {
		r.scratch = make([]fr.Element, len(p))
	}
	for i := range p {
		s, z := &p[i], &r.scratch[i]
		switch s.op {
		case opConst:
			*z = s.value
		case opVariable:
			*z = r.value(s.variable)
		case opAdd:
			z.Add(&r.scratch[s.x], &r.scratch[s.y])
		case opSub:
			z.Sub(&r.scratch[s.x], &r.scratch[s.y])
		default:
			z.Mul(&r.scratch[s.x], &r.scratch[s.y])
		}
	}
	return r.scratch[len(p)-1]
}

func (r *reader) value(v variable) (e fr.Element) {
	switch {
	case v.kind == scalar:
		return r.challenge
	case v.kind == param:
		return r.kinds[r.rows[r.row]].params[v.index]
	case v.kind == cell:
		return r.cell(v.index, r.row)
	case r.row+1 < len(r.rows):
		return r.cell(v.index, r.row+1)
	}
	return e
}

func (a *Arithmetization) names(read []variable) []string {
	var names []string
	for _, v := range read {
		switch v.kind {
		case cell:
			names = append(names, a.Columns[v.index])
		case nextCell:
			names = append(names, a.Columns[v.index]+"'")
		}
	}
	return names
}
