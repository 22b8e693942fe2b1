package main

// e12 is an element c0 + c1·w of Fp12 = Fp6[w]/(w² - v). The tower of extensions is that of
// gnark-crypto and EIP-197.
type e12 struct{ c0, c1 e6 }

// bytes returns the coefficients from C1.B2.A1 down to C0.B0.A0, as gnark-crypto encodes elements
// of GT.
func (x *e12) bytes() []byte {
	b := make([]byte, 0, 12*32)
	for _, six := range []*e6{&x.c1, &x.c0} {
		for _, two := range []*e2{&six.b2, &six.b1, &six.b0} {
			b = appendBytes(appendBytes(b, &two.a1), &two.a0)
		}
	}
	return b
}

// mul sets z to x·y, by Karatsuba's method.
func (z *e12) mul(x, y *e12) {
	var low, high, s, t e6
	s.add(&x.c0, &x.c1)
	t.add(&y.c0, &y.c1)
	low.mul(&x.c0, &y.c0)
	high.mul(&x.c1, &y.c1)
	s.mul(&s, &t)
	s.sub(&s, &low)
	z.c1.sub(&s, &high)
	t.mulV(&high)
	z.c0.add(&low, &t)
}

// square sets z to x² = (c0 + c1)(c0 + v·c1) - m - v·m + 2m·w, where m = c0·c1.
func (z *e12) square(x *e12) {
	var m, s, t e6
	s.add(&x.c0, &x.c1)
	t.mulV(&x.c1)
	t.add(&t, &x.c0)
	m.mul(&x.c0, &x.c1)
	s.mul(&s, &t)
	s.sub(&s, &m)
	t.mulV(&m)
	z.c0.sub(&s, &t)
	z.c1.add(&m, &m)
}

// mulLine multiplies z by a line, by Karatsuba's method.
func (z *e12) mulLine(l *line) {
	var low, high, all e6
	var sum e2
	low.mulE2(&z.c0, &l.r0)
	high.mulSparse(&z.c1, &l.r1, &l.r3)
	sum.add(&l.r0, &l.r1)
	all.add(&z.c0, &z.c1)
	all.mulSparse(&all, &sum, &l.r3)
	all.sub(&all, &low)
	z.c1.sub(&all, &high)
	all.mulV(&high)
	z.c0.add(&low, &all)
}

// conjugate sets z to the p⁶-th power of x. After the easy part of finalExponentiation this is the
// inverse.
func (z *e12) conjugate(x *e12) {
	z.c0 = x.c0
	z.c1.neg(&x.c1)
}

// invert sets z to 1/x for x != 0.
func (z *e12) invert(x *e12) {
	var norm, t, v e6
	norm.mul(&x.c0, &x.c0)
	t.mul(&x.c1, &x.c1)
	v.mulV(&t)
	norm.sub(&norm, &v)
	norm.invert(&norm)
	z.c0.mul(&x.c0, &norm)
	norm.neg(&norm)
	z.c1.mul(&x.c1, &norm)
}

// cyclotomicSquare sets z to x², for x with x^(p⁴-p²+1) = 1. Let Fp4 = Fp2[s], s = w³, and x = a +
// b·w + c·w² over Fp4. Then x² is
//
//	3a² - 2ā + (3s·c² + 2b̄)·w + (3b² - 2c̄)·w²
//
// (Granger, Scott: Faster squaring in the cyclotomic subgroup of sixth degree extensions, PKC 2010,
// section 3.2).
func (z *e12) cyclotomicSquare(x *e12) {
	var a0, a1, b0, b1, c0, c1 e2
	square4(&a0, &a1, &x.c0.b0, &x.c1.b1)
	square4(&b0, &b1, &x.c1.b0, &x.c0.b2)
	square4(&c0, &c1, &x.c0.b1, &x.c1.b2)
	c1.mulXi(&c1)
	// 3s ∓ 2x = 2(s ∓ x) + s.
	minus := func(z, s, x *e2) {
		z.sub(s, x)
		z.double(z)
		z.add(z, s)
	}
	plus := func(z, s, x *e2) {
		z.add(s, x)
		z.double(z)
		z.add(z, s)
	}
	minus(&z.c0.b0, &a0, &x.c0.b0)
	minus(&z.c0.b1, &b0, &x.c0.b1)
	minus(&z.c0.b2, &c0, &x.c0.b2)
	plus(&z.c1.b0, &c1, &x.c1.b0)
	plus(&z.c1.b1, &a1, &x.c1.b1)
	plus(&z.c1.b2, &b1, &x.c1.b2)
}

// square4 sets z0 + z1·s to (x0 + x1·s)² over s² = ξ.
func square4(z0, z1, x0, x1 *e2) {
	var high, sum e2
	sum.add(x0, x1)
	z1.square(&sum)
	z0.square(x0)
	high.square(x1)
	z1.sub(z1, z0)
	z1.sub(z1, &high)
	high.mulXi(&high)
	z0.add(z0, &high)
}

// gamma[k-1][i] = ξ^(i(p^k-1)/6) is the factor by which the p^k-th power multiplies w^i.
var gamma = frobeniusFactors()

func frobeniusFactors() (g [3][6]e2) {
	sixth := [4]uint64{0x34b017592414d4e1, 0xee9591c2e6bda1c2, 0xf40d60f3c0403964, 0x0810b7bdd032f006} // (p-1)/6
	step := e2{a0: one}
	xi := e2{constant(9), one}
	for i := 255; i >= 0; i-- {
		step.square(&step)
		if sixth[i/64]>>(i%64)&1 == 1 {
			step.mul(&step, &xi)
		}
	}
	power := e2{a0: one}
	for i := range 6 {
		// γ_k = ξ^((p-1)/6·(1 + p + ... + p^(k-1))), and ^p is the conjugate.
		g[0][i] = power
		g[1][i].conjugate(&power)
		g[1][i].mul(&g[1][i], &power)
		g[2][i].mul(&g[1][i], &power)
		power.mul(&power, &step)
	}
	return g
}

// frobenius sets z to the p^k-th power of x, for k = 1, 2, 3.
func (z *e12) frobenius(x *e12, k int) {
	z.c0.b0.frobenius(&x.c0.b0, k, 0)
	z.c0.b1.frobenius(&x.c0.b1, k, 2)
	z.c0.b2.frobenius(&x.c0.b2, k, 4)
	z.c1.b0.frobenius(&x.c1.b0, k, 1)
	z.c1.b1.frobenius(&x.c1.b1, k, 3)
	z.c1.b2.frobenius(&x.c1.b2, k, 5)
}

// frobenius sets z to the factor of w^i in the p^k-th power of x·w^i.
func (z *e2) frobenius(x *e2, k, i int) {
	if k == 2 { // 6 divides p - 1, so that γ is a power of ξ^(p+1), ξ's norm to Fp
		z.mulBase(x, &gamma[1][i].a0)
		return
	}
	z.conjugate(x)
	z.mul(z, &gamma[k-1][i])
}
