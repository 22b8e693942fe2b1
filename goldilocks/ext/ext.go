// Package ext implements the extensions of the Goldilocks field of degree two and three. Proofs
// over the field draw their challenges from these extensions, and package goldilocks evaluates
// polynomials at elements of the extensions. Nothing here is constant-time.
package ext

import "github.com/zkbench/zkbench/goldilocks"

// Quadratic is an element a0 + a1 X of the quadratic extension with X^2 = 7, which plonky2 and
// Plonky3 use. 7 is not a square, because it generates the multiplicative group.
type Quadratic [2]goldilocks.Element

// nonResidue is X^2.
const nonResidue = 7

// Add returns a + b.
func (a Quadratic) Add(b Quadratic) Quadratic { return Quadratic{a[0].Add(b[0]), a[1].Add(b[1])} }

// Sub returns a - b.
func (a Quadratic) Sub(b Quadratic) Quadratic { return Quadratic{a[0].Sub(b[0]), a[1].Sub(b[1])} }

// Neg returns -a.
func (a Quadratic) Neg() Quadratic { return Quadratic{a[0].Neg(), a[1].Neg()} }

// Mul returns a * b.
func (a Quadratic) Mul(b Quadratic) Quadratic {
	lo, hi := a[0].Mul(b[0]), a[1].Mul(b[1])
	cross := a[0].Add(a[1]).Mul(b[0].Add(b[1])).Sub(lo).Sub(hi)
	return Quadratic{lo.Add(hi.Mul(nonResidue)), cross}
}

// Square returns a^2.
func (a Quadratic) Square() Quadratic {
	return Quadratic{a[0].Square().Add(a[1].Square().Mul(nonResidue)), a[0].Mul(a[1]).Double()}
}

// MulBase returns a * b for an element b of the base field.
func (a Quadratic) MulBase(b goldilocks.Element) Quadratic {
	return Quadratic{a[0].Mul(b), a[1].Mul(b)}
}

// Inverse returns 1/a, or 0 if a is 0.
func (a Quadratic) Inverse() Quadratic {
	norm := a[0].Square().Sub(a[1].Square().Mul(nonResidue)).Inverse() // 0 for a = 0 alone
	return Quadratic{a[0].Mul(norm), a[1].Neg().Mul(norm)}
}

// Frobenius returns a^p, the conjugate of a.
func (a Quadratic) Frobenius() Quadratic { return Quadratic{a[0], a[1].Neg()} }

// Exp returns a^n. It defines 0^0 as 1.
func (a Quadratic) Exp(n uint64) Quadratic { return exp(Quadratic{1}, a, n) }

// exp returns a^n, from the lowest bit of n up.
func exp[E interface {
	Mul(E) E
	Square() E
}](one, a E, n uint64) E {
	for r := one; ; a = a.Square() {
		if n&1 != 0 {
			r = r.Mul(a)
		}
		if n >>= 1; n == 0 {
			return r
		}
	}
}

// Cubic is an element a0 + a1 X + a2 X^2 of the cubic extension with X^3 = X + 1, which Polygon's
// Hermez prover uses. X^3 - X - 1 has no root in the field.
type Cubic [3]goldilocks.Element

// Add returns a + b.
func (a Cubic) Add(b Cubic) Cubic { return Cubic{a[0].Add(b[0]), a[1].Add(b[1]), a[2].Add(b[2])} }

// Sub returns a - b.
func (a Cubic) Sub(b Cubic) Cubic { return Cubic{a[0].Sub(b[0]), a[1].Sub(b[1]), a[2].Sub(b[2])} }

// Neg returns -a.
func (a Cubic) Neg() Cubic { return Cubic{a[0].Neg(), a[1].Neg(), a[2].Neg()} }

// Mul returns a * b. Karatsuba's method takes six multiplications.
func (a Cubic) Mul(b Cubic) Cubic {
	v0, v1, v2 := a[0].Mul(b[0]), a[1].Mul(b[1]), a[2].Mul(b[2])
	c1 := a[0].Add(a[1]).Mul(b[0].Add(b[1])).Sub(v0).Sub(v1)
	c2 := a[0].Add(a[2]).Mul(b[0].Add(b[2])).Sub(v0).Sub(v2).Add(v1)
	c3 := a[1].Add(a[2]).Mul(b[1].Add(b[2])).Sub(v1).Sub(v2)
	// X^3 = X + 1, X^4 = X^2 + X.
	return Cubic{v0.Add(c3), c1.Add(c3).Add(v2), c2.Add(v2)}
}

// Square returns a^2.
func (a Cubic) Square() Cubic { return a.Mul(a) }

// MulBase returns a * b for an element b of the base field.
func (a Cubic) MulBase(b goldilocks.Element) Cubic {
	return Cubic{a[0].Mul(b), a[1].Mul(b), a[2].Mul(b)}
}

// Inverse returns 1/a, or 0 if a is 0.
func (a Cubic) Inverse() Cubic {
	// The matrix of multiplication by a has rows (a0, a2, a1), (a1, a0+a2, a1+a2),
	// (a2, a1, a0+a2). The inverse is the first column of its adjugate over its
	// determinant, which is 0 for a = 0 alone.
	s, t := a[0].Add(a[2]), a[1].Add(a[2])
	c0 := s.Square().Sub(t.Mul(a[1]))
	c1 := t.Mul(a[2]).Sub(a[1].Mul(s))
	c2 := a[1].Square().Sub(a[2].Mul(s))
	norm := a[0].Mul(c0).Add(a[2].Mul(c1)).Add(a[1].Mul(c2)).Inverse()
	return Cubic{c0.Mul(norm), c1.Mul(norm), c2.Mul(norm)}
}

// Exp returns a^n. It defines 0^0 as 1.
func (a Cubic) Exp(n uint64) Cubic { return exp(Cubic{1}, a, n) }
