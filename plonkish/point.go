package plonkish

import (
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// linearForm is a constant and a sum of the layout's linear columns.
type linearForm struct {
	constant fr.Element
	of       []fr.Element // by the layout's linear; nil: none
}

// atZetaAlgebra is the algebra of the identity at ζ. What is opened has a value, and the rest are linear
// forms.
type atZetaAlgebra struct {
	*layout
	zeta    fr.Element
	scalars *[challenges]fr.Element
	values  []fr.Element // of the layout's opened
}

func (a *atZetaAlgebra) variable(v variable) (f linearForm) {
	switch v.kind {
	case scalar:
		f.constant = a.scalars[v.index]
	case point:
		f.constant = a.zeta
	case first:
		f.constant = a.lagrange(0, &a.zeta)
	case last:
		f.constant = a.lagrange(a.n-blinded, &a.zeta)
	default:
		for i, o := range a.opened {
			if o == v {
				f.constant = a.values[i]
				return f
			}
		}
		f.of = make([]fr.Element, len(a.linear))
		for i, o := range a.linear {
			if o == v {
				f.of[i].SetOne()
			}
		}
	}
	return f
}

func (a *atZetaAlgebra) constant(c fr.Element) linearForm { return linearForm{constant: c} }

func (a *atZetaAlgebra) apply(o op, x, y linearForm) linearForm {
	f := linearForm{constant: apply(o, x.constant, y.constant)}
	if x.of == nil && y.of == nil {
		return f
	}
	f.of = make([]fr.Element, len(a.linear))
	switch {
	case o != opMul:
		copy(f.of, x.of)
		for i := range y.of {
			f.of[i] = apply(o, f.of[i], y.of[i])
		}
	case x.of == nil:
		for i := range f.of {
			f.of[i].Mul(&y.of[i], &x.constant)
		}
	default: // a product of two forms is none: the layout opens one of them
		for i := range f.of {
			f.of[i].Mul(&x.of[i], &y.constant)
		}
	}
	return f
}

// lagrange returns the value at x of the Lagrange polynomial of row i. x must not be a root of the domain.
func (l *layout) lagrange(i int, x *fr.Element) (y fr.Element) {
	w, n := power(l.root, i), fr.NewElement(uint64(l.n))
	y.Sub(x, &w).Mul(&y, &n).Inverse(&y)
	vanishing := l.vanishing(x)
	return *y.Mul(&y, &vanishing).Mul(&y, &w)
}

// vanishing returns x^n - 1.
func (l *layout) vanishing(x *fr.Element) (y fr.Element) {
	y, one := power(*x, l.n), fr.One()
	return *y.Sub(&y, &one)
}

// linearisation returns what must be 0 at ζ: the identity less Z_H(ζ) times the quotient. It is given as
// factors of the linear columns and of the quotient's pieces, and a constant.
func (a *atZetaAlgebra) linearisation() (factors []fr.Element, constant fr.Element) {
	f := evaluate(a.identity, a)
	factors = append(factors, f.of...)
	zn, c := power(a.zeta, a.n), a.vanishing(&a.zeta)
	c.Neg(&c)
	for range a.pieces {
		factors = append(factors, c)
		c.Mul(&c, &zn)
	}
	return factors, f.constant
}

// set is a set of points at which a polynomial is opened.
type set int

const (
	atZeta set = iota
	atNext     // at ωζ
	atBoth
	setCount
)

// claim is an opened polynomial and its values.
type claim struct {
	column     variable
	set        set
	here, next int // indices in the layout's opened
}

// claims returns the claims about the layout's columns, in order. The linearisation is not among them; its
// value at ζ is derived in another way.
func (l *layout) claims() []claim {
	var all []claim
	for _, v := range l.committed {
		c := claim{column: v, here: -1, next: -1}
		for i, o := range l.opened {
			switch {
			case o == v:
				c.here = i
			case o.here() == v:
				c.next = i
			}
		}
		switch {
		case c.here >= 0 && c.next >= 0:
			c.set = atBoth
		case c.next >= 0:
			c.set = atNext
		case c.here < 0:
			continue
		}
		all = append(all, c)
	}
	return all
}

// points holds ζ and ωζ.
type points struct{ zeta, next fr.Element }

func (l *layout) points(zeta fr.Element) (p points) {
	p.zeta = zeta
	p.next.Mul(&zeta, &l.root)
	return p
}

// inSet returns the points of a set.
func (p *points) inSet(s set) []fr.Element {
	return [setCount][]fr.Element{{p.zeta}, {p.next}, {p.zeta, p.next}}[s]
}

// outside returns the product of x - p over all points p that are not in the set.
func (p *points) outside(s set, x *fr.Element) (y fr.Element) {
	switch s {
	case atZeta:
		y.Sub(x, &p.next)
	case atNext:
		y.Sub(x, &p.zeta)
	default:
		y.SetOne()
	}
	return y
}

// all returns the product of x - p over all points p.
func (p *points) all(x *fr.Element) (y fr.Element) {
	next := p.outside(atZeta, x)
	y = p.outside(atNext, x)
	return *y.Mul(&y, &next)
}

// value returns the claim's value at x. If the claim has two values, that is the value of the line through
// them.
func (p *points) value(c *claim, values []fr.Element, x *fr.Element) (y fr.Element) {
	switch c.set {
	case atZeta:
		return values[c.here]
	case atNext:
		return values[c.next]
	}
	var slope, run fr.Element
	run.Sub(&p.next, &p.zeta).Inverse(&run)
	slope.Sub(&values[c.next], &values[c.here]).Mul(&slope, &run)
	y.Sub(x, &p.zeta).Mul(&y, &slope)
	return *y.Add(&y, &values[c.here])
}
