package pairing

// finalExponentiation returns f^(s(p¹²-1)/r), s = 2x(6x² + 3x + 1), for f != 0. This is the power that
// gnark-crypto takes. s has no factor in common with r.
//
// The hard part is the sum over i of λ_i·p^i, where with x the curve's parameter
//
//	λ_0 = 1 + 6x + 12x² + 12x³, λ_1 = 4x + 6x² + 12x³,
//	λ_2 = 6x + 6x² + 12x³,      λ_3 = -1 + 4x + 6x² + 12x³
//
// (Fuentes-Castañeda, Knapp, Rodríguez-Henríquez: Faster hashing to G2, SAC 2011, section 5.1).
func (t *tower[E]) finalExponentiation(f e12[E]) e12[E] {
	// f^((p⁶-1)(p²+1)), after which conjugates are inverses.
	f = t.mul12(t.conjugate12(f), t.inverse12(f))
	f = t.mul12(f, t.frobenius12(f, 2))

	x2 := t.cyclotomicSquare12(t.power(f))
	x6 := t.mul12(x2, t.cyclotomicSquare12(x2))
	xx6 := t.power(x6)
	xxx12 := t.power(t.cyclotomicSquare12(xx6))

	a := t.mul12(t.mul12(xxx12, xx6), x6)
	b := t.mul12(a, t.conjugate12(x2))
	f0 := t.mul12(t.mul12(a, xx6), f)
	f3 := t.mul12(b, t.conjugate12(f))
	return t.mul12(t.mul12(f0, t.frobenius12(b, 1)), t.mul12(t.frobenius12(a, 2), t.frobenius12(f3, 3)))
}

// power returns f^x for an f whose conjugate is its inverse. With digits of width 4 the curve's parameter
// needs the fewest multiplications: 13, and 3 for the odd powers.
func (t *tower[E]) power(f e12[E]) e12[E] {
	const width = 4
	var odd [1 << (width - 2)]e12[E] // f, f³, f⁵, f⁷
	odd[0] = f
	square := t.cyclotomicSquare12(f)
	for i := 1; i < len(odd); i++ {
		odd[i] = t.mul12(odd[i-1], square)
	}
	digits := signedDigits(seed(), width)
	last := len(digits) - 1
	z := odd[digits[last]/2]
	for i := last - 1; i >= 0; i-- {
		z = t.cyclotomicSquare12(z)
		switch d := digits[i]; {
		case d > 0:
			z = t.mul12(z, odd[d/2])
		case d < 0:
			z = t.mul12(z, t.conjugate12(odd[-d/2]))
		}
	}
	return z
}
