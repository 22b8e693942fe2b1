package gates_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/gates"
)

// A circuit of 1024 gates just fills a domain of PLONK.
func Example() {
	circuit, err := gates.New(1024)
	if err != nil {
		panic(err)
	}
	system, err := frontend.Compile(ecc.BN254.ScalarField(), scs.NewBuilder[constraint.U64], circuit)
	if err != nil {
		panic(err)
	}
	assignment := circuit.Assign(fr.NewElement(3), fr.NewElement(5))
	witness, err := frontend.NewWitness(assignment, ecc.BN254.ScalarField())
	if err != nil {
		panic(err)
	}
	_, err = system.Solve(witness)
	fmt.Println(system.GetNbConstraints()+system.GetNbPublicVariables(), "gates, solved:", err == nil)
	// Output: 1024 gates, solved: true
}
