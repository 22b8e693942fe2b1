package group

import (
	"context"

	"github.com/zkbench/zkbench/group/internal/integer"
)

// projective is a point (X : Y : Z) for the complete formulas; (0 : 1 : 0) is
// the identity.
type projective[E any] struct{ X, Y, Z E }

// completeAdd sets p = p + q by the complete formulas for y² = x³ + b of Renes,
// Costello and Batina, "Complete addition formulas for prime order elliptic
// curves" (2015/1060), Algorithm 7: one sequence of field operations for every
// pair of points of a group of odd order. b3 = 3b.
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

// MSMConstantTime walks through 4-bit digits of every scalar, most significant
// first; each step reads all sixteen multiples of the point and keeps one by
// masks, then adds it by the complete formulas. The sequence of field
// operations and of addresses depends on the number of points alone.
// gnark-crypto's field additions end in a conditional subtraction that the
// compiler may make a branch; docs/side-channels.md says what remains.
func (t *table[S, E, P, J, PS, PE, PP, PJ]) MSMConstantTime(ctx context.Context, dst []P, scalars [][]S) error {
	const width, size = 4, 16
	g := t.g
	if len(dst) != len(scalars) {
		panic("group: Table.MSMConstantTime lengths")
	}
	var b3 E
	PE(&b3).Double(&g.curveB)
	PE(&b3).Add(&b3, &g.curveB)
	var identity projective[E]
	PE(&identity.Y).SetUint64(1)
	// Multiples 0..15 of every point, in projective form.
	points := 0
	for _, v := range scalars {
		if len(v) > len(t.points) {
			panic("group: Table.MSMConstantTime: more scalars than points")
		}
		points = max(points, len(v))
	}
	tmp := new([6]E)
	multiples := make([]projective[E], points*size)
	for i := range points {
		m := multiples[i*size : (i+1)*size]
		a := affine[E](t.points[i])
		m[0] = identity
		m[1] = projective[E]{X: a.X, Y: a.Y, Z: identity.Y}
		for k := 2; k < size; k++ {
			m[k] = m[k-1]
			completeAdd[E, PE](&m[k], &m[1], &b3, tmp)
		}
	}
	acc, pick := new(projective[E]), new(projective[E])
	copyOf := new(projective[E])
	zInv := new(E)
	for j, v := range scalars {
		if err := ctx.Err(); err != nil {
			return err
		}
		regular := make([]integer.Limbs, len(v))
		for i := range v {
			regular[i] = integer.Limbs(PS(&v[i]).Bits())
		}
		*acc = identity
		for w := 256/width - 1; w >= 0; w-- {
			for range width {
				*copyOf = *acc
				completeAdd[E, PE](acc, copyOf, &b3, tmp)
			}
			for i := range v {
				digit := regular[i][w*width/64] >> (w * width % 64) & (size - 1)
				selectPoint[E, PE](pick, multiples[i*size:(i+1)*size], int(digit))
				completeAdd[E, PE](acc, pick, &b3, tmp)
			}
		}
		PE(zInv).Inverse(&acc.Z) // 0 for the identity, which makes (0, 0)
		var a affine[E]
		PE(&a.X).Mul(&acc.X, zInv)
		PE(&a.Y).Mul(&acc.Y, zInv)
		dst[j] = P(a)
	}
	return nil
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
