package pairing

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/frontend"
)

// Points in affine coordinates, which the identity does not have: g1 is on y² = x³ + 3 over Fp, g2 on its twist
// y² = x³ + 3/ξ over Fp2.
type (
	g1[E any] struct{ x, y E }
	g2[E any] struct{ x, y e2[E] }
)

// offset returns the point that sums start from. It is the result of hashing to the curve, so its logarithm
// to any base is unknown. Formulas for different points meet equal ones only if somebody knows a relation
// between this point and the others. Even then no assignment satisfies the circuit (see tower.quotient), so
// soundness does not depend on it.
func offset() (bn254.G1Affine, error) {
	return bn254.HashToG1([]byte("offset"), []byte("zkbench/v1/pairing/offset"))
}

func (t *tower[E]) constantG1(p *bn254.G1Affine) g1[E] {
	return g1[E]{t.constant(&p.X), t.constant(&p.Y)}
}

// addG1 returns p + q. If q = ±p, no assignment satisfies the circuit.
func (t *tower[E]) addG1(p, q g1[E]) g1[E] {
	return t.chord(t.quotient(t.Sub(q.y, p.y), t.Sub(q.x, p.x)), p, q.x)
}

// doubleAddG1 returns 2p + q as (p + q) + p, like doubleAddStep. If one of the two sums adds points with the
// same x, no assignment satisfies the circuit.
func (t *tower[E]) doubleAddG1(p, q g1[E]) g1[E] {
	lambda := t.quotient(t.Sub(q.y, p.y), t.Sub(q.x, p.x))
	x := t.Sub(t.Mul(lambda, lambda), t.Add(p.x, q.x))
	// 2y is not zero, as the curve's order is odd, so that Div leaves no choice.
	lambda = t.Sub(t.Div(t.Scale(p.y, 2), t.Sub(p.x, x)), lambda)
	return t.chord(lambda, p, x)
}

// chord returns the sum of p and a point with the given x; λ is the slope of the line through both.
func (t *tower[E]) chord(lambda E, p g1[E], x E) g1[E] {
	nx := t.Sub(t.Mul(lambda, lambda), t.Add(p.x, x))
	return g1[E]{nx, t.Sub(t.Mul(lambda, t.Sub(p.x, nx)), p.y)}
}

func (t *tower[E]) selectG1(bit frontend.Variable, p, q g1[E]) g1[E] {
	return g1[E]{t.Select(bit, p.x, q.x), t.Select(bit, p.y, q.y)}
}

// mulG1 returns [s]p for s = Σ bits_i·2^i. The caller must assert that p is on the curve, because otherwise a
// prover may have a choice. It must also assert that bits, of which there must be at least one, are bits. If
// s is a multiple of r, no assignment satisfies the circuit, as the identity has no coordinates. s may exceed
// r: s and s + r give the same point.
//
// With O the offset point, n bits and e_i = 2·bits_(i+1) - 1,
//
//	2^(n-1)·(O + p) + Σ_(i<n-1) e_i·2^i·p = 2^(n-1)·O + (s - bits_0 + 1)·p,
//
// so that no digit but the last is zero.
func (t *tower[E]) mulG1(bits []frontend.Variable, p g1[E]) (g1[E], error) {
	start, err := offset()
	if err != nil {
		return g1[E]{}, err
	}
	sum := t.addG1(t.constantG1(&start), p)
	minus := g1[E]{p.x, t.Neg(p.y)}
	for i := len(bits) - 1; i > 0; i-- {
		sum = t.doubleAddG1(sum, g1[E]{p.x, t.Select(bits[i], p.y, minus.y)})
	}
	sum = t.selectG1(bits[0], sum, t.addG1(sum, minus))
	start.ScalarMultiplication(&start, new(big.Int).Lsh(big.NewInt(1), uint(len(bits)-1)))
	return t.addG1(sum, t.constantG1(start.Neg(&start))), nil
}

// mulBase returns [s]G for the generator G, with bits as in mulG1. A window of two bits e_j adds 4^j·(O +
// e_j·G), which is a constant for each e_j. The multiple of O is subtracted at the end.
func (t *tower[E]) mulBase(bits []frontend.Variable) (g1[E], error) {
	start, err := offset()
	if err != nil {
		return g1[E]{}, err
	}
	if len(bits)%2 == 1 {
		bits = append(bits[:len(bits):len(bits)], 0)
	}
	_, _, base, _ := bn254.Generators()
	var sum g1[E]
	var excess bn254.G1Affine // the multiple of O within the sum
	for j := 0; j < len(bits); j += 2 {
		var table [4]g1[E]
		entry := start
		for e := range table {
			table[e] = t.constantG1(&entry)
			entry.Add(&entry, &base)
		}
		low := t.selectG1(bits[j], table[1], table[0])
		high := t.selectG1(bits[j], table[3], table[2])
		term := t.selectG1(bits[j+1], high, low)
		if j == 0 {
			sum = term
		} else {
			sum = t.addG1(sum, term)
		}
		excess.Add(&excess, &start)
		start.Double(&start).Double(&start)
		base.Double(&base).Double(&base)
	}
	return t.addG1(sum, t.constantG1(excess.Neg(&excess))), nil
}
