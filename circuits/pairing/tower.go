package pairing

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/math/emulated"
)

// tower is the tower of extensions of the base field that gnark-crypto and EIP-197 use:
//
//	Fp2 = Fp[u]/(u² + 1), Fp6 = Fp2[v]/(v³ - ξ), Fp12 = Fp6[w]/(w² - v), ξ = 9 + u.
type tower[E any] struct {
	baseField[E]
	one E
	// gamma[k-1][i] = ξ^(i(p^k-1)/6), the factor of w^i in the p^k-th power.
	gamma [3][6]e2[E]
}

type (
	e2[E any]  struct{ a0, a1 E }         // a0 + a1·u
	e6[E any]  struct{ b0, b1, b2 e2[E] } // b0 + b1·v + b2·v²
	e12[E any] struct{ c0, c1 e6[E] }     // c0 + c1·w
)

func newTower[E any](f baseField[E]) *tower[E] {
	t := &tower[E]{baseField: f, one: f.Constant(big.NewInt(1))}
	var xi bn254.E2
	xi.A0.SetUint64(9)
	xi.A1.SetOne()
	q := big.NewInt(1)
	for k := range t.gamma {
		q.Mul(q, fp.Modulus())
		sixth := new(big.Int).Sub(q, big.NewInt(1))
		sixth.Div(sixth, big.NewInt(6))
		var step, power bn254.E2
		step.Exp(xi, sixth)
		power.SetOne()
		for i := range t.gamma[k] {
			t.gamma[k][i] = t.constant2(&power)
			power.Mul(&power, &step)
		}
	}
	return t
}

// coefficients lists an element's base coefficients in the order of gnark-crypto's GT:
// C0.B0.A0, C0.B0.A1, C0.B1.A0, ..., C1.B2.A1.
func (a e12[E]) coefficients() [12]E {
	return [12]E{
		a.c0.b0.a0, a.c0.b0.a1, a.c0.b1.a0, a.c0.b1.a1, a.c0.b2.a0, a.c0.b2.a1,
		a.c1.b0.a0, a.c1.b0.a1, a.c1.b1.a0, a.c1.b1.a1, a.c1.b2.a0, a.c1.b2.a1,
	}
}

// fromCoefficients is the inverse of coefficients.
func fromCoefficients[E any](c [12]E) e12[E] {
	six := func(c []E) e6[E] { return e6[E]{e2[E]{c[0], c[1]}, e2[E]{c[2], c[3]}, e2[E]{c[4], c[5]}} }
	return e12[E]{six(c[:6]), six(c[6:])}
}

func (t *tower[E]) constant(v *fp.Element) E { return t.Constant(v.BigInt(new(big.Int))) }

func (t *tower[E]) constant2(v *bn254.E2) e2[E] { return e2[E]{t.constant(&v.A0), t.constant(&v.A1)} }

// quotient returns a/b. If b = 0, no assignment satisfies the circuit, whatever a is.
func (t *tower[E]) quotient(a, b E) E { return t.Mul(a, t.Div(t.one, b)) }

// Fp2.

func (t *tower[E]) add2(a, b e2[E]) e2[E] { return e2[E]{t.Add(a.a0, b.a0), t.Add(a.a1, b.a1)} }

func (t *tower[E]) sub2(a, b e2[E]) e2[E] { return e2[E]{t.Sub(a.a0, b.a0), t.Sub(a.a1, b.a1)} }

func (t *tower[E]) neg2(a e2[E]) e2[E] { return e2[E]{t.Neg(a.a0), t.Neg(a.a1)} }

func (t *tower[E]) conjugate2(a e2[E]) e2[E] { return e2[E]{a.a0, t.Neg(a.a1)} }

func (t *tower[E]) scale2(a e2[E], c int64) e2[E] { return e2[E]{t.Scale(a.a0, c), t.Scale(a.a1, c)} }

// mulBase2 returns the product with an element of the base field.
func (t *tower[E]) mulBase2(a e2[E], b E) e2[E] { return e2[E]{t.Mul(a.a0, b), t.Mul(a.a1, b)} }

// mul2 computes the product by Karatsuba's method.
func (t *tower[E]) mul2(a, b e2[E]) e2[E] {
	low, high := t.Mul(a.a0, b.a0), t.Mul(a.a1, b.a1)
	all := t.Mul(t.Add(a.a0, a.a1), t.Add(b.a0, b.a1))
	return e2[E]{t.Sub(low, high), t.Sub(all, t.Add(low, high))}
}

func (t *tower[E]) square2(a e2[E]) e2[E] {
	return e2[E]{t.Mul(t.Add(a.a0, a.a1), t.Sub(a.a0, a.a1)), t.Scale(t.Mul(a.a0, a.a1), 2)}
}

// mulXi2 returns the product with ξ = 9 + u.
func (t *tower[E]) mulXi2(a e2[E]) e2[E] {
	return e2[E]{t.Sub(t.Scale(a.a0, 9), a.a1), t.Add(t.Scale(a.a1, 9), a.a0)}
}

// quotient2 returns a/b. If b = 0, no assignment satisfies the circuit, whatever a is: exactly then the norm
// of b is zero, and the norm's inverse is computed by itself.
func (t *tower[E]) quotient2(a, b e2[E]) e2[E] {
	norm := t.Add(t.Mul(b.a0, b.a0), t.Mul(b.a1, b.a1))
	return t.mulBase2(t.mul2(a, t.conjugate2(b)), t.Div(t.one, norm))
}

// Fp6.

func (t *tower[E]) add6(a, b e6[E]) e6[E] {
	return e6[E]{t.add2(a.b0, b.b0), t.add2(a.b1, b.b1), t.add2(a.b2, b.b2)}
}

func (t *tower[E]) sub6(a, b e6[E]) e6[E] {
	return e6[E]{t.sub2(a.b0, b.b0), t.sub2(a.b1, b.b1), t.sub2(a.b2, b.b2)}
}

func (t *tower[E]) neg6(a e6[E]) e6[E] { return e6[E]{t.neg2(a.b0), t.neg2(a.b1), t.neg2(a.b2)} }

func (t *tower[E]) twice6(a e6[E]) e6[E] {
	return e6[E]{t.scale2(a.b0, 2), t.scale2(a.b1, 2), t.scale2(a.b2, 2)}
}

// mulV6 returns the product with v.
func (t *tower[E]) mulV6(a e6[E]) e6[E] { return e6[E]{t.mulXi2(a.b2), a.b0, a.b1} }

// mul6 computes the product by Karatsuba's method, with m_i = a_i·b_i and a_i·b_j + a_j·b_i from one product.
func (t *tower[E]) mul6(a, b e6[E]) e6[E] {
	m0, m1, m2 := t.mul2(a.b0, b.b0), t.mul2(a.b1, b.b1), t.mul2(a.b2, b.b2)
	m01 := t.cross2(a.b0, a.b1, b.b0, b.b1, m0, m1)
	m02 := t.cross2(a.b0, a.b2, b.b0, b.b2, m0, m2)
	m12 := t.cross2(a.b1, a.b2, b.b1, b.b2, m1, m2)
	return e6[E]{t.add2(m0, t.mulXi2(m12)), t.add2(m01, t.mulXi2(m2)), t.add2(m02, m1)}
}

// cross2 returns a0·b1 + a1·b0, given m0 = a0·b0 and m1 = a1·b1.
func (t *tower[E]) cross2(a0, a1, b0, b1, m0, m1 e2[E]) e2[E] {
	return t.sub2(t.mul2(t.add2(a0, a1), t.add2(b0, b1)), t.add2(m0, m1))
}

// fourMul6 returns 4·a·b, computed from the values of the polynomials in v at ±1, ±u and infinity. It takes
// one product less than mul6, for uses where a constant factor does not matter. With c the coefficients of
// the product, the sums and differences of values are
//
//	2(c0 + c2 + c4), 2(c1 + c3), 2(c0 - c2 + c4), 2u(c1 - c3).
func (t *tower[E]) fourMul6(a, b e6[E]) e6[E] {
	x, y := t.values6(a), t.values6(b)
	var p [4]e2[E]
	for i := range p {
		p[i] = t.mul2(x[i], y[i])
	}
	c4 := t.scale2(t.mul2(a.b2, b.b2), 4)
	even, odd := t.add2(p[0], p[1]), t.sub2(p[0], p[1])
	evenU := t.add2(p[2], p[3])
	oddU := e2[E]{t.Sub(p[2].a1, p[3].a1), t.Sub(p[3].a0, p[2].a0)} // (p_2 - p_3)/u
	c0 := t.sub2(t.add2(even, evenU), c4)
	return e6[E]{
		t.add2(c0, t.mulXi2(t.sub2(odd, oddU))),
		t.add2(t.add2(odd, oddU), t.mulXi2(c4)),
		t.sub2(even, evenU),
	}
}

// values6 returns the values of a, as a polynomial in v, at 1, -1, u, -u.
func (t *tower[E]) values6(a e6[E]) [4]e2[E] {
	sum, difference := t.add2(a.b0, a.b2), t.sub2(a.b0, a.b2)
	return [4]e2[E]{
		t.add2(sum, a.b1),
		t.sub2(sum, a.b1),
		{t.Sub(difference.a0, a.b1.a1), t.Add(difference.a1, a.b1.a0)},
		{t.Add(difference.a0, a.b1.a1), t.Sub(difference.a1, a.b1.a0)},
	}
}

// twiceSparse6 returns 2·a·(b + c·v), computed from the values at 0, ±1 and infinity.
func (t *tower[E]) twiceSparse6(a e6[E], b, c e2[E]) e6[E] {
	c0, c3 := t.scale2(t.mul2(a.b0, b), 2), t.scale2(t.mul2(a.b2, c), 2)
	sum := t.add2(a.b0, a.b2)
	plus := t.mul2(t.add2(sum, a.b1), t.add2(b, c))
	minus := t.mul2(t.sub2(sum, a.b1), t.sub2(b, c))
	return e6[E]{
		t.add2(c0, t.mulXi2(c3)),
		t.sub2(t.sub2(plus, minus), c3),
		t.sub2(t.add2(plus, minus), c0),
	}
}

// inverse6 returns 1/a. If a = 0, no assignment satisfies the circuit. The numerators come from the product
// of a's conjugates over Fp2, the denominator is a's norm to Fp2.
func (t *tower[E]) inverse6(a e6[E]) e6[E] {
	n0 := t.sub2(t.square2(a.b0), t.mulXi2(t.mul2(a.b1, a.b2)))
	n1 := t.sub2(t.mulXi2(t.square2(a.b2)), t.mul2(a.b0, a.b1))
	n2 := t.sub2(t.square2(a.b1), t.mul2(a.b0, a.b2))
	norm := t.add2(t.mul2(a.b0, n0), t.mulXi2(t.add2(t.mul2(a.b2, n1), t.mul2(a.b1, n2))))
	inverse := t.quotient2(e2[E]{t.one, t.Constant(new(big.Int))}, norm)
	return e6[E]{t.mul2(n0, inverse), t.mul2(n1, inverse), t.mul2(n2, inverse)}
}

// Fp12.

func (t *tower[E]) mul12(a, b e12[E]) e12[E] {
	low, high := t.mul6(a.c0, b.c0), t.mul6(a.c1, b.c1)
	all := t.mul6(t.add6(a.c0, a.c1), t.add6(b.c0, b.c1))
	return e12[E]{t.add6(low, t.mulV6(high)), t.sub6(all, t.add6(low, high))}
}

// fourSquare12 returns 4a², four times (c0 + c1)(c0 + v·c1) - m - v·m + 2m·w for m = c0·c1.
func (t *tower[E]) fourSquare12(a e12[E]) e12[E] {
	m := t.fourMul6(a.c0, a.c1)
	all := t.fourMul6(t.add6(a.c0, a.c1), t.add6(a.c0, t.mulV6(a.c1)))
	return e12[E]{t.sub6(all, t.add6(m, t.mulV6(m))), t.twice6(m)}
}

// twiceLine12 returns 2·a·(1 + b·w + c·w³).
func (t *tower[E]) twiceLine12(a e12[E], l line[E]) e12[E] {
	return e12[E]{
		t.add6(t.twice6(a.c0), t.mulV6(t.twiceSparse6(a.c1, l.b, l.c))),
		t.add6(t.twice6(a.c1), t.twiceSparse6(a.c0, l.b, l.c)),
	}
}

// conjugate12 returns the p⁶-th power. For elements that finalExponentiation's easy part gives, it is the
// inverse, at the cost of no multiplication.
func (t *tower[E]) conjugate12(a e12[E]) e12[E] { return e12[E]{a.c0, t.neg6(a.c1)} }

// inverse12 returns 1/a. If a = 0, no assignment satisfies the circuit.
func (t *tower[E]) inverse12(a e12[E]) e12[E] {
	norm := t.sub6(t.mul6(a.c0, a.c0), t.mulV6(t.mul6(a.c1, a.c1)))
	inverse := t.inverse6(norm)
	return e12[E]{t.mul6(a.c0, inverse), t.neg6(t.mul6(a.c1, inverse))}
}

// frobenius12 returns the p^k-th power, for k = 1, 2, 3.
func (t *tower[E]) frobenius12(a e12[E], k int) e12[E] {
	return e12[E]{
		e6[E]{t.frobenius2(a.c0.b0, k, 0), t.frobenius2(a.c0.b1, k, 2), t.frobenius2(a.c0.b2, k, 4)},
		e6[E]{t.frobenius2(a.c1.b0, k, 1), t.frobenius2(a.c1.b1, k, 3), t.frobenius2(a.c1.b2, k, 5)},
	}
}

// frobenius2 returns the factor of w^i in the p^k-th power of a·w^i.
func (t *tower[E]) frobenius2(a e2[E], k, i int) e2[E] {
	even := k%2 == 0
	if !even {
		a = t.conjugate2(a)
	}
	gamma := t.gamma[k-1][i]
	switch {
	case i == 0:
		return a
	case even: // 6 divides p - 1, so that γ is a power of ξ^(p+1), ξ's norm to Fp.
		return t.mulBase2(a, gamma.a0)
	default:
		return t.mul2(a, gamma)
	}
}

// cyclotomicSquare12 returns a² for a with a^(p⁴-p²+1) = 1. With Fp4 = Fp2[s], s = w³, and a = x + y·w + z·w²
// over Fp4 it is
//
//	3x² - 2x̄ + (3s·z² + 2ȳ)·w + (3y² - 2z̄)·w²
//
// (Granger, Scott: Faster squaring in the cyclotomic subgroup of sixth degree extensions, PKC 2010, section
// 3.2).
func (t *tower[E]) cyclotomicSquare12(a e12[E]) e12[E] {
	x0, x1 := t.square4(a.c0.b0, a.c1.b1)
	y0, y1 := t.square4(a.c1.b0, a.c0.b2)
	z0, z1 := t.square4(a.c0.b1, a.c1.b2)
	minus := func(sq, a e2[E]) e2[E] { return t.sub2(t.scale2(sq, 3), t.scale2(a, 2)) }
	plus := func(sq, a e2[E]) e2[E] { return t.add2(t.scale2(sq, 3), t.scale2(a, 2)) }
	return e12[E]{
		e6[E]{minus(x0, a.c0.b0), minus(y0, a.c0.b1), minus(z0, a.c0.b2)},
		e6[E]{plus(t.mulXi2(z1), a.c1.b0), plus(x1, a.c1.b1), plus(y1, a.c1.b2)},
	}
}

// square4 returns (a + b·s)², with s² = ξ.
func (t *tower[E]) square4(a, b e2[E]) (e2[E], e2[E]) {
	aa, bb := t.square2(a), t.square2(b)
	return t.add2(aa, t.mulXi2(bb)), t.sub2(t.square2(t.add2(a, b)), t.add2(aa, bb))
}

// assertEqual12 asserts that a and b are equal.
func (t *tower[E]) assertEqual12(a, b e12[E]) {
	other := b.coefficients()
	for i, c := range a.coefficients() {
		t.AssertEqual(c, other[i])
	}
}

// baseField is arithmetic modulo p, the modulus of BN254's base field, in a circuit. Operations do not change
// their operands.
type baseField[E any] interface {
	// Constant returns the element v, for 0 <= v < p.
	Constant(v *big.Int) E
	Add(a, b E) E
	Sub(a, b E) E
	Neg(a E) E
	Mul(a, b E) E
	// Scale returns c·a for a small c >= 0.
	Scale(a E, c int64) E
	// Div returns a/b. If b is 0 and a is not, no assignment satisfies the circuit. If both are 0, a prover
	// can choose the result.
	Div(a, b E) E
	// Select returns a if bit is 1, and b if it is 0.
	Select(bit frontend.Variable, a, b E) E
	// AssertEqual asserts that a and b are equal modulo p.
	AssertEqual(a, b E)
}

type emulatedElement = *emulated.Element[emulated.BN254Fp]

// emulatedField is gnark's own field.
type emulatedField struct {
	*emulated.Field[emulated.BN254Fp]
}

func newEmulatedField(api frontend.API) (emulatedField, error) {
	f, err := emulated.NewField[emulated.BN254Fp](api)
	return emulatedField{f}, err
}

func (f emulatedField) Constant(v *big.Int) emulatedElement { return f.NewElement(v) }

func (f emulatedField) Scale(a emulatedElement, c int64) emulatedElement {
	return f.MulConst(a, big.NewInt(c))
}

func (f emulatedField) AssertEqual(a, b emulatedElement) { f.AssertIsEqual(a, b) }
