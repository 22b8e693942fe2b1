package plonkish

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// piece is a polynomial of n coefficients and perhaps one more.
type piece struct {
	low poly.Vector
	top fr.Element // of X^n
}

// The quotient is computed on parts of a coset. A part has few enough points that the columns of the identity
// fit in the second-level cache. It has at least an eighth of all, because each part reads all coefficients.
const partPoints, maxParts = 1 << 14, 8

// partSize returns the number of points of a part.
func (l *layout) partSize() int { return min(l.n, max(partPoints, l.n/maxParts)) }

// partCount returns the number of parts of a coset.
func (l *layout) partCount() int { return l.n / l.partSize() }

// shift returns the shift of a part, as a coset of the small domain. The parts of all cosets are numbered
// consecutively.
func (l *layout) shift(part int) fr.Element {
	shift, step := label(part/l.partCount()+1), power(l.root, part%l.partCount())
	return *shift.Mul(&shift, &step)
}

// evaluateOnCoset sets dst to the values of a polynomial on a coset of the small domain. powers holds the
// powers of the coset's shift.
func (k *ProvingKey) evaluateOnCoset(ctx context.Context, ex executor.Executor, dst, coefficients poly.Vector, shift fr.Element, powers poly.Vector) error {
	factor, one := dst.NewLike(min(dst.Len(), tile)), fr.One()
	factor.Fill(ptr(power(shift, dst.Len())))
	err := poly.InPieces(ctx, ex, dst.Len(), func(lo, hi int) {
		fold(dst, coefficients, factor, lo, hi)
		part := dst.Slice(lo, hi)
		part.Mul(part, powers.Slice(lo, hi))
	})
	if err != nil {
		return err
	}
	return k.part.NTT(ctx, ex, dst, poly.Natural, &one)
}

// quotient commits to the pieces of the identity divided by X^n - 1. The identity is computed on as many
// cosets of the domain as there are pieces, each of them part by part. It has at most one coefficient more
// than that determines, which follows from the columns' leading coefficients.
func (p *prover) quotient() error {
	shifts := make([]fr.Element, p.layout.pieces)
	p.pieces = make([]piece, p.layout.pieces)
	for c := range shifts {
		shifts[c] = p.shift(c * p.partCount()) // outside of the domain, and in different cosets
		p.pieces[c].low = p.take()
	}
	columns, size, parts := newParts(p), p.part.Size(), p.partCount()
	for c := range p.pieces {
		for i := range parts {
			if err := columns.move(c*parts+i, i > 0); err != nil {
				return err
			}
			// Part i has the points ω^i of all, which in reversed order are neighbours.
			at := int(bits.Reverse64(uint64(i))>>1>>(64-bits.Len(uint(parts)))) * size
			dst := p.pieces[c].low.Slice(at, at+size)
			if err := p.kernel.run(p.ctx, p.ex, p.form, dst, p.scalars[:], columns.get); err != nil {
				return err
			}
		}
		vanishing := p.vanishing(&shifts[c])
		end := p.span(SpanTransform)
		if err := p.domain.InverseNTT(p.ctx, p.ex, p.pieces[c].low, poly.BitReversed, &shifts[c]); err != nil {
			return err
		}
		end()
		if err := p.pieces[c].low.ScaleOn(p.ctx, p.ex, vanishing.Inverse(&vanishing)); err != nil {
			return err
		}
	}
	p.give(columns.memory...)
	if err := p.separate(shifts); err != nil {
		return err
	}
	p.zeta = p.rounds.quotient(p.proof)
	return nil
}

// parts holds the values of the identity's columns on a coset of a small domain.
type parts struct {
	*prover
	points   poly.Vector // of the domain
	at, next map[variable]poly.Vector
	powers   [2]poly.Vector // of the coset's shift, and the next rows'
	inverse  poly.Vector
	scratch  poly.Vector
	memory   []poly.Vector // of all that, of n elements each
}

func newParts(p *prover) *parts {
	s := &parts{prover: p, at: make(map[variable]poly.Vector), next: make(map[variable]poly.Vector)}
	var left poly.Vector
	size := p.part.Size()
	take := func() poly.Vector {
		if left.Len() == 0 {
			left = p.take()
			s.memory = append(s.memory, left)
		}
		v := left.Slice(0, size)
		left = left.Slice(size, left.Len())
		return v
	}
	s.points, s.inverse, s.scratch, s.powers[0], s.powers[1] = take(), take(), take(), take(), take()
	one, root := fr.One(), p.part.Root()
	s.points.SetPowers(&one, &root)
	s.points.BitReverse()
	for _, v := range p.identity.variables() {
		if v.kind == scalar {
			continue
		}
		if _, ok := s.at[v.here()]; !ok && p.expanded[v] == nil {
			s.at[v.here()] = take()
		}
		if v.kind.next() {
			s.next[v.here()] = take()
		}
	}
	return s
}

func (s *parts) get(v variable) poly.Vector {
	if v.kind.next() {
		return s.next[v.here()]
	}
	return s.at[v]
}

// move computes the columns for a part. If the part follows the last one, what was the next row is now the
// row itself.
func (s *parts) move(part int, follows bool) error {
	type job struct {
		column  variable
		dst     poly.Vector
		further bool
	}
	var jobs []job
	var further fr.Element
	shift := s.shift(part)
	further.Mul(&shift, &s.root)
	for _, v := range s.committed {
		if kept, ok := s.expanded[v]; ok {
			s.at[v] = kept[part]
			continue
		}
		next, ahead := s.next[v]
		if ahead && follows {
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
	if err := s.powers[0].SetPowersOn(s.ctx, s.ex, &one, &shift); err != nil {
		return err
	}
	if err := s.powers[1].SetPowersOn(s.ctx, s.ex, &one, &further); err != nil {
		return err
	}
	err := s.ex.Do(s.ctx, len(jobs), func(ctx context.Context, i int) error {
		j := &jobs[i]
		shift, powers := shift, s.powers[0]
		if j.further {
			shift, powers = further, s.powers[1]
		}
		return s.evaluateOnCoset(ctx, s.ex, j.dst, s.columns[j.column], shift, powers)
	})
	if err != nil {
		return err
	}
	end()
	return s.lagrange(&shift)
}

// lagrange sets the points of a coset, and the Lagrange polynomials of the first row and the last at these points:
// Z_H ω^i / n (X - ω^i). It inverts the product of both.
func (s *parts) lagrange(shift *fr.Element) error {
	one, n := fr.One(), fr.NewElement(uint64(s.n))
	rows := [2]fr.Element{one, power(s.root, s.n-blinded)}
	var factors [2]fr.Element
	for i := range factors {
		c := s.vanishing(shift)
		factors[i].Mul(&c, &rows[1-i]).Div(&factors[i], &n)
	}
	return s.inParts(s.points.Len(), func(lo, hi int) {
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

// fold sets elements lo to hi-1 of dst to the coefficients modulo X^len(dst) - c. All elements of factor, which has
// the length of a tile, are c.
func fold(dst, coefficients, factor poly.Vector, lo, hi int) {
	size, step := dst.Len(), factor.Len()
	for ; lo < hi; lo += step {
		d := dst.Slice(lo, lo+step)
		for at := coefficients.Len() - size; at >= 0; at -= size {
			from := coefficients.Slice(at+lo, at+lo+step)
			if at+size == coefficients.Len() {
				d.Copy(from)
			} else {
				d.Mul(d, factor)
				d.Add(d, from)
			}
		}
	}
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
		pieces[len(pieces)-1].top = top
		for i := range pieces {
			var e fr.Element
			e.Mul(&top, ptr(power(y[i], len(pieces))))
			addTo(pieces[i].low, e, true)
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
		pieces[i].top.Add(&pieces[i].top, &b)
		addTo(pieces[i+1].low, b, true)
	}
	for i := range pieces {
		all, err := p.coefficients(pieces[i])
		if err != nil {
			return err
		}
		if p.proof.quotient[i], err = p.commitment(p.srs.Canonical.Pk.G1, all); err != nil {
			return err
		}
	}
	return nil
}

// coefficients returns all n + 1 coefficients, in memory that the next call overwrites.
func (p *prover) coefficients(of piece) ([]fr.Element, error) {
	if err := of.low.GetOn(p.ctx, p.ex, p.elements); err != nil {
		return nil, err
	}
	p.elements = append(p.elements, of.top)
	all := p.elements
	p.elements = p.elements[:p.n]
	return all, nil
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
			l.top = p.columns[v.here()].Slice(p.n-8, p.n).Elements()[7]
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
	pieces := p.pieces
	factors := lagrangeCoefficients(y)
	size := min(p.n, tile)
	type some struct {
		runs []*run
		sums []poly.Vector
	}
	tiles := spare[*some]{made: func() *some {
		s := &some{make([]*run, len(pieces)), make([]poly.Vector, len(pieces))}
		for i := range pieces {
			var e Expr
			for j := range pieces {
				e = e.Add(Const(factors[i][j]).Mul(Cell(j)))
			}
			s.runs[i] = newKernel(compile(e)).start(p.form, size, nil, func(v variable) poly.Vector { return pieces[v.index].low })
			s.sums[i] = p.form.New(size)
		}
		return s
	}}
	return p.inParts(p.n, func(lo, hi int) {
		s := tiles.take()
		defer tiles.give(s)
		for ; lo < hi; lo += size {
			for i, r := range s.runs {
				r.at = lo
				r.tile(s.sums[i])
			}
			for i := range pieces {
				pieces[i].low.Slice(lo, lo+size).Copy(s.sums[i])
			}
		}
	})
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

// addTo adds e to the first element, or subtracts it.
func addTo(v poly.Vector, e fr.Element, subtract bool) {
	low := v.Slice(0, 8)
	some := low.Elements()
	if subtract {
		e.Neg(&e)
	}
	some[0].Add(&some[0], &e)
	low.Set(some)
}

func ptr(e fr.Element) *fr.Element { return &e }
