package pairing_test

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/logger"
	"github.com/consensys/gnark/test"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func statement(t *testing.T, secrets ...int64) *pairing.Statement {
	t.Helper()
	var s [pairing.Parties]fr.Element
	for i := range s {
		s[i].SetInt64(secrets[i])
	}
	return must.Get(pairing.NewStatement(s))(t)
}

// TestRelations: each relation on each arithmetic holds of a right statement, and of none
// that was changed. Circuits are evaluated, not compiled.
func TestRelations(t *testing.T) {
	testsize.Full(t)
	changes := map[pairing.Relation]map[string]func(s *pairing.Statement){
		pairing.Tripartite: {
			"another key": func(s *pairing.Statement) { s.K.Mul(&s.K, &s.K) },
			// What only the keys P_i refuse: all parties agree.
			"a common factor": func(s *pairing.Statement) {
				two := fr.NewElement(2)
				for i := range s.Secrets {
					s.Secrets[i].Mul(&s.Secrets[i], &two)
				}
				s.K.Mul(&s.K, &s.K)
			},
		},
		pairing.Pairing: {
			"another value": func(s *pairing.Statement) { s.Pair = s.K },
		},
		pairing.Scalars: {
			"another key":     func(s *pairing.Statement) { s.P[0] = s.P[2] },
			"another product": func(s *pairing.Statement) { s.Shifted.Neg(&s.Shifted) },
			"another secret":  func(s *pairing.Statement) { s.Secrets[0] = s.Secrets[1] },
			"no secret":       func(s *pairing.Statement) { s.Secrets[0].SetZero() },
		},
		pairing.Check: {},
	}
	fast := map[pairing.Relation][]pairing.Form{
		pairing.Tripartite: {pairing.LimbsMul}, pairing.Pairing: {pairing.Std}, pairing.Scalars: pairing.Forms(), pairing.Check: {pairing.Std},
	}
	for _, relation := range pairing.Relations() {
		forms := fast[relation]
		if testsize.Long() && relation != pairing.Check {
			forms = pairing.Forms()
		}
		for _, form := range forms {
			t.Run(fmt.Sprintf("relation=%s/form=%s", relation, form), func(t *testing.T) {
				t.Parallel()
				circuit := must.Get(pairing.New(relation, form))(t)
				holds := func(assignment frontend.Circuit) error {
					return test.IsSolved(circuit, assignment, ecc.BN254.ScalarField())
				}
				must.Do(t, holds(circuit.Assign(statement(t, 1<<40, 77, -5))), "a right statement")
				for name, change := range changes[relation] {
					s := statement(t, 1<<40, 77, -5)
					change(s)
					must.Fail(t, holds(circuit.Assign(s)), must.ErrAny, "%s", name)
				}
			})
		}
	}
}

// TestSizes holds the numbers of constraints. In the long form a circuit of one
// pairing is solved, too.
func TestSizes(t *testing.T) {
	testsize.Full(t)
	for _, relation := range pairing.Relations() {
		for _, form := range pairing.Forms() {
			for system, builder := range circuittest.Builders() {
				large := relation == pairing.Tripartite || relation == pairing.Pairing && form != pairing.Std || form == pairing.Limbs
				if relation == pairing.Check && form != pairing.Std || large && !testsize.Long() || pairing.Composed(relation, form) {
					continue
				}
				t.Run(fmt.Sprintf("relation=%s/form=%s/system=%s", relation, form, system), func(t *testing.T) {
					t.Parallel()
					circuit := must.Get(pairing.New(relation, form))(t)
					compiled := circuittest.Compile(t, builder, circuit)
					golden.Equal(t, "constraints", pairing.Constraints(relation, form, system == "scs"), compiled.GetNbConstraints())
					if relation == pairing.Pairing && form == pairing.Emulated && system == "r1cs" {
						s := statement(t, 5, 6, 7)
						must.Do(t, circuittest.Solves(t, compiled, circuit.Assign(s), pairing.Hints()), "a right value")
						s.Pair = s.K
						must.Fail(t, circuittest.Solves(t, compiled, circuit.Assign(s), pairing.Hints()), must.ErrAny, "another value")
					}
				})
			}
		}
	}
}

// TestProve: proofs of whole relations take minutes; TestGadgetProves has a gadget's.
func TestProve(t *testing.T) {
	if !testsize.Long() {
		t.Skip("proofs of whole relations take minutes")
	}
	logger.Disable()
	for _, c := range []struct {
		relation pairing.Relation
		form     pairing.Form
	}{{pairing.Scalars, pairing.LimbsMul}, {pairing.Check, pairing.Std}, {pairing.Pairing, pairing.Std}, {pairing.Pairing, pairing.LimbsMul}} {
		t.Run(fmt.Sprintf("relation=%s/form=%s", c.relation, c.form), func(t *testing.T) {
			circuit := must.Get(pairing.New(c.relation, c.form))(t)
			circuittest.ProveGroth16(t, circuit, circuit.Assign(statement(t, 1<<40, 77, -5)), circuit.Assign(statement(t, 9, 8, 7)), pairing.Hints())
		})
	}
}

// TestRefused: what is no statement or no circuit.
func TestRefused(t *testing.T) {
	must.FailGet(pairing.NewStatement([pairing.Parties]fr.Element{fr.One(), {}, fr.One()}))(t, zkbench.ErrParams, "a secret that is zero")
	for _, c := range []struct {
		relation pairing.Relation
		form     pairing.Form
	}{{pairing.Check, pairing.Limbs}, {"other", pairing.Std}, {"other", pairing.Limbs}, {pairing.Pairing, "other"}} {
		must.FailGet(pairing.New(c.relation, c.form))(t, zkbench.ErrParams, "%s, %s", c.relation, c.form)
	}
}
