package plonkish

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/arith/poly"
)

// weighed is a weighted sum of polynomials, of n coefficients and perhaps one more.
type weighed struct {
	weights []fr.Element
	columns []poly.Vector
	piece   // the sum; the lower coefficients once they are known
}

func (w *weighed) add(weight fr.Element, low poly.Vector, top fr.Element) {
	w.weights, w.columns = append(w.weights, weight), append(w.columns, low)
	w.top.Add(&w.top, top.Mul(&top, &weight))
}

// sum computes the sum in the memory of low, which may be one of the columns.
func (p *prover) sum(w *weighed, low poly.Vector) error {
	var e Expr
	for i := range w.columns {
		e = e.Add(Const(w.weights[i]).Mul(Cell(i)))
	}
	w.low = low
	return p.evaluate(w.low, e, func(v variable) poly.Vector { return w.columns[v.index] })
}

// divide turns coefficients into those of the quotient by X - a, which has one less. The remainder is
// dropped.
func divide(coefficients []fr.Element, a *fr.Element) []fr.Element {
	var carry fr.Element
	for i := len(coefficients) - 1; i >= 0; i-- {
		carry.Mul(&carry, a).Add(&carry, &coefficients[i])
		coefficients[i] = carry
	}
	return coefficients[1:]
}

// open sets the values and the opening of the proof: two commitments for all points (Boneh, Drake, Fisch and
// Gabizon 2020/081, section 4). Polynomials f have the values of r at points S of T = {ζ, ωζ}. With powers of
// ν as weights,
//
//	W = Σ ν^i (f - r) / Z_S,
//	W' = (Σ ν^i Z_T\S(x) (f - r(x)) - Z_T(x) W) / (X - x).
//
// Each r is what a division leaves over.
func (p *prover) open() error {
	t := p.points(p.zeta)
	err := p.ex.Do(p.ctx, len(p.opened), func(_ context.Context, i int) error {
		point := &t.zeta
		if p.opened[i].kind.next() {
			point = &t.next
		}
		p.proof.values[i] = p.columns[p.opened[i].here()].Evaluate(point)
		return nil
	})
	if err != nil {
		return err
	}
	sums := p.claimed(p.rounds.values(p.proof))
	quotient := p.newElements(p.n)
	for s := range setCount {
		if len(sums[s].columns) == 0 {
			continue
		}
		low := p.pieces[0].low // only the first sum has pieces
		if s != atZeta {
			low = p.take()
		}
		if err := p.sum(&sums[s], low); err != nil {
			return err
		}
		coefficients := p.coefficients(sums[s].piece)
		for _, point := range t.inSet(s) {
			coefficients = divide(coefficients, &point)
		}
		for i := range coefficients {
			quotient[i].Add(&quotient[i], &coefficients[i])
		}
	}
	if p.proof.opening[0], err = p.commitment(p.srs.Canonical.Pk.G1, quotient); err != nil {
		return err
	}
	x := p.rounds.opening(p.proof)
	var all weighed
	for s := range setCount {
		if len(sums[s].columns) > 0 {
			all.add(t.outside(s, &x), sums[s].low, sums[s].top)
		}
	}
	weight := t.all(&x)
	low := p.take()
	low.Set(quotient)
	all.add(*weight.Neg(&weight), low, fr.Element{})
	if err := p.sum(&all, low); err != nil {
		return err
	}
	quotient = divide(p.coefficients(all.piece), &x)
	p.proof.opening[1], err = p.commitment(p.srs.Canonical.Pk.G1, quotient)
	return err
}

// claimed returns the weighted sum of what is opened at each set: the linearisation, and ν^i times claim i,
// counted from 1.
func (p *prover) claimed(nu fr.Element) (sums [setCount]weighed) {
	a := atZetaAlgebra{layout: p.layout, scalars: &p.scalars, zeta: p.zeta, values: p.proof.values}
	factors, _ := a.linearisation()
	for i, f := range factors {
		if i < len(p.linear) {
			sums[atZeta].add(f, p.columns[p.linear[i]], fr.Element{})
		} else {
			piece := &p.pieces[i-len(p.linear)]
			sums[atZeta].add(f, piece.low, piece.top)
		}
	}
	weight := nu
	for _, c := range p.claims() {
		sums[c.set].add(weight, p.columns[c.column], fr.Element{})
		weight.Mul(&weight, &nu)
	}
	return sums
}
