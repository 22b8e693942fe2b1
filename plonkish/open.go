package plonkish

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/poly"
)

// weighed is a weighted sum of polynomials: columns of n coefficients, pieces of one more, and columns that the circuit
// decides, as an Expr of their rows.
type weighed struct {
	weights []fr.Element
	columns [][]fr.Element
	fixed   Expr
	sum     []fr.Element // n + 1 coefficients, once they are known
}

func (w *weighed) add(weight fr.Element, column []fr.Element) {
	w.weights, w.columns = append(w.weights, weight), append(w.columns, column)
}

func (w *weighed) addFixed(weight fr.Element, v variable) {
	w.fixed = w.fixed.Add(Const(weight).Mul(varExpr(v.kind, v.index)))
}

func (w *weighed) isEmpty() bool { return len(w.columns) == 0 && w.fixed.node == nil }

// sum computes the sum.
func (p *prover) sum(w *weighed) error {
	if w.fixed.node != nil {
		fixed := p.takeList()
		defer p.giveList(fixed)
		err := p.overTiles([]Expr{w.fixed}, p.gather, func(_, lo int, values poly.Vector) {
			var some [tile]fr.Element
			values.Get(some[:values.Len()])
			p.setRows(fixed, some[:values.Len()], lo)
		})
		if err != nil {
			return err
		}
		if err := p.fromRows(fixed); err != nil {
			return err
		}
		w.add(fr.One(), fixed)
	}
	w.sum = p.takeList()[:p.n+1]
	w.sum[p.n].SetZero()
	var e Expr
	for i, c := range w.columns {
		e = e.Add(Const(w.weights[i]).Mul(Cell(i)))
		if len(c) > p.n {
			var top fr.Element
			w.sum[p.n].Add(&w.sum[p.n], top.Mul(&c[p.n], &w.weights[i]))
		}
	}
	return p.overTiles([]Expr{e}, func(values []fr.Element, v variable, lo int) { copy(values, w.columns[v.index][lo:]) },
		func(_, lo int, values poly.Vector) { values.Get(w.sum[lo : lo+values.Len()]) })
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
	p.freeSums() // their memory is for the polynomials to be opened
	p.elements = p.takeList()
	t := p.points(p.zeta)
	if err := p.evaluateOpened(&t.zeta, &t.next); err != nil {
		return err
	}
	sums := p.claimed(p.rounds.values(p.proof))
	quotient := p.takeList()
	clear(quotient)
	for s := range setCount {
		if sums[s].isEmpty() {
			continue
		}
		if err := p.sum(&sums[s]); err != nil {
			return err
		}
		coefficients, err := p.copied(sums[s].sum)
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
	for _, column := range p.columns { // only their sums are needed from here on
		p.giveList(column)
	}
	for _, piece := range p.pieces {
		p.giveList(piece)
	}
	err := p.trim()
	if err != nil {
		return err
	}
	if p.proof.opening[0], err = p.commitment(p.srs.Canonical.Pk.G1, quotient); err != nil {
		return err
	}
	x := p.rounds.opening(p.proof)
	var all weighed
	for s := range setCount {
		if !sums[s].isEmpty() {
			all.add(t.outside(s, &x), sums[s].sum)
		}
	}
	weight := t.all(&x)
	all.add(*weight.Neg(&weight), quotient)
	if err := p.sum(&all); err != nil {
		return err
	}
	if quotient, err = p.divide(all.sum, &x); err != nil {
		return err
	}
	p.proof.opening[1], err = p.commitment(p.srs.Canonical.Pk.G1, quotient)
	return err
}

// copied returns a copy of n + 1 coefficients, in memory that the next call overwrites.
func (p *prover) copied(coefficients []fr.Element) ([]fr.Element, error) {
	all := p.elements[:len(coefficients)]
	return all, p.inParts(len(all), func(lo, hi int) { copy(all[lo:hi], coefficients[lo:hi]) })
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
	loaded := spare[poly.Vector]{made: func() poly.Vector { return p.form.New(size) }}
	err := p.ex.Do(p.ctx, len(values), func(_ context.Context, task int) error {
		i, part := task/parts, task%parts
		if column, ok := p.columns[p.opened[i].here()]; ok {
			v := loaded.take()
			defer loaded.give(v)
			v.Set(column[part*size : (part+1)*size])
			values[task] = v.Evaluate(at(i))
		}
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
	return p.evaluateFixed(zeta)
}

// evaluateFixed sets the values of the opened columns that the circuit decides. It takes them from the columns' rows,
// by the Lagrange polynomials: that of row i has the value (ζ^n - 1) ω^i / n (ζ - ω^i).
func (p *prover) evaluateFixed(zeta *fr.Element) error {
	var fixed []int
	for i, v := range p.opened {
		if v.kind.fixed() {
			fixed = append(fixed, i)
		}
	}
	size := min(p.n, poly.Piece)
	type some struct {
		values                   []fr.Element
		points, weights, scratch poly.Vector
	}
	pieces := spare[*some]{made: func() *some {
		return &some{make([]fr.Element, size), p.form.New(size), p.form.New(size), p.form.New(size)}
	}}
	sums := make([]fr.Element, p.n/size*len(fixed))
	err := p.inParts(p.n, func(lo, _ int) {
		s := pieces.take()
		defer pieces.give(s)
		p.gather(s.values, variable{point, 0}, lo)
		s.points.Set(s.values)
		s.weights.Fill(zeta)
		s.weights.Sub(s.weights, s.points)
		s.weights.Invert(s.scratch)
		s.weights.Mul(s.weights, s.points)
		for j, i := range fixed {
			p.gather(s.values, p.opened[i], lo)
			s.scratch.Set(s.values)
			s.scratch.Mul(s.scratch, s.weights)
			sums[lo/size*len(fixed)+j] = s.scratch.Sum()
		}
	})
	if err != nil {
		return err
	}
	n, factor := fr.NewElement(uint64(p.n)), p.vanishing(zeta)
	factor.Div(&factor, &n)
	for j, i := range fixed {
		value := &p.proof.values[i]
		value.SetZero()
		for k := j; k < len(sums); k += len(fixed) {
			value.Add(value, &sums[k])
		}
		value.Mul(value, &factor)
	}
	return nil
}

// claimed returns the weighted sum of what is opened at each set: the linearisation, and ν^i times claim i,
// counted from 1.
func (p *prover) claimed(nu fr.Element) (sums [setCount]weighed) {
	add := func(s set, weight fr.Element, v variable) {
		if v.kind.fixed() {
			sums[s].addFixed(weight, v)
		} else {
			sums[s].add(weight, p.columns[v])
		}
	}
	a := atZetaAlgebra{layout: p.layout, scalars: &p.scalars, zeta: p.zeta, values: p.proof.values}
	factors, _ := a.linearisation()
	for i, f := range factors {
		if i < len(p.linear) {
			add(atZeta, f, p.linear[i])
		} else {
			sums[atZeta].add(f, p.pieces[i-len(p.linear)])
		}
	}
	weight := nu
	for _, c := range p.claims() {
		add(c.set, weight, c.column)
		weight.Mul(&weight, &nu)
	}
	return sums
}
