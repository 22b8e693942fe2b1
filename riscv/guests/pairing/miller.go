package main

// seed is BN254's parameter x: p, r and the exponents of the loops are polynomials in it.
const seed = 4965661367192848881

// loopDigits are the digits of 6x + 2 = 2⁶⁴ + loopLow, and seedDigits those of x.
var (
	loopDigits = newDigits(2, loopLow, 1)
	seedDigits = newDigits(4, seed)
)

const loopLow = (6*seed + 2) & (1<<64 - 1)

func newDigits(width uint, n ...uint64) (z digits) {
	var all [4]uint64
	copy(all[:], n)
	z.set(&all, width)
	return z
}

// line is r0 + r1·w + r3·w³: a line of the Miller loop, evaluated at P, up to a factor in Fp2.
type line struct{ r0, r1, r3 e2 }

// evaluate multiplies the line's coefficients by the coordinates of P.
func (l *line) evaluate(p *g1) {
	l.r0.mulBase(&l.r0, &p.y)
	l.r1.mulBase(&l.r1, &p.x)
}

// homogeneous represents the point (x/z, y/z) of the twist.
type homogeneous struct{ x, y, z e2 }

// millerLoop sets f to the optimal ate pairing before the final exponentiation,
//
//	f_{6x+2,Q}(P)·ℓ_{[6x+2]Q,πQ}(P)·ℓ_{[6x+2]Q+πQ,-π²Q}(P)
//
// (Vercauteren: Optimal pairings, IEEE Trans. Inf. Theory 56, 2010, section IV.B). The result may
// differ by a factor in Fp2, which the final exponentiation maps to 1.
func (f *e12) millerLoop(p *g1, q *g2) {
	t := homogeneous{q.x, q.y, e2{a0: one}}
	minus := *q
	minus.y.neg(&q.y)
	var l line
	// The first two digits are 1 and 0: after them f is a line and T is 2Q.
	t.double(&l)
	l.evaluate(p)
	f.c0.b0, f.c1.b0, f.c1.b1 = l.r0, l.r1, l.r3
	for i := loopDigits.n - 3; i >= 0; i-- {
		f.square(f)
		t.double(&l)
		l.evaluate(p)
		f.mulLine(&l)
		switch loopDigits.d[i] {
		case 0:
			continue
		case 1:
			t.add(&l, q)
		default:
			t.add(&l, &minus)
		}
		l.evaluate(p)
		f.mulLine(&l)
	}
	var image g2
	image.x.frobenius(&q.x, 1, 2)
	image.y.frobenius(&q.y, 1, 3)
	t.add(&l, &image)
	l.evaluate(p)
	f.mulLine(&l)
	// -π²Q keeps Q's y, for γ of w³ is -1: ξ is not a square.
	image.x.frobenius(&q.x, 2, 2)
	image.y = q.y
	t.line(&l, &image)
	l.evaluate(p)
	f.mulLine(&l)
}

// twist9 is three times the constant of the twist y² = x³ + 3/ξ.
var twist9 = func() (b e2) {
	b = e2{constant(9), one}
	b.invert(&b)
	nine := constant(9)
	b.mulBase(&b, &nine)
	return b
}()

// double doubles t and sets l to the tangent at t (Aranha, Barreto, Longa, Ricardini: The realm of
// the pairings, SAC 2013, section 4.3, with coordinates four times theirs).
func (t *homogeneous) double(l *line) {
	var b, e, f, g, h, xy e2
	xy.mul(&t.x, &t.y)
	b.square(&t.y)
	g.square(&t.z)
	h.add(&t.y, &t.z) // h = 2yz
	h.square(&h)
	h.sub(&h, &b)
	h.sub(&h, &g)
	e.mul(&g, &twist9)
	f.triple(&e)

	l.r0.neg(&h)
	l.r1.square(&t.x)
	l.r1.triple(&l.r1)
	l.r3.sub(&e, &b)

	t.x.sub(&b, &f)
	t.x.mul(&t.x, &xy)
	t.x.double(&t.x)
	g.add(&b, &f)
	t.y.square(&g)
	e.double(&e)
	e.square(&e)
	e.triple(&e)
	t.y.sub(&t.y, &e)
	h.double(&h)
	h.double(&h)
	t.z.mul(&b, &h)
}

// line sets l to the line through t and q. It rises by -r1 = y_T - y_Q·z over a run of r0 = x_T -
// x_Q·z.
func (t *homogeneous) line(l *line, q *g2) {
	var u e2
	u.mul(&q.y, &t.z)
	l.r1.sub(&u, &t.y)
	u.mul(&q.x, &t.z)
	l.r0.sub(&t.x, &u)
	l.r3.mul(&l.r0, &q.y)
	u.mul(&q.x, &l.r1)
	l.r3.add(&l.r3, &u)
	l.r3.neg(&l.r3)
}

// add adds q to t and sets l to the line through them. q must be neither t nor -t.
func (t *homogeneous) add(l *line, q *g2) {
	t.line(l, q)
	var c, d, e, g, h e2
	c.square(&l.r1)
	d.square(&l.r0)
	e.mul(&l.r0, &d)
	g.mul(&t.x, &d)
	h.mul(&t.z, &c)
	h.add(&h, &e)
	h.sub(&h, &g)
	h.sub(&h, &g)
	t.x.mul(&l.r0, &h)
	h.sub(&h, &g)
	h.mul(&h, &l.r1)
	t.y.mul(&t.y, &e)
	t.y.sub(&h, &t.y)
	t.z.mul(&t.z, &e)
}
