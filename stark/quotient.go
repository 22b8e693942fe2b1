package stark

import (
	"context"

	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// The quotient t of a table of n rows is, with the powers of a challenge α weighing constraints,
//
//	(C + (X - 1/g) C') / (X^n - 1) + C₁ / (X - 1) + C₂ / (X - 1/g)
//
// C being of constraints that hold everywhere, C' in all rows but the last, C₁ in the first and C₂
// in the last one. It has degree below D n and is D pieces of n coefficients, t = Σ X^(i n) t_i.

// quotients commits to the pieces of all tables' quotients.
func (p *prover[E, X]) quotients() error {
	if err := p.extendQuotients(); err != nil {
		return err
	}
	return p.commit(ofQuotients, "quotients")
}

func (p *prover[E, X]) extendQuotients() error {
	p.alpha = p.challenger.Challenge("alpha", false)
	for t := range p.layout.programs {
		pieces, err := p.quotient(t)
		if err != nil {
			return err
		}
		x, err := p.points.extend(p.ctx, p.ex, p.layout.phases[ofQuotients][t], pieces, false)
		if err != nil {
			return err
		}
		p.extended[ofQuotients] = append(p.extended[ofQuotients], x)
	}
	return nil
}

// powersOf are 1, α, α², ...: so many.
func powersOf[X interface{ Mul(X) X }](one, alpha X, n int) []X {
	powers := make([]X, n)
	for i := range powers {
		powers[i] = one
		one = one.Mul(alpha)
	}
	return powers
}

// quotient is the coefficients of a table's pieces, coordinate by coordinate.
func (p *prover[E, X]) quotient(t int) ([][]E, error) {
	l, f, d := p.layout, p.field, p.vectors.Degree()
	rows, pieces := l.rows[t], l.pieces[t]
	n := 1 << rows
	transform, err := f.Transform(rows)
	if err != nil {
		return nil, err
	}
	weights := powersOf(p.one(), p.alpha, l.constraints(t))
	code := lower[E, X](f, l.programs[t], p.publics, true, messageSteps(l.programs[t]))
	// On so many cosets of the group of n, evenly apart, t is as many polynomials of degree below n:
	// t modulo X^n - a^n.
	apart := len(p.points.shifts) / pieces
	remainders := make([]field.Vector[E], pieces)
	for j := range pieces {
		c := j * apart
		remainders[j] = field.NewVector[E](d, n)
		selectors := p.selectors(c, rows)
		size := min(n, tile)
		err := p.ex.Do(p.ctx, n/size, func(_ context.Context, i int) error {
			p.quotientTile(t, c, i*size, code, weights, selectors, remainders[j].Slice(i*size, (i+1)*size))
			return nil
		})
		if err != nil {
			return nil, err
		}
		unscale := reversedPowers(rows, f.New(1), p.points.shift(c, rows).Inverse())
		for _, coordinate := range remainders[j] {
			transform.Interpolate(coordinate)
			f.Mul(coordinate, coordinate, unscale)
		}
	}
	// With b the first coset's a^n and ζ of order D, a^n is b ζ^j on the j-th: t_i is
	// Σ ζ^(-ij) of the remainders, over D b^i.
	b := field.Power(f.New(1), p.points.shift(0, rows), uint64(n)).Inverse()
	zeta := field.Power(f.New(1), p.points.shift(apart%len(p.points.shifts), rows), uint64(n)).Mul(b).Inverse()
	factor := f.New(uint64(pieces)).Inverse()
	scratch := make([]E, n)
	var out [][]E
	for i := range pieces {
		step := field.Power(f.New(1), zeta, uint64(i))
		piece := field.NewVector[E](d, n)
		by := factor
		for _, r := range remainders {
			for k := range d {
				f.MulAdd(piece[k], r[k], by, scratch)
			}
			by = by.Mul(step)
		}
		out = append(out, piece...)
		factor = factor.Mul(b)
	}
	return out, nil
}

// selectors are what constraints are multiplied by on a coset, by where they hold.
func (p *prover[E, X]) selectors(c, rows int) (s [4][]E) {
	f := p.field
	u := p.points.all(c, rows)
	var zero E
	one := f.New(1)
	last := f.Root(rows).Inverse()
	vanishing := field.Power(one, u[0], uint64(len(u))).Sub(one).Inverse()
	constant := func(e E) []E {
		v := make([]E, len(u))
		for i := range v {
			v[i] = e
		}
		return v
	}
	s[air.Everywhere] = constant(vanishing)
	less := func(e E) []E {
		v := constant(zero)
		f.Sub(v, u, constant(e))
		return v
	}
	s[air.First] = less(one)
	f.Inverse(s[air.First], s[air.First])
	s[air.Last] = less(last)
	s[air.Transition] = make([]E, len(u))
	f.MulScalar(s[air.Transition], s[air.Last], vanishing)
	f.Inverse(s[air.Last], s[air.Last])
	return s
}

// quotientTile sets out to the quotient's values from row lo of a coset on.
func (p *prover[E, X]) quotientTile(t, c, lo int, code *code[E], weights []X, selectors [4][]E, out field.Vector[E]) {
	l, v, d := p.layout, p.vectors, p.vectors.Degree()
	program := l.programs[t]
	size, rows := out.Len(), 1<<l.rows[t]
	m := newMachine[E, X](p.field, code, rows)
	scratch := make([]E, size)
	var sums [4]field.Vector[E]
	for w := range sums {
		sums[w] = field.NewVector[E](d, size)
	}
	columns := p.extended[ofColumns][t]
	m.run(func(i int) []E { return columns.column(c, i) }, rows, lo, func(bound int, values []E) {
		v.AddProduct(sums[program.Constraints[bound].Where], values, weights[bound], scratch)
	})
	weights = weights[len(program.Constraints):]
	if len(l.groups[t]) > 0 {
		f := fraction[E]{field.NewVector[E](d, size), field.NewVector[E](d, size)}
		more := [2]field.Vector[E]{field.NewVector[E](d, size), field.NewVector[E](d, size)}
		x := p.extended[ofSums][t]
		cells := func(g int) field.Vector[E] {
			part := make(field.Vector[E], d)
			for k := range d {
				part[k] = x.column(c, g*d+k)[lo : lo+size]
			}
			return part
		}
		// What φ grows by, less the other groups' sums.
		own := field.NewVector[E](d, size)
		for k := range d {
			column := x.column(c, k)
			for i := range size {
				own[k][i] = column[(lo+i+1)&(rows-1)]
			}
		}
		v.SubFrom(own, cells(0))
		v.AddConstant(own, p.proof.sums[l.sumOf(t)].MulBase(p.field.New(uint64(rows)).Inverse()))
		for g := len(l.groups[t]) - 1; g >= 0; g-- {
			h := own
			if g > 0 {
				h = cells(g)
				v.SubFrom(own, h)
			}
			m.fractions(v, f, l.groups[t][g], l.buses, p.drawn, more, scratch)
			z := more[0]
			clearVector(z)
			v.Product(z, h, f.denominator, scratch)
			v.SubFrom(z, f.numerator)
			v.AddScaled(sums[air.Everywhere], z, weights[g], scratch)
		}
	}
	for w, sum := range sums {
		for k := range d {
			p.field.Mul(sum[k], sum[k], selectors[w][lo:lo+size])
		}
		v.AddTo(out, sum)
	}
}

// sumOf is a table's place among those with messages.
func (l *layout) sumOf(t int) (n int) {
	for _, g := range l.groups[:t] {
		if len(g) > 0 {
			n++
		}
	}
	return n
}
