package goldilocks

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/executor"
)

// valueBlocks is how many blocks of points are a task of EvalValues.
const valueBlocks = 16

// Coset is Shift times a domain.
type Coset struct {
	Domain *Domain
	Shift  Element // not 0
	Order  Order   // of its points
}

// EvalValues returns the values at point of polynomials of degree below n, values[i] being
// the i-th's values on a coset of n points. Lengths other than n, a shift of 0, and a shift or
// a coordinate of point that is not canonical are zkbench.ErrParams. The executor's tasks are
// parts of the coset.
//
// By the barycentric formula, over the points d of the coset,
// f(x) = (shift^n - x^n) / (n shift^n) times the sum of f(d) d / (d - x). The weights are
// computed once, with about 15 multiplications for each point; then the cost is EvalAll's.
func EvalValues[E Extension[E]](ctx context.Context, ex executor.Executor, c Coset, values [][]Element, point E, on ...Kernel) ([]E, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	for i, v := range values {
		if err := c.Domain.checkLength(fmt.Sprintf("values[%d]", i), v); err != nil {
			return nil, err
		}
	}
	if err := checkPoint(point); err != nil {
		return nil, err
	}
	k, d, shift := chosen(on), c.Domain, c.Shift
	n := uint64(d.n)
	power := shift.Exp(n)
	var constant E
	constant[0] = power.Neg()
	vanishing := point.Exp(n).Add(constant)
	points := k.newProgression(d.n, c.Order, shift, d.root)
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
	minimal := characteristic(point)
	tasks := (len(points.factors) + valueBlocks - 1) / valueBlocks
	sums := make([][]E, tasks)
	err := ex.Do(ctx, tasks, func(_ context.Context, t int) error {
		start := t * valueBlocks
		sums[t] = weigh(k, points, start, min(start+valueBlocks, len(points.factors)), values, minimal)
		return nil
	})
	if err != nil {
		return nil, err
	}
	factor := vanishing.MulBase(power.Inverse().Mul(d.inverse).Neg())
	for j := range results {
		for _, s := range sums {
			results[j] = results[j].Add(s[j])
		}
		results[j] = results[j].Mul(factor)
	}
	return results, nil
}

func (c Coset) check() error {
	if err := c.Domain.checkMade(); err != nil {
		return err
	}
	if err := checkOrder(c.Order); err != nil {
		return err
	}
	return checkShift(c.Shift)
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

// weigh returns for each of values the sum of f(d) d / (d - x) over the blocks of points d
// from start to end.
func weigh[E Extension[E]](k Kernel, p progression, start, end int, values [][]Element, x monic[E]) []E {
	sums := make([]E, len(values))
	m := len(p.powers)
	weights := vectors(len(x.quotient), m)
	scratch := vectors(2, m)
	for b := start; b < end; b++ {
		d := scratch[0]
		MulScalar(d, p.powers, p.factors[b], k)
		x.reciprocals(k, weights, scratch[1], d)
		for _, w := range weights {
			Mul(w, w, d, k)
		}
		for j, v := range values {
			sums[j] = sums[j].Add(dot[E](k, v[b*m:][:m], weights))
		}
	}
	return sums
}

// monic is the characteristic polynomial of the multiplication by an element x of an
// extension, of which x is a root, and its quotient by T - x: the coefficient of T^i at i.
type monic[E Extension[E]] struct {
	coefficients []Element
	quotient     []E
}

// characteristic returns that of x. With the traces t_i of its powers the coefficients are,
// by Newton's identities, c_(e-k) = -(c_e t_k + c_(e-1) t_(k-1) + ... + c_(e-k+1) t_1) / k.
func characteristic[E Extension[E]](x E) (m monic[E]) {
	e := len(x)
	m.coefficients, m.quotient = make([]Element, e+1), make([]E, e)
	m.coefficients[e] = 1
	m.quotient[e-1][0] = 1
	power := m.quotient[e-1]
	var traces []Element
	for k := 1; k <= e; k++ {
		power = power.Mul(x)
		traces = append(traces, trace(power))
		var sum Element
		for i, t := range traces {
			sum = sum.Add(t.Mul(m.coefficients[e-k+1+i]))
		}
		m.coefficients[e-k] = sum.Mul(Element(k).Inverse()).Neg()
	}
	for i := e - 1; i > 0; i-- {
		var c E
		c[0] = m.coefficients[i]
		m.quotient[i-1] = m.quotient[i].Mul(x).Add(c)
	}
	return m
}

// trace is that of the multiplication by x.
func trace[E Extension[E]](x E) (t Element) {
	for i := range len(x) {
		var unit E
		unit[i] = 1
		t = t.Add(x.Mul(unit)[i])
	}
	return t
}

// reciprocals sets out to the coordinates of 1 / (d - x) for each d of points, none of which
// is x. scratch is a vector.
//
// With the characteristic polynomial c and its quotient q, c(d) = (d - x) q(d), so that the
// reciprocal is q(d) / c(d); c(d) is of the field, and not 0 since d is none of c's roots.
func (m monic[E]) reciprocals(k Kernel, out [][]Element, scratch, points []Element) {
	evaluate(k, scratch, points, m.coefficients)
	BatchInverse(scratch, scratch, k)
	coordinate := make([]Element, len(m.quotient))
	for i, o := range out {
		for j, q := range m.quotient {
			coordinate[j] = q[i]
		}
		evaluate(k, o, points, coordinate)
		Mul(o, o, scratch, k)
	}
}

// evaluate sets dst to a polynomial's values at points, by Horner's rule.
func evaluate(k Kernel, dst, points, coefficients []Element) {
	last := len(coefficients) - 1
	for last > 0 && coefficients[last] == 0 {
		last--
	}
	if last == 0 {
		for i := range dst {
			dst[i] = coefficients[0]
		}
		return
	}
	if top := coefficients[last]; top == 1 {
		copy(dst, points)
	} else {
		MulScalar(dst, points, top, k)
	}
	addScalar(dst, coefficients[last-1])
	for _, c := range slices.Backward(coefficients[:last-1]) {
		Mul(dst, dst, points, k)
		addScalar(dst, c)
	}
}

func addScalar(a []Element, c Element) {
	minus := c.Neg() // Sub has no branch
	for i := range a {
		a[i] = a[i].Sub(minus)
	}
}
