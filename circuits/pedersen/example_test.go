package pedersen_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/pedersen"
)

// A chain of two hashes that starts from 5 and takes 6 and 7 up.
func Example() {
	circuit, err := pedersen.New(pedersen.Grumpkin, 2)
	if err != nil {
		panic(err)
	}
	system, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder[constraint.U64], circuit)
	if err != nil {
		panic(err)
	}
	assignment, err := circuit.Assign(fr.NewElement(5), fr.NewElement(6), fr.NewElement(7))
	if err != nil {
		panic(err)
	}
	witness, err := frontend.NewWitness(assignment, ecc.BN254.ScalarField())
	if err != nil {
		panic(err)
	}
	_, err = system.Solve(witness, solver.WithHints(pedersen.Hints()...))
	fmt.Println(system.GetNbConstraints(), "constraints, solved:", err == nil)
	// Output: 6569 constraints, solved: true
}
