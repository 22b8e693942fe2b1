package stark

import (
	"context"
	"slices"

	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// open sends the columns' values at a point, and those of the next row.
func (p *prover[E, X]) open() error {
	p.y = p.challenger.Challenge("point", true)
	if err := p.evaluate(); err != nil {
		return err
	}
	p.sendValues()
	return nil
}

func (p *prover[E, X]) evaluate() error {
	l := p.layout
	for _, columns := range p.extended {
		if err := p.bring(columns, 0); err != nil {
			return err
		}
	}
	memory := p.points.memory.part()
	defer memory.release()
	weights, err := p.invert(memory)
	if err != nil {
		return err
	}
	type place struct{ phase, t, column int }
	columns := 0
	for _, shapes := range l.phases {
		for _, s := range shapes {
			columns += s.width
		}
	}
	places := make([]place, 0, columns)
	for t := range l.rows {
		for phase, shapes := range l.phases {
			width := shapes[t].width
			for column := range width {
				places = append(places, place{phase, t, column})
			}
			p.proof.values[phase] = append(p.proof.values[phase], [2][]X{make([]X, width), make([]X, width)})
		}
	}
	return p.ex.Do(p.ctx, len(places), func(_ context.Context, i int) error {
		at := places[i]
		column, values := p.extended[at.phase][at.t].column(0, at.column), p.proof.values[at.phase][at.t]
		values[0][at.column] = p.dot(column, weights[at.t][0])
		if l.next[at.phase][at.t][at.column>>l.phases[at.phase][at.t].stack] {
			values[1][at.column] = p.dot(column, weights[at.t][1])
		}
		return nil
	})
}

// invert computes, for each height of tables, the reciprocals of u - y and of u - g y at the points u of the first
// coset. It returns the weights with which a column's values there add up to its value at y, and at g y. At a
// point u of the coset s H, with n elements, the weight for y is u (y^n - s^n) / (n s^n (y - u)). For g y, note
// that g^n is 1. The weights are in the given memory.
func (p *prover[E, X]) invert(memory *memory[E]) (weights [][2]field.Vector[E], err error) {
	l, f, v := p.layout, p.field, p.vectors
	d := v.Degree()
	p.inverses, weights = make([][2]field.Vector[E], len(l.rows)), make([][2]field.Vector[E], len(l.rows))
	for t, rows := range l.rows {
		if same := slices.Index(l.rows[:t], rows); same >= 0 {
			p.inverses[t], weights[t] = p.inverses[same], weights[same]
			continue
		}
		n := 1 << rows
		power := field.Power(f.New(1), p.points.shift(0, rows), uint64(n))
		vanishing := field.Power(p.one(), p.y, uint64(n))
		vanishing[0] = vanishing[0].Sub(power)
		factor := neg[E](vanishing).MulBase(power.Mul(f.New(uint64(n))).Inverse()) // of 1 / (u - y)
		for which := range weights[t] {
			p.inverses[t][which], weights[t][which] = p.points.memory.vector(d, n), memory.vector(d, n)
		}
		err := each(p.ctx, p.ex, 2, n, func(which, from, to int) {
			y := p.y
			if which == 1 {
				y = y.MulBase(f.Root(rows))
			}
			u, scratch := make([]E, to-from), make([]E, to-from)
			vector := func() field.Vector[E] { return field.NewVector[E](d, to-from) }
			differences, more := vector(), [2]field.Vector[E]{vector(), vector()}
			p.points.fill(u, 0, rows, from)
			inverses, at := p.inverses[t][which].Slice(from, to), weights[t][which].Slice(from, to)
			v.Fill(differences, neg[E](y))
			v.Add(differences[0], differences[0], u)
			v.Invert(inverses, differences, more, scratch)
			v.AddScaled(at, inverses, factor, scratch)
			v.MulBase(at, at, u)
		})
		if err != nil {
			return nil, err
		}
	}
	return weights, nil
}

// dot returns the sum of a column's values times weights.
func (p *prover[E, X]) dot(column []E, weights field.Vector[E]) X {
	var x [1]X
	p.field.Dots(field.Flat[E](x[:]), column, weights)
	return x[0]
}

func (p *prover[E, X]) sendValues() { absorbValues[E, X](p.challenger, p.layout, p.proof) }

// absorbValues absorbs the values of a proof, table by table.
func absorbValues[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], l *layout, p *proof[E, X]) {
	for phase, shapes := range l.phases {
		if l.absent(phase) {
			continue
		}
		for t, s := range shapes {
			sent := make([]E, 0, 2*s.width*l.degree)
			for which, values := range p.values[phase][t] {
				for i, x := range values {
					if which == 0 || l.next[phase][t][i>>s.stack] {
						sent = field.Coordinates[E](sent, x)
					}
				}
			}
			c.Elements("values", sent)
		}
	}
}
