package stark

import (
	"context"

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
	if err := p.invert(); err != nil {
		return err
	}
	for t := range l.rows {
		at, next := p.lagrange(t, 0), p.lagrange(t, 1)
		for phase, shapes := range l.phases {
			s, x := shapes[t], p.extended[phase][t]
			values := [2][]X{make([]X, s.width), make([]X, s.width)}
			err := p.ex.Do(p.ctx, s.width, func(_ context.Context, i int) error {
				values[0][i] = p.dot(x.column(0, i), at)
				if l.next[phase][t][i>>s.stack] {
					values[1][i] = p.dot(x.column(0, i), next)
				}
				return nil
			})
			if err != nil {
				return err
			}
			p.proof.values[phase] = append(p.proof.values[phase], values)
		}
	}
	return nil
}

// invert computes, for each table, the reciprocals of u - y and of u - g y at the points u of the first
// coset.
func (p *prover[E, X]) invert() error {
	p.inverses = make([][2]field.Vector[E], len(p.layout.rows))
	return p.ex.Do(p.ctx, 2*len(p.inverses), func(_ context.Context, i int) error {
		rows, y := p.layout.rows[i/2], p.y
		if i%2 == 1 {
			y = y.MulBase(p.field.Root(rows))
		}
		v := field.NewVector[E](p.vectors.Degree(), 1<<rows)
		copy(v[0], p.points.all(0, rows))
		p.vectors.AddConstant(v, neg[E](y))
		p.vectors.Invert(v)
		p.inverses[i/2][i%2] = v
		return nil
	})
}

// lagrange returns the weights with which a column's values on the first coset add up to its value at y, or
// at g y. At a point u of the coset s H, with n elements, the weight for y is u (y^n - s^n) / (n s^n (y -
// u)). For g y, note that g^n is 1.
func (p *prover[E, X]) lagrange(t, which int) field.Vector[E] {
	f, v, rows := p.field, p.vectors, p.layout.rows[t]
	n := 1 << rows
	power := field.Power(f.New(1), p.points.shift(0, rows), uint64(n))
	vanishing := field.Power(p.one(), p.y, uint64(n))
	vanishing[0] = vanishing[0].Sub(power)
	factor := neg[E](vanishing).MulBase(power.Mul(f.New(uint64(n))).Inverse()) // of 1 / (u - y)
	weights := field.NewVector[E](v.Degree(), n)
	v.AddScaled(weights, p.inverses[t][which], factor, make([]E, n))
	v.MulBase(weights, weights, p.points.all(0, rows))
	return weights
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
		if phase == ofFixed && l.fixed == nil { // transcripts then contain nothing about them
			continue
		}
		for t, s := range shapes {
			var sent []E
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
