package pairing_test

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/test"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// accepted is a verifier of a proof that is accepted.
func accepted(witness.Witness) error { return nil }

// offCurve is (5, 0).
func offCurve() (p bn254.G1Affine) {
	p.X.SetUint64(5)
	return p
}

// outsideSubgroup is a point of G2's curve that is not in the subgroup.
func outsideSubgroup(t *testing.T) (q bn254.G2Affine) {
	t.Helper()
	// 3/ξ is b of a point of the subgroup.
	_, _, _, g := bn254.Generators()
	var b, xx bn254.E2
	xx.Square(&g.X).Mul(&xx, &g.X)
	b.Square(&g.Y).Sub(&b, &xx)
	for q.X.SetOne(); ; q.X.A0.Add(&q.X.A0, new(fp.Element).SetOne()) {
		xx.Square(&q.X).Mul(&xx, &q.X).Add(&xx, &b)
		if xx.Legendre() == 1 {
			q.Y.Sqrt(&xx)
			break
		}
	}
	if !q.IsOnCurve() || q.IsInSubGroup() {
		t.Fatal("the test's own point")
	}
	return q
}

// TestOffTheCurve: gnark's gadget takes (5, 0) as the identity, so that e((5, 0), Q) = 1 and a check
// of such points hold in circuit. Verify refuses both.
func TestOffTheCurve(t *testing.T) {
	testsize.Full(t)
	for _, relation := range []pairing.Relation{pairing.Pairing, pairing.Check} {
		t.Run(string(relation), func(t *testing.T) {
			t.Parallel()
			s := statement(t, 3, 4, 5)
			s.P[0] = offCurve()
			s.Pair.SetOne()
			circuit := must.Get(pairing.New(relation, pairing.Std))(t)
			must.Do(t, test.IsSolved(circuit, circuit.Assign(s), ecc.BN254.ScalarField()), "the circuit refuses more than its documentation says")
			must.Fail(t, s.Verify(circuit, accepted), zkbench.ErrProof, "a statement about (5, 0)")
		})
	}
}

// TestCheck: Verify checks each point that a relation is about, and no other, before any proof.
func TestCheck(t *testing.T) {
	identity, off, outside := bn254.G1Affine{}, offCurve(), outsideSubgroup(t)
	type change struct {
		value  string
		says   string
		change func(s *pairing.Statement)
	}
	var changes []change
	for i := range pairing.Parties {
		p, q := fmt.Sprintf("P[%d]", i), fmt.Sprintf("Q[%d]", i)
		changes = append(changes,
			change{p, "is the identity", func(s *pairing.Statement) { s.P[i] = identity }},
			change{p, "is not on its curve", func(s *pairing.Statement) { s.P[i] = off }},
			change{q, "is the identity", func(s *pairing.Statement) { s.Q[i] = bn254.G2Affine{} }},
			change{q, "is not on its curve", func(s *pairing.Statement) { s.Q[i].X.A0.SetUint64(5) }},
			change{q, "is not in the subgroup", func(s *pairing.Statement) { s.Q[i] = outside }},
		)
	}
	changes = append(changes,
		change{"Shifted", "is the identity", func(s *pairing.Statement) { s.Shifted = identity }},
		change{"Shifted", "is not on its curve", func(s *pairing.Statement) { s.Shifted = off }})
	about := map[pairing.Relation]string{
		pairing.Tripartite: "P[0] P[1] P[2] Q[0] Q[1] Q[2]", pairing.Pairing: "P[0] Q[1]", pairing.Scalars: "P[0] P[1] Shifted", pairing.Check: "P[0]",
	}
	for _, relation := range pairing.Relations() {
		circuit := must.Get(pairing.New(relation, pairing.Std))(t)
		golden.Equal(t, "relation", relation, circuit.Relation())
		right := statement(t, 3, 4, 5)
		right.Secrets = [pairing.Parties]fr.Element{}
		public := 0
		must.Do(t, right.Verify(circuit, func(w witness.Witness) error {
			public = len(w.Vector().(fr.Vector))
			return nil
		}), relation)
		if public == 0 {
			t.Errorf("%s: no public inputs", relation)
		}
		must.Fail(t, right.Verify(circuit, func(witness.Witness) error { return errors.New("planted") }), zkbench.ErrProof, "%s: a proof that is refused", relation)
		for _, c := range changes {
			s := statement(t, 3, 4, 5)
			c.change(s)
			err := s.Verify(circuit, accepted)
			if strings.Contains(about[relation], c.value) {
				if !errors.Is(err, zkbench.ErrProof) || !strings.Contains(err.Error(), c.value+" "+c.says) {
					t.Errorf("%s: %s %s: %v", relation, c.value, c.says, err)
				}
			} else if err != nil {
				t.Errorf("%s: %s, which it is not about: %v", relation, c.value, err)
			}
		}
	}
	must.Fail(t, statement(t, 3, 4, 5).Check("other"), zkbench.ErrParams, "another relation")
}

// TestOneLogarithm: each form has its relation, and keys in G2 that all have one factor too many,
// which the circuit accepts with the k that they lead to, are refused by Check.
func TestOneLogarithm(t *testing.T) {
	for _, relation := range pairing.Relations() {
		for _, form := range pairing.Forms() {
			if circuit, err := pairing.New(relation, form); err == nil {
				golden.Equal(t, fmt.Sprintf("%s, %s: relation", relation, form), relation, circuit.Relation())
			}
		}
	}
	const factor = 7
	s := statement(t, 3, 4, 5)
	for i := range s.Q {
		s.Q[i].ScalarMultiplication(&s.Q[i], big.NewInt(factor))
	}
	s.K.Exp(s.K, big.NewInt(factor))
	must.Fail(t, s.Check(pairing.Tripartite), zkbench.ErrProof, "keys of two logarithms")
	if testing.Short() {
		return
	}
	circuit := must.Get(pairing.New(pairing.Tripartite, pairing.Std))(t)
	must.Do(t, test.IsSolved(circuit, circuit.Assign(s), ecc.BN254.ScalarField()), "the circuit binds more than its documentation says")
}
