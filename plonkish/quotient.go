package plonkish

import (
	"context"
	"maps"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/arith/poly"
)

// piece holds the n + 1 coefficients of a piece of the quotient.
type piece []fr.Element

// quotient commits to the pieces of the identity divided by X^n - 1. The identity is computed on as many
// cosets of the domain as there are pieces, each of them part by part. It has at most one coefficient more
// than that determines, which follows from the columns' leading coefficients.
func (p *prover) quotient() error {
	p.freeSums() // their memory is for the columns
	p.giveList(p.elements)
	if err := p.trim(); err != nil {
		return err
	}
	p.pieces = make([]piece, p.layout.pieces)
	for c := range p.pieces {
		p.pieces[c] = p.takeList()[:p.n+1]
		p.pieces[c][p.n].SetZero()
	}
	for i, pass := range p.passes {
		if err := p.run(pass, i == 0); err != nil {
			return err
		}
		if err := p.trim(); err != nil {
			return err
		}
	}
	if err := p.moveColumns(p.columns, coefficients); err != nil {
		return err
	}
	shifts := make([]fr.Element, len(p.pieces))
	end := p.span(SpanTransform)
	for c, piece := range p.pieces {
		shifts[c] = p.shift(c+1, 0) // outside of the domain, and in different cosets
		vanishing := p.vanishing(&shifts[c])
		vanishing.Inverse(&vanishing)
		if err := p.turner.interpolate(p.ctx, p.ex, piece[:p.n], c+1, vanishing); err != nil {
			return err
		}
		if err := p.turner.turn(p.ctx, p.ex, piece[:p.n], c+1, coefficients); err != nil {
			return err
		}
	}
	end()
	if err := p.separate(shifts); err != nil {
		return err
	}
	p.zeta = p.rounds.quotient(p.proof)
	return nil
}

// moveColumns takes columns from where they are to another coset, or to coefficients.
func (p *prover) moveColumns(columns map[variable][]fr.Element, to int) error {
	all := slices.Collect(maps.Keys(columns))
	err := p.ex.Do(p.ctx, len(all), func(ctx context.Context, i int) error {
		from, ok := p.on[all[i]]
		if !ok {
			from = coefficients
		}
		return p.turner.turn(ctx, p.ex, columns[all[i]], from, to)
	})
	for _, v := range all {
		p.on[v] = to
	}
	return err
}

// run adds the values of a pass on all cosets to the pieces, or sets them if it is the first.
func (p *prover) run(pass *pass, isFirst bool) error {
	columns := make(map[variable][]fr.Element) // that are not expanded
	end := p.span(SpanTransform)
	for _, v := range pass.columns {
		switch {
		case !v.kind.fixed():
			columns[v] = p.columns[v]
		case p.expanded == nil:
			columns[v], p.on[v] = p.takeList(), 0
			if err := p.setFixed(columns[v], v); err != nil {
				return err
			}
			p.leadingFixed[v] = p.leadingOfRows(columns[v])
		}
	}
	end()
	s := newParts(p, pass, columns)
	defer s.done()
	runs := pass.kernel.runs(p.form, p.part.Size(), p.scalars[:])
	for c, piece := range p.pieces {
		end := p.span(SpanTransform)
		if err := p.moveColumns(columns, c+1); err != nil {
			return err
		}
		end()
		for i := range p.partCount() {
			if err := s.move(c+1, i); err != nil {
				return err
			}
			dst := p.inPart(piece[:p.n], i)
			err := runs.run(p.ctx, p.ex, s.values, s.get, func(lo, hi int) {
				values := s.values.Slice(lo, hi)
				if !isFirst {
					before := s.before.Slice(lo, hi)
					before.Set(dst[lo:hi])
					values.Add(values, before)
				}
				values.Get(dst[lo:hi])
			})
			if err != nil {
				return err
			}
		}
	}
	for _, v := range pass.fixed {
		if list, ok := columns[v]; ok {
			p.giveList(list)
		}
	}
	return nil
}

// setFixed sets dst to a column that the circuit decides, by the parts of the domain.
func (p *prover) setFixed(dst []fr.Element, v variable) error {
	if kept, ok := p.ProvingKey.columns[v]; ok {
		return p.inParts(p.n, func(lo, hi int) { copy(dst[lo:hi], kept[lo:hi]) })
	}
	return p.turner.makeFixed(p.ctx, p.ex, dst, v, p.labels)
}

// parts holds the values of a pass's columns on a part of a coset.
type parts struct {
	*prover
	*pass
	columns  map[variable][]fr.Element // that are not expanded, by the parts of the coset
	at, next map[variable]poly.Vector
	values   poly.Vector
	before   poly.Vector    // what they are added to
	powers   [2]poly.Vector // of the part's shift, and the next rows'
	points   poly.Vector    // of the domain
	inverse  poly.Vector
	scratch  poly.Vector
	done     func()
}

func newParts(p *prover, pass *pass, columns map[variable][]fr.Element) *parts {
	s := &parts{prover: p, pass: pass, columns: columns, at: make(map[variable]poly.Vector), next: make(map[variable]poly.Vector)}
	bytes := p.form.Bytes(p.part.Size())
	memory := p.memory(pass.onPart() * bytes)
	s.done = func() { p.release(&memory[0]) }
	left := memory
	take := func() poly.Vector {
		v := p.form.FromMemory(left, p.part.Size())
		left = left[bytes:]
		return v
	}
	s.values, s.before, s.powers[0], s.powers[1] = take(), take(), take(), take()
	for v := range columns {
		s.at[v] = take()
	}
	for _, v := range pass.next {
		s.next[v] = take()
	}
	if pass.ends {
		for _, k := range []kind{point, first, last} {
			s.at[variable{k, 0}] = take()
		}
		s.points, s.inverse, s.scratch = take(), take(), s.before // which is used at another time
		one, root := fr.One(), p.part.Root()
		s.points.SetPowers(&one, &root)
		s.points.BitReverse()
	}
	return s
}

func (s *parts) get(v variable) poly.Vector {
	if v.kind.next() {
		return s.next[v.here()]
	}
	return s.at[v]
}

// move computes the columns for part i of a coset. What was the next row of the part before is now the row itself.
func (s *parts) move(coset, i int) error {
	type job struct {
		column  variable
		dst     poly.Vector
		further bool
	}
	var jobs []job
	shift, further := s.shift(coset, i), s.shift(coset, i+1)
	for _, v := range s.pass.columns {
		if kept, ok := s.expanded[v]; ok {
			s.at[v] = kept[(coset-1)*s.partCount()+i]
			continue
		}
		next, ahead := s.next[v]
		if ahead && i > 0 {
			s.at[v], s.next[v] = next, s.at[v]
			jobs = append(jobs, job{v, s.next[v], true})
			continue
		}
		jobs = append(jobs, job{v, s.at[v], false})
		if ahead {
			jobs = append(jobs, job{v, next, true})
		}
	}
	end := s.span(SpanTransform)
	one := fr.One()
	if i == 0 {
		if err := s.powers[1].SetPowersOn(s.ctx, s.ex, &one, &shift); err != nil {
			return err
		}
	}
	s.powers[0], s.powers[1] = s.powers[1], s.powers[0]
	if err := s.powers[1].SetPowersOn(s.ctx, s.ex, &one, &further); err != nil {
		return err
	}
	ends := 0 // 1 if the Lagrange polynomials are another job, which is the first
	if s.ends {
		ends = 1
	}
	err := s.ex.Do(s.ctx, ends+len(jobs), func(ctx context.Context, task int) error {
		if task < ends {
			return s.lagrange(ctx, &shift)
		}
		j, part, powers := &jobs[task-ends], i, s.powers[0]
		if j.further { // after the last part, the first one's points follow
			part, powers = (i+1)%s.partCount(), s.powers[1]
		}
		return s.evaluateOnPart(ctx, s.ex, j.dst, s.inPart(s.columns[j.column], part), powers)
	})
	end()
	return err
}

// lagrange sets the points of a coset, and the Lagrange polynomials of the first row and the last at these points:
// Z_H ω^i / n (X - ω^i). It inverts the product of both.
func (s *parts) lagrange(ctx context.Context, shift *fr.Element) error {
	one, n := fr.One(), fr.NewElement(uint64(s.n))
	rows := [2]fr.Element{one, power(s.root, s.n-blinded)}
	var factors [2]fr.Element
	for i := range factors {
		c := s.vanishing(shift)
		factors[i].Mul(&c, &rows[1-i]).Div(&factors[i], &n)
	}
	return poly.InPieces(ctx, s.ex, s.points.Len(), func(lo, hi int) {
		x, inverse, scratch := s.at[variable{point, 0}].Slice(lo, hi), s.inverse.Slice(lo, hi), s.scratch.Slice(lo, hi)
		dst := [2]poly.Vector{s.at[variable{last, 0}].Slice(lo, hi), s.at[variable{first, 0}].Slice(lo, hi)} // each has the other's factor
		x.Copy(s.points.Slice(lo, hi))
		x.Scale(shift)
		for i := range rows {
			scratch.Fill(&rows[i])
			dst[i].Sub(x, scratch)
		}
		inverse.Mul(dst[0], dst[1])
		inverse.Invert(scratch)
		for i := range rows {
			dst[i].Mul(dst[i], inverse)
			dst[i].Scale(&factors[i])
		}
	})
}

// separate turns the quotient modulo X^n - s^n, for each shift s, into its pieces. It blinds them against
// each other and commits to them.
func (p *prover) separate(shifts []fr.Element) error {
	pieces := p.pieces
	y := make([]fr.Element, len(shifts))
	for i := range y {
		y[i] = power(shifts[i], p.n)
	}
	if p.extra {
		top := p.leading()
		pieces[len(pieces)-1][p.n] = top
		for i := range pieces {
			var e fr.Element
			e.Mul(&top, ptr(power(y[i], len(pieces))))
			pieces[i][0].Sub(&pieces[i][0], &e)
		}
	}
	if err := p.interpolatePieces(y); err != nil {
		return err
	}
	for i := range pieces[1:] {
		b, err := p.random()
		if err != nil {
			return err
		}
		pieces[i][p.n].Add(&pieces[i][p.n], &b)
		pieces[i+1][0].Sub(&pieces[i+1][0], &b)
	}
	for i := range pieces {
		var err error
		if p.proof.quotient[i], err = p.commitment(p.srs.Canonical.Pk.G1, pieces[i]); err != nil {
			return err
		}
	}
	return nil
}

// leading returns the coefficient of the identity at its formal degree, which is also the quotient's.
func (p *prover) leading() fr.Element {
	return evaluate(p.identity, leadings(func(v variable) leading {
		l := leading{degree: p.degree(v)}
		n := fr.NewElement(uint64(p.n))
		switch v.kind {
		case scalar:
			l.top = p.scalars[v.index]
		case point:
			l.top.SetOne()
		case first:
			l.top.Inverse(&n)
		case last:
			l.top.Div(ptr(power(p.root, p.n-blinded)), &n)
		default:
			if v.kind.fixed() {
				l.top = p.leadingFixed[v]
			} else {
				l.top = p.columns[v.here()][p.n-1]
			}
			if v.kind.next() {
				l.top.Mul(&l.top, ptr(power(p.root, p.n-1)))
			}
		}
		return l
	})).top
}

// interpolatePieces replaces values by coefficients. The pieces are the values at y of a polynomial, and
// become its coefficients.
func (p *prover) interpolatePieces(y []fr.Element) error {
	factors := lagrangeCoefficients(y)
	exprs := make([]Expr, len(factors))
	for i := range exprs {
		for j := range factors[i] {
			exprs[i] = exprs[i].Add(Const(factors[i][j]).Mul(Cell(j)))
		}
	}
	return p.overTiles(exprs, func(values []fr.Element, v variable, lo int) { copy(values, p.pieces[v.index][lo:]) },
		func(i, lo int, values poly.Vector) { values.Get(p.pieces[i][lo : lo+values.Len()]) })
}

// lagrangeCoefficients returns, at i and j, the coefficient of Y^i in the polynomial that is 1 at y[j] and 0
// at the others.
func lagrangeCoefficients(y []fr.Element) [][]fr.Element {
	n := len(y)
	factors := make([][]fr.Element, n)
	for i := range factors {
		factors[i] = make([]fr.Element, n)
	}
	for j := range y {
		// The product of Y - y[i], i not j, over that of y[j] - y[i].
		c, den := []fr.Element{fr.One()}, fr.One()
		for i := range y {
			if i == j {
				continue
			}
			next := make([]fr.Element, len(c)+1)
			for d := range c {
				var e fr.Element
				next[d+1].Add(&next[d+1], &c[d])
				next[d].Sub(&next[d], e.Mul(&c[d], &y[i]))
			}
			c = next
			var d fr.Element
			den.Mul(&den, d.Sub(&y[j], &y[i]))
		}
		den.Inverse(&den)
		for d := range c {
			factors[d][j].Mul(&c[d], &den)
		}
	}
	return factors
}

func ptr(e fr.Element) *fr.Element { return &e }
