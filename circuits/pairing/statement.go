// Package pairing has gnark circuits for pairings on BN254. They prove a tripartite key exchange (Joux, "A
// one round protocol for tripartite Diffie-Hellman", 2000), the value of a single pairing, or that a product
// of pairings is one. The circuits for a key exchange and for a single pairing exist with four kinds of
// arithmetic, to show what dedicated gadgets are worth.
package pairing

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// Parties is the number of parties in an exchange.
const Parties = 3

// Statement holds the values that circuits prove something about. Each circuit uses only the values that
// occur in its relation.
//
// A verifier calls Verify, which runs Check. Circuits assume that points are on their curves, in the subgroup
// and not the identity. For an exchange they also assume that P_i and Q_i have the same logarithm.
//
// Circuit.Assign makes the public inputs from a statement. Circuits compare values modulo p, the modulus of
// BN254's base field. So public inputs with other limbs may represent the same values.
type Statement struct {
	Secrets [Parties]fr.Element
	P       [Parties]bn254.G1Affine // [s_i]P
	Q       [Parties]bn254.G2Affine // [s_i]Q
	K       bn254.GT                // e(P, Q)^(s_0 s_1 s_2)

	Shifted bn254.G1Affine // [s_0]P_1
	Pair    bn254.GT       // e(P_0, Q_1)
}

// NewStatement derives all public values from three secrets. It returns zkbench.ErrParams if a secret is
// zero.
func NewStatement(secrets [Parties]fr.Element) (*Statement, error) {
	s := &Statement{Secrets: secrets}
	var e big.Int
	for i, secret := range secrets {
		if secret.IsZero() {
			return nil, fmt.Errorf("%w: secret %d is zero", zkbench.ErrParams, i)
		}
		secret.BigInt(&e)
		s.P[i].ScalarMultiplicationBase(&e)
		s.Q[i].ScalarMultiplicationBase(&e)
	}
	s.Shifted.ScalarMultiplication(&s.P[1], secrets[0].BigInt(&e))
	var err error
	if s.K, err = pairOf(s.Shifted, s.Q[2]); err != nil {
		return nil, err
	}
	s.Pair, err = pairOf(s.P[0], s.Q[1])
	return s, err
}

func pairOf(p bn254.G1Affine, q bn254.G2Affine) (bn254.GT, error) {
	return bn254.Pair([]bn254.G1Affine{p}, []bn254.G2Affine{q})
}

// coordinates returns the coordinates of a point of G1.
func coordinates(p *bn254.G1Affine) []*fp.Element { return []*fp.Element{&p.X, &p.Y} }

// twisted returns the coordinates of a point of G2.
func twisted(q *bn254.G2Affine) []*fp.Element {
	return []*fp.Element{&q.X.A0, &q.X.A1, &q.Y.A0, &q.Y.A1}
}

// target returns the coefficients of a value of pairings.
func target(k *bn254.GT) (out []*fp.Element) {
	for _, six := range []*bn254.E6{&k.C0, &k.C1} {
		for _, two := range []*bn254.E2{&six.B0, &six.B1, &six.B2} {
			out = append(out, &two.A0, &two.A1)
		}
	}
	return out
}
