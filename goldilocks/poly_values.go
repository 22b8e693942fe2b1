package goldilocks

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
)

// valueBlocks is how many blocks of points are a task of EvalValues.
const valueBlocks = 16

// EvalValues returns the values at point of polynomials of degree below n, values[i] being
// the i-th's values on the coset shift times the domain, in the given order. Lengths other
// than the domain's, a shift of 0, and a shift or a coordinate of point that is not
// canonical are zkbench.ErrParams. The executor's tasks are parts of the coset.
//
// By the barycentric formula, over the points d of the coset,
// f(x) = (x^n - shift^n) / (n shift^n) times the sum of f(d) d / (x - d). The weights are
// computed once, with about 15 multiplications for each point; then the cost is EvalAll's.
func EvalValues[E Extension[E]](ctx context.Context, ex executor.Executor, k Kernel, d *Domain, values [][]Element, order Order, shift Element, point E) ([]E, error) {
	if err := d.checkMade(); err != nil {
		return nil, err
	}
	for i, v := range values {
		if err := d.checkLength(fmt.Sprintf("values[%d]", i), v); err != nil {
			return nil, err
		}
	}
	if err := checkOrder(order); err != nil {
		return nil, err
	}
	if err := checkShift(shift); err != nil {
		return nil, err
	}
	if err := checkPoint(point); err != nil {
		return nil, err
	}
	n := uint64(d.n)
	power := shift.Exp(n)
	var constant E
	constant[0] = power.Neg()
	vanishing := point.Exp(n).Add(constant)
	points := k.newProgression(d.n, order, shift, d.root)
	results := make([]E, len(values))
	var zero E
	if vanishing == zero {
		// The point is one of the coset.
		i := points.index(point[0])
		for j, v := range values {
			results[j][0] = v[i]
		}
		return results, nil
	}
	tasks := (len(points.factors) + valueBlocks - 1) / valueBlocks
	sums := make([][]E, tasks)
	err := ex.Do(ctx, tasks, func(_ context.Context, t int) error {
		start := t * valueBlocks
		sums[t] = weigh(k, points, start, min(start+valueBlocks, len(points.factors)), values, point)
		return nil
	})
	if err != nil {
		return nil, err
	}
	factor := vanishing.MulBase(power.Inverse().Mul(d.inverse))
	for j := range results {
		for _, s := range sums {
			results[j] = results[j].Add(s[j])
		}
		results[j] = results[j].Mul(factor)
	}
	return results, nil
}

// index is the place of e, which p has.
func (p progression) index(e Element) int {
	for b, f := range p.factors {
		for i, power := range p.powers {
			if power.Mul(f) == e {
				return b*len(p.powers) + i
			}
		}
	}
	panic("goldilocks: an element of a coset is none of its points") // unreachable: x^n - shift^n has no other roots
}

// weigh returns for each of values the sum of f(d) d / (point - d) over the blocks of
// points d from start to end.
func weigh[E Extension[E]](k Kernel, p progression, start, end int, values [][]Element, point E) []E {
	sums := make([]E, len(values))
	m := len(p.powers)
	weights := vectors(len(point), m)
	scratch := vectors(4, m)
	for b := start; b < end; b++ {
		d := scratch[0]
		k.MulScalar(d, p.powers, p.factors[b])
		reciprocals(k, weights, scratch[1:], d, point)
		for _, w := range weights {
			k.Mul(w, w, d)
		}
		for j, v := range values {
			sums[j] = sums[j].Add(dot[E](k, v[b*m:][:m], weights))
		}
	}
	return sums
}

// reciprocals sets out to the coordinates of 1 / (point - d) for each d of points, none of
// which is point. scratch is three vectors.
func reciprocals[E Extension[E]](k Kernel, out, scratch [][]Element, points []Element, point E) {
	a, norm, s := scratch[0], scratch[1], scratch[2]
	for i, d := range points {
		a[i] = point[0].Sub(d) // the first coordinate; the others are point's
	}
	switch x := any(point).(type) {
	case Ext2:
		// (a - x1 X) / (a^2 - 7 x1^2).
		k.Square(norm, a)
		addScalar(norm, x[1].Square().Mul(nonResidue).Neg())
		copy(out[0], a)
		for i := range out[1] {
			out[1][i] = x[1].Neg()
		}
	case Ext3:
		// As Ext3.Inverse, with a in place of the first coordinate.
		t := x[1].Add(x[2])
		copy(s, a)
		addScalar(s, x[2])
		k.Square(out[0], s)
		addScalar(out[0], t.Mul(x[1]).Neg())
		k.MulScalar(out[1], s, x[1].Neg())
		addScalar(out[1], t.Mul(x[2]))
		k.MulScalar(out[2], s, x[2].Neg())
		addScalar(out[2], x[1].Square())
		k.Mul(norm, a, out[0])
		k.MulScalar(s, out[1], x[2])
		k.Add(norm, norm, s)
		k.MulScalar(s, out[2], x[1])
		k.Add(norm, norm, s)
	}
	k.BatchInverse(norm, norm)
	for _, o := range out {
		k.Mul(o, o, norm)
	}
}

func addScalar(a []Element, c Element) {
	minus := c.Neg() // Sub has no branch
	for i := range a {
		a[i] = a[i].Sub(minus)
	}
}
