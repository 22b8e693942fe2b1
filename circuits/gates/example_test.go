package gates_test

import (
	"context"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/plonk"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/gates"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/srs"
)

// A circuit of 1024 gates just fills a domain of PLONK. The verifier makes its public witness of the
// last value alone, and refuses the proof for another. The reference string is insecure: whoever
// knows its seed can prove anything.
func Example() {
	circuit, err := gates.New(1024)
	if err != nil {
		panic(err)
	}
	field := ecc.BN254.ScalarField()
	system, err := frontend.Compile(field, scs.NewBuilder[constraint.U64], circuit)
	if err != nil {
		panic(err)
	}
	size := system.GetNbConstraints() + system.GetNbPublicVariables()
	fmt.Println(size, "gates")
	reference, err := srs.Insecure(context.Background(), executor.Pool(), size, 1)
	if err != nil {
		panic(err)
	}
	pk, vk, err := plonk.Setup(system, &reference.Canonical, &reference.Lagrange)
	if err != nil {
		panic(err)
	}

	assignment := circuit.Assign(fr.NewElement(3), fr.NewElement(5))
	witness, err := frontend.NewWitness(assignment, field)
	if err != nil {
		panic(err)
	}
	proof, err := plonk.Prove(system, pk, witness)
	if err != nil {
		panic(err)
	}

	verify := func(last fr.Element) error {
		public, err := frontend.NewWitness(circuit.AssignPublic(last), field, frontend.PublicOnly())
		if err != nil {
			return err
		}
		return plonk.Verify(proof, vk, public)
	}
	fmt.Println("accepted:", verify(assignment.Last.(fr.Element)) == nil)
	fmt.Println("for another value:", verify(fr.NewElement(7)) == nil)
	// Output:
	// 1024 gates
	// accepted: true
	// for another value: false
}
