package plonkish

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
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
func (p *prover) divide(coefficients []fr.Element, a *fr.Element) ([]fr.Element, error) {
	err := divideIn(p.ctx, p.ex, coefficients, a)
	return coefficients[1:], err
}

// divideIn sets each coefficient i to the sum of all from i on, times a to the power of their distance. What a
// piece gets from those above it is their value at a, which each computes first. One processor does without that.
func divideIn(ctx context.Context, ex executor.Executor, coefficients []fr.Element, a *fr.Element) error {
	n := len(coefficients)
	count := (n + poly.Piece - 1) / poly.Piece
	if ex.Width() == 1 {
		count = 1
	}
	bounds := func(i int) (lo, hi int) { return n * i / count, n * (i + 1) / count }
	above := make([]fr.Element, count+1) // by piece, the carry into the one below
	horner := func(carry fr.Element, some []fr.Element, keep bool) fr.Element {
		for i := len(some) - 1; i >= 0; i-- {
			carry.Mul(&carry, a).Add(&carry, &some[i])
			if keep {
				some[i] = carry
			}
		}
		return carry
	}
	if count > 1 {
		err := ex.Do(ctx, count, func(_ context.Context, i int) error {
			lo, hi := bounds(i)
			above[i] = horner(fr.Element{}, coefficients[lo:hi], false)
			return nil
		})
		if err != nil {
			return err
		}
		for i := count - 2; i >= 0; i-- {
			lo, hi := bounds(i)
			step := power(*a, hi-lo)
			above[i].Add(&above[i], step.Mul(&step, &above[i+1]))
		}
	}
	return ex.Do(ctx, count, func(_ context.Context, i int) error {
		lo, hi := bounds(i)
		horner(above[i+1], coefficients[lo:hi], true)
		return nil
	})
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
	if err := p.evaluateOpened(&t.zeta, &t.next); err != nil {
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
		coefficients, err := p.coefficients(sums[s].piece)
		if err != nil {
			return err
		}
		for _, point := range t.inSet(s) {
			if coefficients, err = p.divide(coefficients, &point); err != nil {
				return err
			}
		}
		err = p.inParts(len(coefficients), func(lo, hi int) {
			for i := lo; i < hi; i++ {
				quotient[i].Add(&quotient[i], &coefficients[i])
			}
		})
		if err != nil {
			return err
		}
	}
	var err error
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
	if err := low.SetOn(p.ctx, p.ex, quotient); err != nil {
		return err
	}
	all.add(*weight.Neg(&weight), low, fr.Element{})
	if err := p.sum(&all, low); err != nil {
		return err
	}
	if quotient, err = p.coefficients(all.piece); err != nil {
		return err
	}
	if quotient, err = p.divide(quotient, &x); err != nil {
		return err
	}
	p.proof.opening[1], err = p.commitment(p.srs.Canonical.Pk.G1, quotient)
	return err
}

// evaluatedAtOnce is how many coefficients a task evaluates. Each task ends with a Horner scheme of its own.
const evaluatedAtOnce = 1 << 15

// evaluateOpened sets the values of the proof: those of the opened columns at ζ, or at ωζ if they are of the next row.
func (p *prover) evaluateOpened(zeta, next *fr.Element) error {
	size := min(p.n, evaluatedAtOnce)
	parts := p.n / size
	values := make([]fr.Element, parts*len(p.opened))
	at := func(i int) *fr.Element {
		if p.opened[i].kind.next() {
			return next
		}
		return zeta
	}
	err := p.ex.Do(p.ctx, len(values), func(_ context.Context, task int) error {
		i, part := task/parts, task%parts
		values[task] = p.columns[p.opened[i].here()].Slice(part*size, (part+1)*size).Evaluate(at(i))
		return nil
	})
	if err != nil {
		return err
	}
	for i := range p.opened {
		step, value := power(*at(i), size), &p.proof.values[i]
		for part := parts - 1; part >= 0; part-- {
			value.Mul(value, &step).Add(value, &values[i*parts+part])
		}
	}
	return nil
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
