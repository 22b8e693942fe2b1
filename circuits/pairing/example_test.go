package pairing_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/pairing"
)

// A tripartite key exchange on own limbs: its size, and the witness that package frontend
// makes of three secrets. Compiling it takes minutes.
func Example() {
	circuit, err := pairing.New(pairing.Tripartite, pairing.LimbsMul)
	if err != nil {
		panic(err)
	}
	statement, err := pairing.NewStatement([pairing.Parties]fr.Element{fr.NewElement(11), fr.NewElement(22), fr.NewElement(33)})
	if err != nil {
		panic(err)
	}
	witness, err := frontend.NewWitness(circuit.Assign(statement), ecc.BN254.ScalarField())
	if err != nil {
		panic(err)
	}
	public, err := witness.Public()
	if err != nil {
		panic(err)
	}
	fmt.Println(pairing.Constraints(pairing.Tripartite, pairing.LimbsMul, false), "constraints of Groth16")
	fmt.Println(len(witness.Vector().(fr.Vector)), "inputs,", len(public.Vector().(fr.Vector)), "of them public")
	// Output:
	// 3862180 constraints of Groth16
	// 123 inputs, 120 of them public
}
