package plonkish

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// Lookup is a tuple of expressions over a row of the circuit. In rows that use the lookup, the values of the
// tuple must be a row of a table. If the tuple and the table's rows have different lengths, the shorter is
// extended with zeros.
type Lookup struct {
	Name  string
	Tuple []Expr
}

// reads returns the variables of the tuple.
func (l *Lookup) reads() []variable {
	var all []variable
	for _, e := range l.Tuple {
		all = append(all, compile(e).variables()...)
	}
	return all
}

// Table is a table of constants, stored by column: up to four columns of equal length. A Builder copies a Table
// when LookUp first gets it. Later changes to the Table have no effect on the Builder or on its circuit.
type Table struct {
	Name    string
	Columns [][]fr.Element
}

// maxTuple is the maximum length of a tuple, and the maximum number of columns of a table.
const maxTuple = 4

func (t *Table) clone() *Table {
	c := &Table{t.Name, slices.Clone(t.Columns)}
	for i := range c.Columns {
		c.Columns[i] = slices.Clone(c.Columns[i])
	}
	return c
}

// rows returns the number of a table's rows.
func (t *Table) rows() int {
	if len(t.Columns) == 0 {
		return 0
	}
	return len(t.Columns[0])
}

// tableRows returns the number of rows of all tables, which are placed one below the other.
func tableRows(tables []*Table) int {
	n := 0
	for _, t := range tables {
		n += t.rows()
	}
	return n
}

// LookUp returns a kind like k, but rows of the new kind also use some of the arithmetization's lookups:
// lookup i with the first of the tables, lookup i+1 with the second, and so on. The tuple of each of these
// lookups must be a row of its table. If a table is nil, the lookup with its index stays as it is in kind k.
func (b *Builder) LookUp(k Kind, i int, tables ...*Table) Kind {
	if int(k) >= len(b.kinds) || i < 0 || i+len(tables) > len(b.arith.Lookups) {
		b.fail("lookup %d of kind %d; accepted are %d lookups, %d kinds", i+len(tables)-1, k, len(b.arith.Lookups), len(b.kinds))
		return 0
	}
	f := b.kinds[k]
	f.tables = slices.Clone(f.tables)
	for j, t := range tables {
		if t == nil {
			continue
		}
		id := slices.Index(b.given, t)
		if id < 0 {
			short := func(c []fr.Element) bool { return len(c) != t.rows() }
			if t.rows() == 0 || len(t.Columns) > maxTuple || slices.ContainsFunc(t.Columns, short) {
				b.fail("table %q of %d columns; accepted are 1 to %d columns of equal length with at least one row", t.Name, len(t.Columns), maxTuple)
				return 0
			}
			id, b.tables, b.given = len(b.tables), append(b.tables, t.clone()), append(b.given, t)
		}
		f.tables[i+j] = id + 1
	}
	return b.newKind(f)
}

// entry is a row of a table. Tables are numbered from 1.
type entry struct {
	table  int
	values [maxTuple]fr.Element
}

// entries returns the rows of all tables, with the number of the row where each first occurs.
func entries(tables []*Table) map[entry]int {
	all := make(map[entry]int, tableRows(tables))
	row := 0
	for i, t := range tables {
		for j := range t.rows() {
			e := entry{table: i + 1}
			for k, column := range t.Columns {
				e.values[k] = column[j]
			}
			if _, ok := all[e]; !ok {
				all[e] = row
			}
			row++
		}
	}
	return all
}

// tuples returns the programs of the tuples, by lookup.
func (c *Circuit) tuples() [][]program {
	tuples := make([][]program, len(c.arith.Lookups))
	for i, l := range c.arith.Lookups {
		for _, e := range l.Tuple {
			tuples[i] = append(tuples[i], compile(e))
		}
	}
	return tuples
}

// lookups calls found for each lookup of the rows from lo to hi, until found returns false. at is the row of the
// tables where the tuple is, or -1 if no row has it.
func (c *Circuit) lookups(tuples [][]program, lo, hi int, found func(row, lookup, at int) bool) {
	cells := reader{Circuit: c}
	for row := lo; row < hi; row++ {
		cells.row = row
		for i, table := range c.kinds[c.rows[row]].tables {
			if table == 0 {
				continue
			}
			e := entry{table: table}
			for j, p := range tuples[i] {
				e.values[j] = cells.evaluate(p)
			}
			at, ok := c.entries[e]
			if !ok {
				at = -1
			}
			if !found(row, i, at) {
				return
			}
		}
	}
}

// multiplicities returns how often each row of the tables is looked up.
func (c *Circuit) multiplicities(ctx context.Context, ex executor.Executor) ([]fr.Element, error) {
	m, tuples := make([]fr.Element, tableRows(c.tables)), c.tuples()
	counts := make([]atomic.Uint64, len(m))
	err := inOrder(ctx, ex, len(c.rows), rowsOfTask, func(lo, hi int) error {
		c.lookups(tuples, lo, hi, func(_, _, at int) bool {
			if at >= 0 {
				counts[at].Add(1)
			}
			return true
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return m, poly.InPieces(ctx, ex, len(m), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m[i].SetUint64(counts[i].Load())
		}
	})
}

// fraction is what a lookup, or the tables' row, adds to the running sum: top / bottom.
type fraction struct{ top, bottom Expr }

// fractions returns the fractions of the lookups in use, and of the tables, which subtracts m of its own. The
// number of a table is a lookup's weight, and the first part of its tuple. If it is 0, there is no lookup. A
// row of a table and the lookups of that row have the same weight (Haböck 2022/1530, section 3).
func (l *layout) fractions() []fraction {
	var all []fraction
	compressed := func(id Expr, tuple []Expr) Expr {
		var e Expr
		for _, x := range slices.Backward(tuple) {
			e = e.Mul(varExpr(scalar, eta)).Add(x)
		}
		return varExpr(scalar, rho).Add(id).Add(e.Mul(varExpr(scalar, eta)))
	}
	for i, used := range l.used.lookups {
		if used {
			tuple := make([]Expr, len(l.arith.Lookups[i].Tuple))
			for j, e := range l.arith.Lookups[i].Tuple {
				tuple[j] = evaluate(compile(e), usedParams(l.used.params))
			}
			all = append(all, fraction{varExpr(looked, i), compressed(varExpr(looked, i), tuple)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	var row []Expr
	for i := range l.used.width {
		row = append(row, varExpr(table, i+1))
	}
	id := varExpr(table, 0)
	return append(all, fraction{Expr{}.Sub(varExpr(multiplicity, 0).Mul(id)), compressed(id, row)})
}

// pairs returns the fractions in pairs. Each pair but the last is a column of sums.
func (l *layout) pairs() (all [][]fraction) {
	for pair := range slices.Chunk(l.fractions(), 2) {
		all = append(all, pair)
	}
	return all
}

// lookupTerms returns the terms of the running sum. In all rows but the blinded ones it grows by the
// fractions: each pair is a column, except the last, which is added directly. The sum is 0 in the first row
// and in the first blinded one.
func (l *layout) lookupTerms(unblinded func(Expr) Expr) []Expr {
	pairs := l.pairs()
	if len(pairs) == 0 {
		return nil
	}
	var terms []Expr
	run := varExpr(nextSum, 0).Sub(varExpr(sum, 0))
	for i, pair := range pairs {
		grows := varExpr(sum, i+1)
		if i == len(pairs)-1 {
			grows = run
		} else {
			run = run.Sub(grows)
		}
		zero := grows.Mul(pair[0].bottom).Sub(pair[0].top)
		if len(pair) == 2 {
			zero = grows.Mul(pair[0].bottom).Mul(pair[1].bottom).
				Sub(pair[0].top.Mul(pair[1].bottom)).Sub(pair[1].top.Mul(pair[0].bottom))
		}
		terms = append(terms, unblinded(zero))
	}
	return append(terms, varExpr(first, 0).Mul(varExpr(sum, 0)), varExpr(last, 0).Mul(varExpr(sum, 0)))
}

// commitLookups commits to the running sum and its parts.
func (p *prover) commitLookups() error {
	pairs := p.pairs()
	if len(pairs) == 0 {
		return nil
	}
	run, part, bottom, scratch := p.take(), p.take(), p.take(), p.take()
	at := p.firstColumns() + len(p.groups())
	for i, pair := range pairs {
		f := pair[0]
		if len(pair) == 2 {
			f = fraction{f.top.Mul(pair[1].bottom).Add(pair[1].top.Mul(f.bottom)), f.bottom.Mul(pair[1].bottom)}
		}
		if err := p.overRows([]poly.Vector{part, bottom}, f.top, f.bottom); err != nil {
			return err
		}
		err := p.inParts(p.n, func(lo, hi int) {
			part, bottom, run := part.Slice(lo, hi), bottom.Slice(lo, hi), run.Slice(lo, hi)
			bottom.Invert(scratch.Slice(lo, hi))
			part.Mul(part, bottom)
			if i == 0 {
				run.Copy(part)
			} else {
				run.Add(run, part)
			}
		})
		if err != nil {
			return err
		}
		if i == len(pairs)-1 {
			break
		}
		if err := part.GetOn(p.ctx, p.ex, p.elements); err != nil {
			return err
		}
		if err := p.blind(p.elements[p.n-blinded:]); err != nil {
			return err
		}
		if err := p.commitRows(at+1+i, variable{sum, i + 1}, p.elements); err != nil {
			return err
		}
	}
	values := p.elements
	if err := run.GetOn(p.ctx, p.ex, values); err != nil {
		return err
	}
	p.give(run, part, bottom, scratch)
	end := p.n - blinded
	if err := p.sumsBefore(values[:end+1]); err != nil {
		return err
	}
	if err := p.blind(values[end+1:]); err != nil {
		return err
	}
	return p.commitRows(at, variable{sum, 0}, values)
}

// sumsBefore replaces each of values by the sum of those before it. A piece starts at the sum of the pieces before
// it, which are summed first. One processor does without that.
func (p *prover) sumsBefore(values []fr.Element) error {
	run := func(total fr.Element, some []fr.Element) {
		for i := range some {
			total, some[i] = *new(fr.Element).Add(&total, &some[i]), total
		}
	}
	if p.ex.Width() == 1 {
		run(fr.Element{}, values)
		return context.Cause(p.ctx)
	}
	starts := make([]fr.Element, len(values)/poly.Piece+2) // by piece; first the sum of the piece before it
	err := p.inParts(len(values), func(lo, hi int) {
		total := &starts[lo/poly.Piece+1]
		for i := lo; i < hi; i++ {
			total.Add(total, &values[i])
		}
	})
	if err != nil {
		return err
	}
	for i := range starts[1:] {
		starts[i+1].Add(&starts[i+1], &starts[i])
	}
	return p.inParts(len(values), func(lo, hi int) { run(starts[lo/poly.Piece], values[lo:hi]) })
}

// tableColumn sets values to a column of all tables' rows, from row lo on. Column 0 holds the number of the
// table.
func (c *Circuit) tableColumn(values []fr.Element, column, lo int) {
	first := 0
	for i, t := range c.tables {
		from, to := max(first, lo), min(first+t.rows(), lo+len(values))
		for row := from; row < to; row++ {
			switch {
			case column == 0:
				values[row-lo].SetUint64(uint64(i + 1))
			case column <= len(t.Columns):
				values[row-lo] = t.Columns[column-1][row-first]
			}
		}
		first += t.rows()
	}
}
