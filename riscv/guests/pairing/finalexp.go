package main

// finalExponentiation sets z to z^(s(p¹²-1)/r) with s = 2x(6x² + 3x + 1), for z != 0. This is the
// power that gnark-crypto takes. s has no factor in common with r.
//
// The exponent of the hard part is the sum of λ_i·p^i. With x the curve's parameter
//
//	λ_0 = 1 + 6x + 12x² + 12x³, λ_1 = 4x + 6x² + 12x³,
//	λ_2 = 6x + 6x² + 12x³,      λ_3 = -1 + 4x + 6x² + 12x³
//
// (Fuentes-Castañeda, Knapp, Rodríguez-Henríquez: Faster hashing to G2, SAC 2011, section 5.1).
func (z *e12) finalExponentiation() {
	// f = z^((p⁶-1)(p²+1)), after which conjugates are inverses.
	var f, t e12
	t.invert(z)
	f.conjugate(z)
	f.mul(&f, &t)
	t.frobenius(&f, 2)
	f.mul(&f, &t)

	var x2, x6, xx6, xxx12 e12
	x2.power(&f, &seedDigits)
	x2.cyclotomicSquare(&x2)
	x6.cyclotomicSquare(&x2)
	x6.mul(&x6, &x2)
	xx6.power(&x6, &seedDigits)
	t.cyclotomicSquare(&xx6)
	xxx12.power(&t, &seedDigits)

	var a, b e12
	a.mul(&xxx12, &xx6)
	a.mul(&a, &x6)
	b.conjugate(&x2)
	b.mul(&b, &a)
	z.mul(&a, &xx6)
	z.mul(z, &f)
	t.frobenius(&b, 1)
	z.mul(z, &t)
	t.frobenius(&a, 2)
	z.mul(z, &t)
	f.conjugate(&f)
	f.mul(&f, &b)
	t.frobenius(&f, 3)
	z.mul(z, &t)
}
