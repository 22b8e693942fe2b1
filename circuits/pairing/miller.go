package pairing

import "math/big"

// seed returns BN254's parameter x: p, r and the loops are polynomials in it.
func seed() *big.Int { return new(big.Int).SetUint64(4965661367192848881) }

// line is 1 + b·w + c·w³, a line of the Miller loop evaluated at P, up to a factor of Fp.
//
// The point (x, y) of the twist represents (x·w², y·w³) on the curve, and a slope λ represents
// λ·w. The line through it is y_P - λ·x_P·w + (λ·x - y)·w³; here it is divided by y_P,
// which is not zero as r is odd.
type line[E any] struct{ b, c e2[E] }

// evaluation is P in the form that lines take: -x_P/y_P and 1/y_P.
type evaluation[E any] struct{ slope, offset E }

func (t *tower[E]) line(at evaluation[E], lambda e2[E], q g2[E]) line[E] {
	return line[E]{
		t.mulBase2(lambda, at.slope),
		t.mulBase2(t.sub2(t.mul2(lambda, q.x), q.y), at.offset),
	}
}

// pair returns the reduced pairing e(P, Q) of gnark-crypto's bn254.Pair and of EIP-197. The caller must make
// sure that P and Q have order r. For other points of the curves there is one value or no assignment, but
// never a choice.
func (t *tower[E]) pair(p g1[E], q g2[E]) e12[E] {
	return t.finalExponentiation(t.millerLoop(p, q))
}

// millerLoop returns the optimal ate pairing before the final exponentiation, up to a factor of Fp6, which
// the final exponentiation maps to 1,
//
//	f_{6x+2,Q}(P)·ℓ_{[6x+2]Q,πQ}(P)·ℓ_{[6x+2]Q+πQ,-π²Q}(P)
//
// (Vercauteren: Optimal pairings, IEEE Trans. Inf. Theory 56, 2010, section IV.B). It uses affine
// coordinates, where a slope costs one division.
func (t *tower[E]) millerLoop(p g1[E], q g2[E]) e12[E] {
	at := evaluation[E]{offset: t.Div(t.one, p.y)}
	at.slope = t.Neg(t.Mul(p.x, at.offset))

	loop := seed()
	loop.Mul(loop, big.NewInt(6)).Add(loop, big.NewInt(2))
	digits := signedDigits(loop, 2)
	// The first two digits are 1 and 0, by which f is a line and T is 2Q.
	sum, l := t.doubleStep(at, q)
	f := t.fromLine(l)
	minus := g2[E]{q.x, t.neg2(q.y)}
	for i := len(digits) - 3; i >= 0; i-- {
		f = t.fourSquare12(f)
		switch digits[i] {
		case 0:
			sum, l = t.doubleStep(at, sum)
		case 1:
			f, sum, l = t.doubleAddStep(at, f, sum, q)
		default:
			f, sum, l = t.doubleAddStep(at, f, sum, minus)
		}
		f = t.twiceLine12(f, l)
	}

	first := g2[E]{t.frobenius2(q.x, 1, 2), t.frobenius2(q.y, 1, 3)}
	// -π²Q keeps Q's y, because γ of w³ is -1: ξ is not a square.
	second := g2[E]{t.frobenius2(q.x, 2, 2), q.y}
	lambda := t.slope2(first, sum)
	f = t.twiceLine12(f, t.line(at, lambda, first))
	sum = t.chord2(lambda, sum, first.x)
	return t.twiceLine12(f, t.line(at, t.slope2(second, sum), second))
}

// fromLine returns a line as an element of Fp12.
func (t *tower[E]) fromLine(l line[E]) e12[E] {
	zero := t.Constant(new(big.Int))
	none := e2[E]{zero, zero}
	return e12[E]{e6[E]{e2[E]{t.one, zero}, none, none}, e6[E]{l.b, l.c, none}}
}

// doubleStep returns 2T and the tangent at T.
func (t *tower[E]) doubleStep(at evaluation[E], p g2[E]) (g2[E], line[E]) {
	lambda := t.quotient2(t.scale2(t.square2(p.x), 3), t.scale2(p.y, 2))
	return t.chord2(lambda, p, p.x), t.line(at, lambda, p)
}

// doubleAddStep multiplies f by the line through T and Q; it returns 2T + Q as (T + Q) + T,
// without the y of T + Q (Eisenträger, Lauter, Montgomery: Fast elliptic curve
// arithmetic and improved Weil pairing evaluation, CT-RSA 2003), and the line through
// T + Q and T. The two lines have the divisor of the tangent at T and the line through
// 2T and Q, up to verticals, whose values are in Fp6.
func (t *tower[E]) doubleAddStep(at evaluation[E], f e12[E], p, q g2[E]) (e12[E], g2[E], line[E]) {
	lambda := t.slope2(q, p)
	f = t.twiceLine12(f, t.line(at, lambda, q))
	x := t.sub2(t.square2(lambda), t.add2(p.x, q.x))
	// The chord from T to T + Q, whose y is λ(x_T - x) - y_T.
	lambda = t.sub2(t.quotient2(t.scale2(p.y, 2), t.sub2(p.x, x)), lambda)
	return f, t.chord2(lambda, p, x), t.line(at, lambda, p)
}

// slope2 returns the slope of the line through two points. If they have the same x, no assignment satisfies
// the circuit.
func (t *tower[E]) slope2(p, q g2[E]) e2[E] { return t.quotient2(t.sub2(p.y, q.y), t.sub2(p.x, q.x)) }

// chord2 returns the sum of p and a point with the given x; λ is the slope of the line through both.
func (t *tower[E]) chord2(lambda e2[E], p g2[E], x e2[E]) g2[E] {
	nx := t.sub2(t.square2(lambda), t.add2(p.x, x))
	return g2[E]{nx, t.sub2(t.mul2(lambda, t.sub2(p.x, nx)), p.y)}
}

// signedDigits returns the digits d_i of n > 0, lowest first, with Σ d_i·2^i = n. Each is zero, or odd and
// below 2^(width-1) in magnitude. Among any width consecutive digits at most one is not zero.
func signedDigits(n *big.Int, width uint) []int {
	n = new(big.Int).Set(n)
	var digits []int
	for n.Sign() > 0 {
		d := 0
		if n.Bit(0) == 1 {
			d = int(n.Uint64() & (1<<width - 1))
			if d >= 1<<(width-1) {
				d -= 1 << width
			}
			n.Sub(n, big.NewInt(int64(d)))
		}
		digits = append(digits, d)
		n.Rsh(n, 1)
	}
	return digits
}
