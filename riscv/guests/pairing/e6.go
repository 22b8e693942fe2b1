package main

// e6 is an element b0 + b1·v + b2·v² of Fp6 = Fp2[v]/(v³ - ξ), where ξ = 9 + u.
type e6 struct{ b0, b1, b2 e2 }

func (z *e6) add(x, y *e6) {
	z.b0.add(&x.b0, &y.b0)
	z.b1.add(&x.b1, &y.b1)
	z.b2.add(&x.b2, &y.b2)
}

func (z *e6) sub(x, y *e6) {
	z.b0.sub(&x.b0, &y.b0)
	z.b1.sub(&x.b1, &y.b1)
	z.b2.sub(&x.b2, &y.b2)
}

func (z *e6) neg(x *e6) { z.sub(&e6{}, x) }

// mulV sets z to x·v. z must not be x.
func (z *e6) mulV(x *e6) {
	z.b0.mulXi(&x.b2)
	z.b1, z.b2 = x.b0, x.b1
}

// mul sets z to x·y, by Karatsuba's method: m_i = x_i·y_i, and one product gives x_i·y_j + x_j·y_i.
func (z *e6) mul(x, y *e6) {
	var m0, m1, m2, m01, m02, m12 e2
	m0.mul(&x.b0, &y.b0)
	m1.mul(&x.b1, &y.b1)
	m2.mul(&x.b2, &y.b2)
	m01.cross(&x.b0, &x.b1, &y.b0, &y.b1, &m0, &m1)
	m02.cross(&x.b0, &x.b2, &y.b0, &y.b2, &m0, &m2)
	m12.cross(&x.b1, &x.b2, &y.b1, &y.b2, &m1, &m2)
	m12.mulXi(&m12)
	z.b0.add(&m0, &m12)
	m2.mulXi(&m2)
	z.b1.add(&m01, &m2)
	z.b2.add(&m02, &m1)
}

// mulSparse sets z to x·(b + c·v).
func (z *e6) mulSparse(x *e6, b, c *e2) {
	var m0, m1, m2, m01 e2
	m0.mul(&x.b0, b)
	m1.mul(&x.b1, c)
	m01.cross(&x.b0, &x.b1, b, c, &m0, &m1)
	m2.mul(&x.b2, c)
	m2.mulXi(&m2)
	z.b2.mul(&x.b2, b)
	z.b2.add(&z.b2, &m1)
	z.b0.add(&m0, &m2)
	z.b1 = m01
}

func (z *e6) mulE2(x *e6, y *e2) {
	z.b0.mul(&x.b0, y)
	z.b1.mul(&x.b1, y)
	z.b2.mul(&x.b2, y)
}

// cross sets z to x0·y1 + x1·y0, given m0 = x0·y0 and m1 = x1·y1.
func (z *e2) cross(x0, x1, y0, y1, m0, m1 *e2) {
	var x, y e2
	x.add(x0, x1)
	y.add(y0, y1)
	z.mul(&x, &y)
	z.sub(z, m0)
	z.sub(z, m1)
}

// invert sets z to 1/x for x != 0: the product of the conjugates of x over Fp2, divided by its norm
// to Fp2.
func (z *e6) invert(x *e6) {
	var n e6
	var t, norm e2
	t.mul(&x.b1, &x.b2)
	t.mulXi(&t)
	n.b0.square(&x.b0)
	n.b0.sub(&n.b0, &t)
	t.mul(&x.b0, &x.b1)
	n.b1.square(&x.b2)
	n.b1.mulXi(&n.b1)
	n.b1.sub(&n.b1, &t)
	t.mul(&x.b0, &x.b2)
	n.b2.square(&x.b1)
	n.b2.sub(&n.b2, &t)
	norm.mul(&x.b2, &n.b1)
	t.mul(&x.b1, &n.b2)
	norm.add(&norm, &t)
	norm.mulXi(&norm)
	t.mul(&x.b0, &n.b0)
	norm.add(&norm, &t)
	norm.invert(&norm)
	z.mulE2(&n, &norm)
}
