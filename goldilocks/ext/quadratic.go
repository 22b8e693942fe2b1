// Package ext is the extensions of the Goldilocks field by elements of degree two and three:
// those in which the challenges of proofs over it are drawn, and in which package goldilocks
// evaluates polynomials. Nothing here is constant-time.
package ext

import "github.com/zkbench/zkbench/goldilocks"

// Quadratic is an element a0 + a1 X of the quadratic extension by X^2 = 7, that of plonky2 and
// Plonky3. 7 is no square: it generates the multiplicative group.
type Quadratic [2]goldilocks.Element

// nonResidue is X^2.
const nonResidue = 7

// Add returns a + b.
func (a Quadratic) Add(b Quadratic) Quadratic { return Quadratic{a[0].Add(b[0]), a[1].Add(b[1])} }

// Sub returns a - b.
func (a Quadratic) Sub(b Quadratic) Quadratic { return Quadratic{a[0].Sub(b[0]), a[1].Sub(b[1])} }

// Neg returns -a.
func (a Quadratic) Neg() Quadratic { return Quadratic{a[0].Neg(), a[1].Neg()} }

// Mul returns a b.
func (a Quadratic) Mul(b Quadratic) Quadratic {
	lo, hi := a[0].Mul(b[0]), a[1].Mul(b[1])
	cross := a[0].Add(a[1]).Mul(b[0].Add(b[1])).Sub(lo).Sub(hi)
	return Quadratic{lo.Add(hi.Mul(nonResidue)), cross}
}

// Square returns a^2.
func (a Quadratic) Square() Quadratic {
	return Quadratic{a[0].Square().Add(a[1].Square().Mul(nonResidue)), a[0].Mul(a[1]).Double()}
}

// MulBase returns a b of an element b of the field.
func (a Quadratic) MulBase(b goldilocks.Element) Quadratic {
	return Quadratic{a[0].Mul(b), a[1].Mul(b)}
}

// Inverse returns 1/a; that of 0 is 0.
func (a Quadratic) Inverse() Quadratic {
	norm := a[0].Square().Sub(a[1].Square().Mul(nonResidue)).Inverse() // 0 for a = 0 alone
	return Quadratic{a[0].Mul(norm), a[1].Neg().Mul(norm)}
}

// Frobenius returns a^p, the conjugate.
func (a Quadratic) Frobenius() Quadratic { return Quadratic{a[0], a[1].Neg()} }

// Exp returns a^n; 0^0 is 1.
func (a Quadratic) Exp(n uint64) Quadratic { return exp(Quadratic{1}, a, n) }

// exp returns a^n, by its bits from the lowest up.
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
