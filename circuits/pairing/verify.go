package pairing

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
)

// Verify verifies a proof that the circuit c holds of s. It runs Check first, and then verify with
// the public inputs that c makes of s; a verifier leaves the secrets of s zero. verify is gnark's,
// for example
//
//	s.Verify(c, func(public witness.Witness) error { return groth16.Verify(proof, vk, public) })
//
// Verify returns a zkbench.ErrProof if the statement or the proof is refused.
func (s *Statement) Verify(c Circuit, verify func(public witness.Witness) error) error {
	if err := s.Check(c.Relation()); err != nil {
		return err
	}
	public, err := frontend.NewWitness(c.Assign(s), ecc.BN254.ScalarField(), frontend.PublicOnly())
	if err != nil {
		return err
	}
	if err := verify(public); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrProof, err)
	}
	return nil
}

// Check checks what circuits leave to the verifier, of the values that a relation is about: each
// point is on its curve, in the subgroup of order r, and not the identity; and of Tripartite, each
// P_i and Q_i have one logarithm, e(P_i, Q) = e(P, Q_i).
//
// A circuit assumes it. The form Std, for instance, takes (x, 0), which is on no curve, as the
// identity, so that a proof of e((x, 0), Q) = 1 is accepted without Check.
//
// Check returns a zkbench.ErrProof that names the value, and a zkbench.ErrParams for another
// relation.
func (s *Statement) Check(r Relation) error {
	var ones, twos []int // the numbers of the points of G1 and G2
	switch r {
	case Tripartite:
		ones, twos = []int{0, 1, 2}, []int{0, 1, 2}
	case Pairing:
		ones, twos = []int{0}, []int{1}
	case Scalars:
		ones = []int{0, 1}
	case Check:
		ones = []int{0}
	default:
		return fmt.Errorf("%w: relation %q; accepted: %q", zkbench.ErrParams, r, Relations())
	}
	for _, i := range ones {
		if err := checkPoint(&s.P[i], fmt.Sprintf("P[%d]", i)); err != nil {
			return err
		}
	}
	for _, i := range twos {
		if err := checkPoint(&s.Q[i], fmt.Sprintf("Q[%d]", i)); err != nil {
			return err
		}
	}
	switch r {
	case Scalars:
		return checkPoint(&s.Shifted, "Shifted")
	case Tripartite:
		return s.checkLogarithms()
	}
	return nil
}

// checkPoint refuses the identity and what is not in the subgroup. G1 is all of its curve.
func checkPoint(p interface {
	IsInfinity() bool
	IsOnCurve() bool
	IsInSubGroup() bool
}, name string,
) error {
	switch {
	case p.IsInfinity():
		return fmt.Errorf("%w: %s is the identity", zkbench.ErrProof, name)
	case !p.IsOnCurve():
		return fmt.Errorf("%w: %s is not on its curve", zkbench.ErrProof, name)
	case !p.IsInSubGroup():
		return fmt.Errorf("%w: %s is not in the subgroup", zkbench.ErrProof, name)
	}
	return nil
}

// checkLogarithms checks e(P_i, Q)·e(-P, Q_i) = 1.
func (s *Statement) checkLogarithms() error {
	_, _, p, q := bn254.Generators()
	p.Neg(&p)
	for i := range s.P {
		one, err := bn254.PairingCheck([]bn254.G1Affine{s.P[i], p}, []bn254.G2Affine{q, s.Q[i]})
		if err != nil {
			return err
		}
		if !one {
			return fmt.Errorf("%w: P[%d] and Q[%d] have different logarithms", zkbench.ErrProof, i, i)
		}
	}
	return nil
}
