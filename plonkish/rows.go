package plonkish

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// labels computes the labels of all cells, label(j) ω^i, as products of two factors from tables of about √n
// elements.
type labels struct {
	n, low int            // low is the number of exponents of the lower factor
	root   []fr.Element   // ω^i below low
	step   [][]fr.Element // by column: label(j) ω^(low i)
}

// newLabels returns the labels of the given number of columns.
func newLabels(n, columns int) *labels {
	l := &labels{n: n, low: 1 << (bits.Len(uint(n)) / 2), step: make([][]fr.Element, columns)}
	root := poly.Root(n)
	powers := func(first, by fr.Element, n int) []fr.Element {
		all := make([]fr.Element, n)
		for i := range all {
			all[i] = first
			first.Mul(&first, &by)
		}
		return all
	}
	l.root = powers(fr.One(), root, l.low)
	for j := range l.step {
		l.step[j] = powers(label(j), power(root, l.low), max(1, n/l.low))
	}
	return l
}

// set sets z to the label of a cell, by the cell's number in Circuit.sigma.
func (l *labels) set(z *fr.Element, cell uint32) {
	column, row := int(cell)/l.n, int(cell)%l.n
	z.Mul(&l.root[row%l.low], &l.step[column][row/l.low])
}

// labels returns the circuit's labels, including those of public values after the permuted columns.
func (c *Circuit) labels() *labels { return newLabels(c.n, len(c.cells)+1) }

// fill sets values to those of a column that the circuit decides, from row lo on.
func (c *Circuit) fill(values []fr.Element, v variable, lo int, labels *labels) {
	clear(values)
	if v.kind == table {
		c.tableColumn(values, v.index, lo)
		return
	}
	for i := range values {
		row := lo + i
		if row >= len(c.rows) {
			if v.kind == sigma {
				labels.set(&values[i], uint32(v.index*c.n+row))
			}
			continue
		}
		switch k := &c.kinds[c.rows[row]]; v.kind {
		case param:
			values[i] = k.params[v.index]
		case selector:
			if k.gate == v.index {
				values[i].SetOne()
			}
		case looked:
			values[i].SetUint64(uint64(k.tables[v.index]))
		case sigma:
			labels.set(&values[i], c.sigma[v.index][row])
		}
	}
}

// fixedColumn sets values to a whole column that the circuit decides.
func (c *Circuit) fixedColumn(ctx context.Context, ex executor.Executor, values []fr.Element, v variable, labels *labels) error {
	return poly.InPieces(ctx, ex, c.n, func(lo, hi int) { c.fill(values[lo:hi], v, lo, labels) })
}

// gather sets values to those of a column, from row lo on. In random rows they are 0.
func (p *prover) gather(values []fr.Element, v variable, lo int) {
	c := p.circuit
	switch v.kind {
	case cell, nextCell:
		if v.kind == nextCell {
			lo++
		}
		clear(values)
		if v.index < len(c.cells) {
			column := c.cells[v.index]
			for i := range values[:max(0, min(len(values), len(column)-lo))] {
				values[i] = c.values[column[lo+i]]
			}
		} else if column := c.free[v.index-len(c.cells)]; lo < len(column) {
			copy(values, column[lo:])
		}
	case multiplicity:
		clear(values)
		if lo < len(p.multiplicities) {
			copy(values, p.multiplicities[lo:])
		}
	case point:
		for i := range values {
			p.labels.set(&values[i], uint32(lo+i)) // label(0) is 1
		}
	default:
		p.structure.fill(values, v, lo, p.labels)
	}
}

// columnOf sets values to a whole column. In random rows they are 0.
func (p *prover) columnOf(values []fr.Element, v variable) error {
	return p.inParts(len(values), func(lo, hi int) { p.gather(values[lo:hi], v, lo) })
}

// inParts calls do for parts of n elements. All but the last part consist of whole tiles.
func (p *prover) inParts(n int, do func(lo, hi int)) error {
	return poly.InPieces(p.ctx, p.ex, n, do)
}

// overRows sets each of dst to an Expr of columns in rows. It works on some rows at a time, so that no column
// is in memory as a whole. The results in random rows are undefined.
func (p *prover) overRows(dst []poly.Vector, exprs ...Expr) error {
	return p.overTiles(exprs, p.gather, func(i, lo int, values poly.Vector) {
		dst[i].Slice(lo, lo+values.Len()).Copy(values)
	})
}

// overTiles computes Exprs of columns of n elements. It works on some elements at a time: load sets values to those
// of a column, from element lo on, and store gets the values of Expr i from there. It has loaded all that it reads
// before it stores.
func (p *prover) overTiles(exprs []Expr, load func(values []fr.Element, v variable, lo int), store func(i, lo int, values poly.Vector)) error {
	kernels := make([]*kernel, len(exprs))
	for i, e := range exprs {
		kernels[i] = newKernel(compile(e))
	}
	size := min(p.n, tile)
	type some struct {
		values  []fr.Element
		columns map[variable]poly.Vector
		runs    []*run
		results []poly.Vector
	}
	tiles := spare[*some]{made: func() *some {
		s := &some{make([]fr.Element, size), make(map[variable]poly.Vector), make([]*run, len(kernels)), make([]poly.Vector, len(kernels))}
		for i, k := range kernels {
			s.results[i] = p.form.New(size)
			s.runs[i] = k.start(p.form, size, p.scalars[:])
			s.runs[i].read(func(v variable) poly.Vector {
				if _, ok := s.columns[v]; !ok {
					s.columns[v] = p.form.New(size)
				}
				return s.columns[v]
			})
		}
		return s
	}}
	return p.inParts(p.n, func(lo, hi int) {
		s := tiles.take()
		defer tiles.give(s)
		for ; lo < hi; lo += size {
			for v, column := range s.columns {
				load(s.values, v, lo)
				column.Set(s.values)
			}
			for i, r := range s.runs {
				r.tile(s.results[i])
			}
			for i, values := range s.results {
				store(i, lo, values)
			}
		}
	})
}
