package stark

import (
	"context"

	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// The quotient t of a table of n rows is, with constraints weighted by the powers of a challenge α,
//
//	(C + (X - 1/g) C') / (X^n - 1) + C₁ / (X - 1) + C₂ / (X - 1/g)
//
// C sums the constraints that hold everywhere, C' those in all rows but the last, C₁ those in the first row
// and C₂ those in the last. The quotient has degree below D n and is split into D pieces of n coefficients, t
// = Σ X^(i n) t_i.
//
// In zero knowledge the last r rows are left out. The last row is then the one before them. C + (X - 1/g) C'
// gets the factor Z, which is 0 in the rows left out. A term C₃ / ((X - 1) (X - g^(n-r))) is added for what
// holds in the first row and in the first row left out. The degree is below D n + r. Pieces have n - r
// coefficients, and r that hide them (hiding.go).

// ends is the kind of rows to which masks of sums are bound, besides the kinds that tables name.
const ends = air.Transition + 1

// kinds is the number of kinds of rows.
const kinds = ends + 1

// quotients commits to the pieces of all tables' quotients.
func (p *prover[E, X]) quotients() error {
	if err := p.extendQuotients(); err != nil {
		return err
	}
	return p.commit(ofQuotients, "quotients")
}

func (p *prover[E, X]) extendQuotients() error {
	p.alpha = p.challenger.Challenge("alpha", false)
	if err := p.extendTables(ofQuotients, p.quotient, false); err != nil {
		return err
	}
	if p.layout.masks > 0 {
		return p.extendWord()
	}
	return nil
}

// powersOf returns the n powers 1, α, α², ...
func powersOf[X interface{ Mul(X) X }](one, alpha X, n int) []X {
	powers := make([]X, n)
	for i := range powers {
		powers[i] = one
		one = one.Mul(alpha)
	}
	return powers
}

// quotient returns the coefficients of a table's pieces, coordinate by coordinate.
func (p *prover[E, X]) quotient(t int) ([][]E, error) {
	l, f, d := p.layout, p.field, p.vectors.Degree()
	rows, pieces := l.rows[t], l.pieces[t]
	n := 1 << rows
	transform, err := p.points.transform(rows)
	if err != nil {
		return nil, err
	}
	weights := powersOf(p.one(), p.alpha, l.constraints(t))
	// On each of that many cosets of the group of n, evenly spaced, t is a polynomial of degree below n: t
	// modulo X^n - a^n.
	apart := l.apart(t)
	remainders := make([]field.Vector[E], pieces)
	memory := p.points.memory.part()
	defer memory.release()
	scratch := scratches[*quotienter[E, X]]{make: func() *quotienter[E, X] { return p.newQuotient(t, memory, n, weights) }}
	read := []*extended[E]{p.extended[ofColumns][t], p.extended[ofSums][t], p.extended[l.fixedPhase(t)][t]}
	for j := pieces - 1; j >= 0; j-- { // the last coset is in memory already, and the first one is read next
		c := j * apart
		columns := func(phase, i int) []E { return p.extended[phase][t].column(c, i) }
		points := func(dst []E, lo int) { p.points.fill(dst, c, rows, lo) }
		if err := p.bring(read, c); err != nil {
			return nil, err
		}
		remainders[j] = memory.vector(d, n)
		if err := p.quotientAt(remainders[j], view[E]{columns, n, 1, n, points}, &scratch); err != nil {
			return nil, err
		}
	}
	unscales := make([][]E, pieces)
	err = p.ex.Do(p.ctx, pieces, func(_ context.Context, j int) error {
		unscales[j] = scaleOf(f, rows, p.points.shift(j*apart, rows).Inverse())
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = p.ex.Do(p.ctx, pieces*d, func(_ context.Context, i int) error {
		values := remainders[i/d][i%d]
		transform.Interpolate(values)
		f.Mul(values, values, unscales[i/d])
		return nil
	})
	if err != nil {
		return nil, err
	}
	// With b the first coset's a^n and ζ of order D, a^n is b ζ^j on coset j. So t_i is the sum of ζ^(-ij)
	// times the remainders, divided by D b^i.
	b := field.Power(f.New(1), p.points.shift(0, rows), uint64(n)).Inverse()
	zeta := field.Power(f.New(1), p.points.shift(apart%len(p.points.shifts), rows), uint64(n)).Mul(b).Inverse()
	// In zero knowledge, hidden makes the pieces from these.
	from := p.points.memory
	if p.random != nil {
		from = memory
	}
	out, err := from.columns(p.ctx, p.ex, pieces*d, n)
	if err != nil {
		return nil, err
	}
	err = p.ex.Do(p.ctx, len(out), func(_ context.Context, at int) error {
		i, k := at/d, at%d
		by := f.New(uint64(pieces)).Inverse().Mul(field.Power(f.New(1), b, uint64(i)))
		step := field.Power(f.New(1), zeta, uint64(i))
		piece, scratch := out[at], make([]E, min(n, chunk))
		clear(piece)
		for _, r := range remainders {
			for from := 0; from < n; from += len(scratch) {
				f.MulAdd(piece[from:][:len(scratch)], r[k][from:][:len(scratch)], by, scratch)
			}
			by = by.Mul(step)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if p.random == nil {
		return out, nil
	}
	x := p.points.few[rows]
	columns := func(phase, i int) []E { return p.extended[phase][t].few[i] }
	points := func(dst []E, lo int) { copy(dst, x.points[lo:]) }
	values := memory.vector(d, len(x.points))
	scratch = scratches[*quotienter[E, X]]{make: func() *quotienter[E, X] { return p.newQuotient(t, memory, len(x.points), weights) }}
	if err := p.quotientAt(values, view[E]{columns, 2 * len(x.points), len(x.points), len(x.points), points}, &scratch); err != nil {
		return nil, err
	}
	return p.hidden(t, out, field.Power(f.New(1), b.Inverse(), uint64(pieces)), values), nil
}

// view says where a quotient is computed. It has columns of a number of rows, in which the next row of a row
// is step further, and the points of the first rows. These are on a coset of a group whose order divides that
// of H.
type view[E any] struct {
	column func(phase, i int) []E
	rows   int
	step   int
	n      int                   // number of points
	points func(dst []E, lo int) // sets dst to the points from row lo on
}

// quotientAt adds a table's quotient at the points of a view to out.
func (p *prover[E, X]) quotientAt(out field.Vector[E], v view[E], scratch *scratches[*quotienter[E, X]]) error {
	return tiles(p.ctx, p.ex, v.n, tile, scratch, func(q *quotienter[E, X], lo int) error {
		q.view = v
		q.tile(lo, out.Slice(lo, lo+q.size))
		return nil
	})
}

// selectors sets s to the factors of a table's constraints at the points u, by kind of rows. Those that are nil are
// left out. scratch is as long as u.
func (p *prover[E, X]) selectors(s [kinds][]E, t int, u, scratch []E) {
	l, f := p.layout, p.field
	one, root, used := f.New(1), f.Root(l.rows[t]), l.used(t)
	behind := field.Power(one, root, uint64(used)) // the first row left out
	last := behind.Mul(root.Inverse())
	less := func(v []E, e E) {
		field.Fill(v, e)
		f.Sub(v, u, v)
	}
	everywhere := s[air.Everywhere]
	field.Fill(everywhere, field.Power(one, u[0], 1<<l.rows[t]).Sub(one).Inverse())
	row := behind
	for range l.params.Random() {
		less(scratch, row)
		f.Mul(everywhere, everywhere, scratch)
		row = row.Mul(root)
	}
	if v := s[air.Transition]; v != nil {
		less(v, last)
		f.Mul(v, v, everywhere)
	}
	if v := s[air.First]; v != nil {
		less(v, one)
		f.Inverse(v, v)
	}
	if v := s[air.Last]; v != nil {
		less(v, last)
		f.Inverse(v, v)
	}
	if v := s[ends]; v != nil {
		less(v, behind)
		less(scratch, one)
		f.Mul(v, v, scratch)
		f.Inverse(v, v)
	}
}

// quotienter computes a table's quotient at a view's points, a tile at a time.
type quotienter[E field.Element[E], X field.Extension[E, X]] struct {
	p         *prover[E, X]
	m         *machine[E, X]
	t         int
	view      view[E]
	size      int // number of rows of a tile
	weights   []X
	bound     [together]X // the weights of constraints that are summed at once
	points    []E
	selectors [kinds][]E             // nil for kinds of rows in which nothing holds, but for those that are everywhere
	sums      [kinds]field.Vector[E] // weighted sums of constraints, by kind of rows; nil like selectors
	f         fraction[E]
	more      [2]field.Vector[E]
	own       field.Vector[E]
	cells     field.Vector[E] // a group's columns
	scratch   []E
}

// newQuotient returns a quotienter for views of n points.
func (p *prover[E, X]) newQuotient(t int, memory *memory[E], n int, weights []X) *quotienter[E, X] {
	m := newMachine[E, X](p.field, memory, p.codes[t].all, p.claim.publics, n)
	q := &quotienter[E, X]{p: p, m: m, t: t, size: m.size, weights: weights, points: memory.elements(m.size)}
	vector := func() field.Vector[E] { return memory.vector(p.vectors.Degree(), q.size) }
	used := [kinds]bool{air.Everywhere: true, ends: p.layout.masked(t)}
	for _, c := range p.layout.programs[t].Constraints {
		used[c.Where] = true
	}
	for w, is := range used {
		if is {
			q.selectors[w], q.sums[w] = memory.elements(m.size), vector()
		}
	}
	q.own, q.f, q.more = vector(), fraction[E]{vector(), vector()}, [2]field.Vector[E]{vector(), vector()}
	q.cells, q.scratch = make(field.Vector[E], p.vectors.Degree()), memory.elements(q.size)
	return q
}

// tile sets out to the quotient's values from row lo on.
func (q *quotienter[E, X]) tile(lo int, out field.Vector[E]) {
	l, v, d, t := q.p.layout, q.p.vectors, q.p.vectors.Degree(), q.t
	program := l.programs[t]
	rows, step := q.view.rows, q.view.step
	q.view.points(q.points, lo)
	q.p.selectors(q.selectors, t, q.points, q.scratch)
	sums := q.sums
	for _, sum := range sums {
		sum.Clear()
	}
	q.m.run(q.view.column, rows, step, lo, func(w air.Where, bounds []int, values [][]E) {
		weights := q.bound[:len(bounds)]
		for i, b := range bounds {
			weights[i] = q.weights[b]
		}
		v.AddProducts(sums[w], values, weights, q.scratch)
	})
	weights := q.weights[len(program.Constraints):]
	if len(l.groups[t]) > 0 {
		cells := func(g int) field.Vector[E] {
			part := q.cells // one group at a time
			for k := range d {
				part[k] = q.view.column(ofSums, g*d+k)[lo : lo+q.size]
			}
			return part
		}
		// own is what φ grows by, minus the other groups' sums.
		v.Fill(q.own, q.p.proof.sums[l.sumOf(t)].MulBase(q.p.field.New(uint64(l.used(t))).Inverse()))
		for k := range d {
			copyNext(q.scratch, q.view.column(ofSums, k)[:rows], lo+step)
			v.Add(q.own[k], q.own[k], q.scratch)
		}
		v.SubFrom(q.own, cells(0))
		for g := len(l.groups[t]) - 1; g >= 0; g-- {
			h := q.own
			if g > 0 {
				h = cells(g)
				v.SubFrom(q.own, h)
			}
			q.m.fractions(v, q.f, l.groups[t][g], l.buses, q.p.drawn, q.more, q.scratch)
			z := q.more[0]
			z.Clear()
			v.Product(z, h, q.f.denominator, q.scratch)
			v.SubFrom(z, q.f.numerator)
			v.AddScaled(sums[air.Everywhere], z, weights[g], q.scratch)
		}
		if l.masked(t) {
			var tuple [][]E
			for k := range d {
				tuple = append(tuple, q.view.column(ofColumns, program.Columns+k)[lo:lo+q.size])
			}
			z, e := q.more[0], q.more[1]
			v.Fill(e, q.p.drawn.gamma)
			v.AddProducts(e, tuple, q.p.drawn.minus[:d], q.scratch)
			v.Fill(z, neg[E](q.p.one()))
			v.Product(z, cells(0), e, q.scratch)
			v.AddScaled(sums[ends], z, weights[len(l.groups[t])], q.scratch)
		}
	}
	for w, sum := range sums {
		if sum != nil {
			v.MulBase(sum, sum, q.selectors[w])
			v.AddTo(out, sum)
		}
	}
}

// sumOf returns the index of a table among the tables with messages.
func (l *layout) sumOf(t int) (n int) {
	for _, g := range l.groups[:t] {
		if len(g) > 0 {
			n++
		}
	}
	return n
}
