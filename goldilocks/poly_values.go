package goldilocks

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/executor"
)

// valueBlocks is the number of blocks of points in a task of EvalValues.
const valueBlocks = 16

// Coset is a coset of a domain: the elements of the domain, each multiplied by Shift.
type Coset struct {
	Domain *Domain
	Shift  Element // not 0
	Order  Order   // of its points
}

// EvalValues returns the value of each polynomial at the given point. The polynomials have degree
// below n and are given by their values on a coset of n points: values[i] holds those of polynomial
// i. EvalValues returns zkbench.ErrParams if the length of values[i] is not n, if the shift is 0 or
// not canonical, or if a coordinate of the given point is not canonical. Each task of the executor
// works on a part of the coset.
//
// EvalValues uses the barycentric formula: f(x) is (shift^n - x^n) / (n * shift^n) times the sum of
// f(d) * d / (d - x) over the points d of the coset. The weights of the values f(d) are computed
// once, with about 15 multiplications for each d. After that the cost is the same as for EvalAll.
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

// index returns the index of e, which p must contain.
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

// weigh returns, for each vector of values, the sum of f(d) d / (d - x) over the blocks of points d
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

// monic is the characteristic polynomial of the multiplication by an element x of an extension, and
// its quotient by T - x, since x is a root. The coefficient of T^i is at index i.
type monic[E Extension[E]] struct {
	coefficients []Element
	quotient     []E
}

// characteristic returns the characteristic polynomial of x. With the traces t_i of x's powers,
// Newton's identities give the coefficients c_(e-k) = -(c_e t_k + c_(e-1) t_(k-1) + ... + c_(e-k+1)
// t_1) / k.
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

// trace returns the trace of the multiplication by x.
func trace[E Extension[E]](x E) (t Element) {
	for i := range len(x) {
		var unit E
		unit[i] = 1
		t = t.Add(x.Mul(unit)[i])
	}
	return t
}

// reciprocals sets out to the coordinates of 1 / (d - x) for each d of points, none of which is x.
// scratch is a vector.
//
// With the characteristic polynomial c and its quotient q, c(d) = (d - x) q(d), so the reciprocal
// is q(d) / c(d). c(d) is in the base field, and not 0 because d is not a root of c.
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
