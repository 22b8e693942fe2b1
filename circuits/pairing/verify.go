package pairing

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
)

// Verify verifies a proof that the circuit c holds for s. It runs Check, and then calls verify with the
// public inputs that c makes from s. The secrets of s are not used; a verifier leaves them zero. The caller's
// function verify checks the proof with gnark, for example
//
//	s.Verify(c, func(public witness.Witness) error { return groth16.Verify(proof, vk, public) })
//
// Verify returns zkbench.ErrProof if it refuses the statement or the proof.
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

// Check checks what circuits leave to the verifier, for the values that the relation uses. Each point must be
// on its curve, in the subgroup of prime order, and not the identity. For Tripartite each P_i and Q_i must
// have the same logarithm: e(P_i, Q) = e(P, Q_i).
//
// Circuits assume that these conditions hold. The form Std, for instance, treats (x, 0), which is on no
// curve, as the identity. So without Check a proof of e((x, 0), Q) = 1 would be accepted.
//
// Check returns zkbench.ErrProof and names the value that is wrong. It returns zkbench.ErrParams if the
// relation is unknown.
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

// checkPoint returns zkbench.ErrProof if p is the identity, or not on its curve or in the subgroup. For G1
// the subgroup is the whole curve.
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
