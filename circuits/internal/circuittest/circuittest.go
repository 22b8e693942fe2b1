// Package circuittest has functions for the tests of circuits. These functions check that a circuit can be
// proved and verified, and that a prover has no choice of the values inside the circuit.
package circuittest

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

// Builders returns one builder for each constraint system on which circuits are tested. The keys are the
// names of the systems.
func Builders() map[string]frontend.NewBuilder {
	return map[string]frontend.NewBuilder{"scs": scs.NewBuilder[constraint.U64], "r1cs": r1cs.NewBuilder[constraint.U64]}
}

// Compile compiles a circuit over BN254.
func Compile(t testing.TB, b frontend.NewBuilder, circuit frontend.Circuit) constraint.ConstraintSystem {
	t.Helper()
	return must.Get(frontend.Compile(ecc.BN254.ScalarField(), b, circuit))(t)
}

// Witness returns the witness of an assignment.
func Witness(t testing.TB, assignment frontend.Circuit, opts ...frontend.WitnessOption) witness.Witness {
	t.Helper()
	return must.Get(frontend.NewWitness(assignment, ecc.BN254.ScalarField(), opts...))(t)
}

// Public checks that the assignment of public values alone makes the same public witness as the whole
// assignment.
func Public(t testing.TB, assignment, public frontend.Circuit) {
	t.Helper()
	want := must.Get(Witness(t, assignment).Public())(t)
	got := Witness(t, public, frontend.PublicOnly())
	golden.Equal(t, "public inputs", fmt.Sprint(want.Vector()), fmt.Sprint(got.Vector()))
}

// Solves returns nil if the assignment satisfies the system. Otherwise the error says why it does not.
func Solves(t testing.TB, system constraint.ConstraintSystem, assignment frontend.Circuit, hints []solver.Hint) error {
	t.Helper()
	return system.IsSolved(Witness(t, assignment), solver.WithHints(hints...))
}

// Prove proves the circuit for the assignment with gnark's PLONK, and verifies the proof. The parameter other
// is a second assignment. Prove also checks that the proof is refused for the public inputs of this second
// assignment.
func Prove(t *testing.T, circuit, assignment, other frontend.Circuit, hints []solver.Hint) {
	t.Helper()
	system := Compile(t, scs.NewBuilder[constraint.U64], circuit)
	size := int(ecc.NextPowerOfTwo(uint64(system.GetNbConstraints() + system.GetNbPublicVariables())))
	s := must.Get(srs.Insecure(context.Background(), executor.Pool(), size, 1))(t)
	pk, vk, err := plonk.Setup(system, &s.Canonical, &s.Lagrange)
	must.Do(t, err)
	proof := must.Get(plonk.Prove(system, pk, Witness(t, assignment), backend.WithSolverOptions(solver.WithHints(hints...))))(t)
	must.Do(t, plonk.Verify(proof, vk, Witness(t, assignment, frontend.PublicOnly())), "a proof")
	must.Fail(t, plonk.Verify(proof, vk, Witness(t, other, frontend.PublicOnly())), must.ErrAny, "a proof for other public inputs")
}

// ProveGroth16 makes the same checks as Prove, but with Groth16.
func ProveGroth16(t *testing.T, circuit, assignment, other frontend.Circuit, hints []solver.Hint) {
	t.Helper()
	system := Compile(t, r1cs.NewBuilder[constraint.U64], circuit)
	pk, vk, err := groth16.Setup(system)
	must.Do(t, err)
	proof := must.Get(groth16.Prove(system, pk, Witness(t, assignment), backend.WithSolverOptions(solver.WithHints(hints...))))(t)
	must.Do(t, groth16.Verify(proof, vk, Witness(t, assignment, frontend.PublicOnly())), "a proof")
	must.Fail(t, groth16.Verify(proof, vk, Witness(t, other, frontend.PublicOnly())), must.ErrAny, "a proof for other public inputs")
}

// NothingFree compiles a circuit for each constraint system, and checks that a prover has no choice of the
// values inside the circuit. It calls Solution.Free and Solution.OtherOutputs, so it shows only what these
// two methods can show. It passes the parameter stride to OtherOutputs. If stride is n, OtherOutputs tries
// every n-th output of the hints.
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
