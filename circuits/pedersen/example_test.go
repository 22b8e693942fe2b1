package pedersen_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend"
	"github.com/consensys/gnark/backend/groth16"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/r1cs"

	"github.com/zkbench/zkbench/circuits/pedersen"
)

// A chain of two hashes that starts from 5 and takes 6 and 7 up. The verifier makes its public
// witness of the last value alone, and refuses the proof for another.
func Example() {
	circuit, err := pedersen.New(pedersen.Grumpkin, 2)
	if err != nil {
		panic(err)
	}
	field := ecc.BN254.ScalarField()
	system, err := frontend.Compile(field, r1cs.NewBuilder[constraint.U64], circuit)
	if err != nil {
		panic(err)
	}
	fmt.Println(system.GetNbConstraints(), "constraints")
	pk, vk, err := groth16.Setup(system)
	if err != nil {
		panic(err)
	}

	assignment, err := circuit.Assign(fr.NewElement(5), fr.NewElement(6), fr.NewElement(7))
	if err != nil {
		panic(err)
	}
	witness, err := frontend.NewWitness(assignment, field)
	if err != nil {
		panic(err)
	}
	proof, err := groth16.Prove(system, pk, witness, backend.WithSolverOptions(solver.WithHints(pedersen.Hints()...)))
	if err != nil {
		panic(err)
	}

	verify := func(last fr.Element) error {
		public, err := frontend.NewWitness(circuit.AssignPublic(last), field, frontend.PublicOnly())
		if err != nil {
			return err
		}
		return groth16.Verify(proof, vk, public)
	}
	fmt.Println("accepted:", verify(assignment.Last.(fr.Element)) == nil)
	fmt.Println("for another value:", verify(fr.NewElement(7)) == nil)
	// Output:
	// 4019 constraints
	// accepted: true
	// for another value: false
}
