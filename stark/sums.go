package stark

import (
	"context"

	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// messageSteps returns the steps of a program's messages.
func messageSteps(p *air.Program) (steps []int) {
	for _, m := range p.Messages {
		steps = append(append(steps, m.Multiplicity), m.Tuple...)
	}
	return steps
}

// keep copies the values that a table's sums need, before its columns become coefficients.
func (p *prover[E, X]) keep(t int, columns [][]E) error {
	needed, kept, n := make([]bool, len(columns)), make([][]E, len(columns)), 0
	for _, at := range [][]cellAt{p.codes[t].messages.here, p.codes[t].messages.next} {
		for _, c := range at {
			if c.phase == ofColumns && !needed[c.column] {
				needed[c.column] = true
				n++
			}
		}
	}
	copies, err := p.sending.columns(p.ctx, p.ex, n, 1<<p.layout.rows[t])
	if err != nil {
		return err
	}
	for i := range kept {
		if needed[i] {
			kept[i], copies = copies[0], copies[1:]
		}
	}
	p.kept[t] = kept
	return p.ex.Do(p.ctx, len(columns), func(_ context.Context, i int) error {
		copy(kept[i], columns[i])
		return nil
	})
}

func (p *prover[E, X]) sums() error {
	if err := p.sumUp(); err != nil {
		return err
	}
	p.sendSums()
	return p.commitSums()
}

func (p *prover[E, X]) sumUp() error {
	l := p.layout
	p.drawn = drawSums(p.challenger, p.one(), l.longest)
	defer p.sending.release()
	sums := make([]X, len(l.programs))
	err := p.extendTables(ofSums, func(t int) (columns [][]E, err error) {
		columns, sums[t], err = p.sumsOf(t)
		return columns, err
	}, true)
	for t, program := range l.programs {
		if len(program.Messages) > 0 {
			p.proof.sums = append(p.proof.sums, sums[t])
		}
	}
	return err
}

func (p *prover[E, X]) sendSums() { absorbSums[E, X](p.challenger, p.proof) }

func absorbSums[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], p *proof[E, X]) {
	for _, sum := range p.sums {
		c.Elements("sum", field.Coordinates[E](nil, sum))
	}
}

func (p *prover[E, X]) commitSums() error {
	if p.layout.leaf(ofSums) == 0 {
		return nil
	}
	return p.commit(ofSums, "sums")
}

// sumsOf returns the columns of a table's sums, φ and then an h for each group except the first, and the
// whole sum.
func (p *prover[E, X]) sumsOf(t int) (columns [][]E, sum X, err error) {
	l, v := p.layout, p.vectors
	groups, rows := l.groups[t], 1<<l.rows[t]
	if len(groups) == 0 {
		return nil, sum, nil
	}
	d := v.Degree()
	h := make([]field.Vector[E], len(groups))
	if columns, err = p.points.memory.columns(p.ctx, p.ex, len(h)*d, rows); err != nil {
		return nil, sum, err
	}
	for g := range h {
		h[g] = columns[g*d:][:d]
	}
	kept := [phases][][]E{ofColumns: p.kept[t]}
	kept[l.fixedPhase(t)] = p.fixed[t]
	p.kept[t] = nil // nothing else reads it
	// Compute φ from what it grows by: first the running sums within each tile of rows, then φ.
	used, size := l.used(t), min(rows, tile)
	grown, tiled := p.sending.vector(d, rows), make([]X, rows/size)
	scratch := scratches[*summer[E, X]]{make: func() *summer[E, X] { return p.newSummer(t) }}
	err = tiles(p.ctx, p.ex, rows, size, &scratch, func(s *summer[E, X], lo int) error {
		s.m.run(func(phase, c int) []E { return kept[phase][c] }, rows, 1, lo, nil)
		all := grown.Slice(lo, lo+size)
		for g, group := range groups {
			s.m.fractions(v, s.f, group, l.buses, p.drawn, s.more, s.scratch)
			quotient := h[g].Slice(lo, lo+size)
			quotient.Clear()
			v.Invert(s.inverse, s.f.denominator, s.more, s.scratch)
			v.Product(quotient, s.f.numerator, s.inverse, s.scratch)
			v.AddTo(all, quotient)
		}
		var zero E
		for k, c := range all {
			c = c[:max(0, min(size, used-lo))]
			tiled[lo/size][k] = p.field.Sums(c, c, zero)
		}
		return nil
	})
	if err != nil {
		return nil, sum, err
	}
	for _, all := range tiled {
		sum = sum.Add(all)
	}
	var phi X
	if l.masked(t) {
		phi = unmasked[E](p.drawn, p.masks[t][0]).Inverse()
		sum = sum.Add(phi).Sub(unmasked[E](p.drawn, p.masks[t][1]).Inverse())
		for i, column := range columns {
			p.random.draw(column[used:], forSums, t<<32|i)
		}
	}
	share := sum.MulBase(p.field.New(uint64(used)).Inverse())
	first := make([]X, len(tiled)) // φ in the first row of each tile
	for i, all := range tiled {
		first[i] = phi
		phi = phi.Add(all).Sub(share.MulBase(p.field.New(uint64(max(0, min(size, used-i*size))))))
	}
	if l.masked(t) {
		v.Set(h[0], used, phi)
	}
	counted := make([]E, size) // the numbers 0, 1, 2, ...
	for i := range counted {
		counted[i] = p.field.New(uint64(i))
	}
	less := []X{neg[E](share)}
	return columns, sum, chunks(p.ctx, p.ex, used, func(from, to int) {
		scratch := make([]E, size)
		for lo := from; lo < to; lo += size {
			hi := min(lo+size, to)
			phi := h[0].Slice(lo, hi)
			v.Fill(phi, first[lo/size])
			v.AddTo(phi, grown.Slice(lo, hi))
			v.AddProducts(phi, [][]E{counted[:hi-lo]}, less, scratch[:hi-lo])
		}
	})
}

// summer computes the sums of a table's groups, a tile at a time.
type summer[E field.Element[E], X field.Extension[E, X]] struct {
	m       *machine[E, X]
	f       fraction[E]
	inverse field.Vector[E]
	more    [2]field.Vector[E]
	scratch []E
}

func (p *prover[E, X]) newSummer(t int) *summer[E, X] {
	m := newMachine[E, X](p.field, p.sending, p.codes[t].messages, p.claim.publics, 1<<p.layout.rows[t])
	vector := func() field.Vector[E] { return p.sending.vector(p.vectors.Degree(), m.size) }
	return &summer[E, X]{m, fraction[E]{vector(), vector()}, vector(), [2]field.Vector[E]{vector(), vector()}, p.sending.elements(m.size)}
}
