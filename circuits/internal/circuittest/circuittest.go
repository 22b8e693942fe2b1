// Package circuittest tests circuits: that they prove and verify, and that nothing in
// them is left free.
package circuittest

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/srs"
)

// Builders are the constraint systems that circuits are tested on, by name.
func Builders() map[string]frontend.NewBuilder {
	return map[string]frontend.NewBuilder{"scs": scs.NewBuilder[constraint.U64], "r1cs": r1cs.NewBuilder[constraint.U64]}
}

// Compile compiles a circuit over BN254.
func Compile(t testing.TB, b frontend.NewBuilder, circuit frontend.Circuit) constraint.ConstraintSystem {
	t.Helper()
	system, err := frontend.Compile(ecc.BN254.ScalarField(), b, circuit)
	if err != nil {
		t.Fatal(err)
	}
	return system
}

// Witness returns the witness of an assignment.
func Witness(t testing.TB, assignment frontend.Circuit, opts ...frontend.WitnessOption) witness.Witness {
	t.Helper()
	w, err := frontend.NewWitness(assignment, ecc.BN254.ScalarField(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Solves reports why an assignment does not satisfy a system; nil if it does.
func Solves(t testing.TB, system constraint.ConstraintSystem, assignment frontend.Circuit, hints []solver.Hint) error {
	t.Helper()
	return system.IsSolved(Witness(t, assignment), solver.WithHints(hints...))
}

// Prove proves and verifies with gnark's PLONK, and sees to it that the proof is refused
// for another's public inputs.
func Prove(t *testing.T, circuit, assignment, other frontend.Circuit, hints []solver.Hint) {
	t.Helper()
	system := Compile(t, scs.NewBuilder[constraint.U64], circuit)
	size := int(ecc.NextPowerOfTwo(uint64(system.GetNbConstraints() + system.GetNbPublicVariables())))
	s, err := srs.Insecure(context.Background(), executor.Pool(), size, 1)
	if err != nil {
		t.Fatal(err)
	}
	pk, vk, err := plonk.Setup(system, &s.Canonical, &s.Lagrange)
	if err != nil {
		t.Fatal(err)
	}
	proof, err := plonk.Prove(system, pk, Witness(t, assignment), backend.WithSolverOptions(solver.WithHints(hints...)))
	if err != nil {
		t.Fatal(err)
	}
	if err := plonk.Verify(proof, vk, Witness(t, assignment, frontend.PublicOnly())); err != nil {
		t.Errorf("a proof is rejected: %v", err)
	}
	if plonk.Verify(proof, vk, Witness(t, other, frontend.PublicOnly())) == nil {
		t.Error("a proof is accepted for other public inputs")
	}
}

// MutateHints changes outputs of hints, one at a time, and sees to it that no assignment
// solves the circuit then: of each hint's first two calls, the middle one, the last and
// the one with most outputs, those outputs whose index is a multiple of stride.
func MutateHints(t *testing.T, circuit, assignment frontend.Circuit, hints []solver.Hint, stride int) {
	t.Helper()
	for name, b := range Builders() {
		system := Compile(t, b, circuit)
		// solve calls each for every call of hint, with its number.
		solve := func(hint solver.Hint, each func(call int, outputs []*big.Int)) error {
			call := 0
			watched := func(q *big.Int, inputs, outputs []*big.Int) error {
				if err := hint(q, inputs, outputs); err != nil {
					return err
				}
				each(call, outputs)
				call++
				return nil
			}
			return system.IsSolved(Witness(t, assignment), solver.WithHints(hints...), solver.OverrideHint(solver.GetHintID(hint), watched), solver.WithNbTasks(1))
		}
		used := false
		for _, hint := range hints {
			var outputs []int // of each call
			if err := solve(hint, func(_ int, o []*big.Int) { outputs = append(outputs, len(o)) }); err != nil {
				t.Fatalf("%s: the assignment that all others are made of: %v", name, err)
			}
			if len(outputs) == 0 {
				continue
			}
			used = true
			most := slices.Index(outputs, slices.Max(outputs))
			calls := []int{0, min(1, len(outputs)-1), len(outputs) / 2, len(outputs) - 1, most}
			slices.Sort(calls)
			for _, at := range slices.Compact(calls) {
				for target := 0; target < outputs[at]; target += stride {
					err := solve(hint, func(call int, o []*big.Int) {
						if call == at {
							o[target].Add(o[target], big.NewInt(1))
						}
					})
					if err == nil {
						t.Errorf("%s: output %d of call %d of hint %s may be another", name, target, at, solver.GetHintName(hint))
					}
				}
			}
		}
		if !used {
			t.Errorf("%s: none of the hints is used", name)
		}
	}
}

// MutateWires changes the value of each wire of a PLONK system, in all gates at once,
// and sees to it that some gate does not hold any more. A wire that stands in no gate,
// or in gates that hold for any value, would be free.
func MutateWires(t *testing.T, circuit, assignment frontend.Circuit, hints []solver.Hint) {
	t.Helper()
	system := Compile(t, scs.NewBuilder[constraint.U64], circuit).(*cs.SparseR1CS)
	solved, err := system.Solve(Witness(t, assignment), solver.WithHints(hints...))
	if err != nil {
		t.Fatal(err)
	}
	solution := solved.(*cs.SparseR1CSSolution)
	offset := system.GetNbPublicVariables() // a placeholder gate for each comes first
	bound := make(map[uint32]bool)
	holds := func(i int, c *constraint.SparseR1C, changed uint32) bool {
		at := func(id uint32, v fr.Element) fr.Element {
			if id == changed {
				one := fr.One()
				v.Add(&v, &one)
			}
			return v
		}
		a, b, o := at(c.XA, solution.L[offset+i]), at(c.XB, solution.R[offset+i]), at(c.XC, solution.O[offset+i])
		q := func(id uint32) *fr.Element { return &system.Coefficients[id] }
		var sum, term fr.Element
		sum.Mul(&a, &b).Mul(&sum, q(c.QM))
		for _, p := range []struct{ q, v *fr.Element }{{q(c.QL), &a}, {q(c.QR), &b}, {q(c.QO), &o}} {
			sum.Add(&sum, term.Mul(p.q, p.v))
		}
		return sum.Add(&sum, q(c.QC)).IsZero()
	}
	gates := system.GetSparseR1Cs()
	const none = ^uint32(0)
	for i := range gates {
		c := &gates[i]
		if c.Commitment == constraint.NOT && !holds(i, c, none) {
			t.Fatalf("gate %d does not hold: %s", i, c.String(system))
		}
		for _, wire := range []uint32{c.XA, c.XB, c.XC} {
			if !bound[wire] && (c.Commitment != constraint.NOT || !holds(i, c, wire)) {
				bound[wire] = true
			}
		}
	}
	total := system.GetNbPublicVariables() + system.GetNbSecretVariables() + system.GetNbInternalVariables()
	for wire := range uint32(total) {
		if !bound[wire] {
			t.Errorf("wire %d of %d is in no gate that holds it", wire, total)
		}
	}
}

// NothingFree sees to it that a circuit leaves a prover no choice, on each constraint
// system, as far as Solution's Free and OtherOutputs, of every stride-th output of the
// hints, can tell.
func NothingFree(t *testing.T, circuit, assignment frontend.Circuit, hints []solver.Hint, stride int) {
	t.Helper()
	for name, b := range Builders() {
		s, err := Solve(Compile(t, b, circuit), Witness(t, assignment), hints)
		if err != nil {
			t.Fatalf("%s: the assignment that all others are made of: %v", name, err)
		}
		for _, wire := range s.Free() {
			t.Errorf("%s: %s is free", name, wire)
		}
		others, tried := s.OtherOutputs(stride)
		for _, wire := range others {
			t.Errorf("%s: %s may be another", name, wire)
		}
		if tried == 0 && len(hints) > 0 {
			t.Errorf("%s: none of the hints is used", name)
		}
	}
}
