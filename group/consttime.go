package group

import (
	"github.com/zkbench/zkbench/group/internal/integer"
)

// projective is a point (X : Y : Z) for the complete formulas; (0 : 1 : 0) is
// the identity.
type projective[E any] struct{ X, Y, Z E }

// completeAdd sets p = p + q by the complete formulas for y² = x³ + b of Renes, Costello and
// Batina, "Complete addition formulas for prime order elliptic curves" (2015/1060), Algorithm 7. It
// runs the same field operations for every pair of points, in any group of odd order. b3 = 3b.
func completeAdd[E any, PE elementPtr[E]](p *projective[E], q *projective[E], b3 *E, s *[6]E) {
	t0, t1, t2, t3, t4, u := PE(&s[0]), PE(&s[1]), PE(&s[2]), PE(&s[3]), PE(&s[4]), PE(&s[5])
	x, y, z := PE(&p.X), PE(&p.Y), PE(&p.Z)
	t0.Mul(&p.X, &q.X)
	t1.Mul(&p.Y, &q.Y)
	t2.Mul(&p.Z, &q.Z)
	t3.Add(&p.X, &p.Y)
	t4.Add(&q.X, &q.Y)
	t3.Mul(t3, t4)
	t4.Add(t0, t1)
	t3.Sub(t3, t4) // X1Y2 + X2Y1
	t4.Add(&p.Y, &p.Z)
	u.Add(&q.Y, &q.Z)
	t4.Mul(t4, u)
	u.Add(t1, t2)
	t4.Sub(t4, u) // Y1Z2 + Y2Z1
	x.Add(&p.X, &p.Z)
	y.Add(&q.X, &q.Z)
	x.Mul(x, y)
	y.Add(t0, t2)
	y.Sub(x, y) // X1Z2 + X2Z1
	x.Add(t0, t0)
	t0.Add(x, t0) // 3·X1X2
	t2.Mul(b3, t2)
	z.Add(t1, t2)
	t1.Sub(t1, t2)
	y.Mul(b3, y)
	x.Mul(t4, y)
	t2.Mul(t3, t1)
	x.Sub(t2, x)
	y.Mul(y, t0)
	t1.Mul(t1, z)
	y.Add(t1, y)
	t0.Mul(t0, t3)
	z.Mul(z, t4)
	z.Add(z, t0)
}

// constantTime computes sums over fixed points by 4-bit digits of every scalar, most significant
// first. Each step reads all sixteen multiples of the point, keeps one by masks, and adds it by the
// complete formulas. The sequence of field operations and of addresses depends only on the number
// of points.
//
// gnark-crypto's field additions end in a conditional subtraction, which the compiler may turn into
// a branch. SECURITY.md says what remains.
type constantTime[E comparable, PE elementPtr[E]] struct {
	multiples []projective[E] // 0..15 times every point
	identity  projective[E]
	b3        E

	// Operands of calls through the type dictionary.
	acc, copyOf, pick projective[E]
	tmp               [6]E
	result            affine[E]
}

const (
	constantWidth = 4
	constantSize  = 1 << constantWidth
)

// newConstantTime prepares sums over the first n points of t.
func newConstantTime[E comparable, PE elementPtr[E]](t *fixedPoints[E, PE], n int) *constantTime[E, PE] {
	c := &constantTime[E, PE]{multiples: make([]projective[E], n*constantSize)}
	PE(&c.b3).Double(&t.sums.b)
	PE(&c.b3).Add(&c.b3, &t.sums.b)
	PE(&c.identity.Y).SetUint64(1)
	for i := range n {
		m := c.multiples[i*constantSize : (i+1)*constantSize]
		a := t.multiples[i*t.Positions<<(t.Window-1)] // the point itself
		m[0] = c.identity
		m[1] = projective[E]{X: a.X, Y: a.Y, Z: c.identity.Y}
		for k := 2; k < len(m); k++ {
			m[k] = m[k-1]
			completeAdd[E, PE](&m[k], &m[1], &c.b3, &c.tmp)
		}
	}
	return c
}

// sum returns Σ scalars[i]·point i.
func (c *constantTime[E, PE]) sum(scalars []integer.Limbs) affine[E] {
	c.acc = c.identity
	for w := 256/constantWidth - 1; w >= 0; w-- {
		for range constantWidth {
			c.copyOf = c.acc
			completeAdd[E, PE](&c.acc, &c.copyOf, &c.b3, &c.tmp)
		}
		for i := range scalars {
			digit := scalars[i][w*constantWidth/64] >> (w * constantWidth % 64) & (constantSize - 1)
			selectPoint[E, PE](&c.pick, c.multiples[i*constantSize:(i+1)*constantSize], int(digit))
			completeAdd[E, PE](&c.acc, &c.pick, &c.b3, &c.tmp)
		}
	}
	zInv := PE(&c.tmp[0])
	zInv.Inverse(&c.acc.Z) // 0 for the identity, which makes (0, 0)
	PE(&c.result.X).Mul(&c.acc.X, zInv)
	PE(&c.result.Y).Mul(&c.acc.Y, zInv)
	return c.result
}

// selectPoint sets z = m[digit], reading all of m.
func selectPoint[E any, PE elementPtr[E]](z *projective[E], m []projective[E], digit int) {
	*z = m[0]
	for k := 1; k < len(m); k++ {
		differs := digit ^ k // Select keeps its first argument for 0
		PE(&z.X).Select(differs, &m[k].X, &z.X)
		PE(&z.Y).Select(differs, &m[k].Y, &z.Y)
		PE(&z.Z).Select(differs, &m[k].Z, &z.Z)
	}
}
