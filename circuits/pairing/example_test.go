package pairing_test

import (
	"errors"
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/backend/witness"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/pairing"
)

// A tripartite key exchange on own limbs: its size, the witness of three secrets, and what a
// verifier does who has the public values only. Compiling and proving take minutes: here a function
// that accepts any proof stands for groth16.Verify.
func Example() {
	circuit, err := pairing.New(pairing.Tripartite, pairing.LimbsMul)
	if err != nil {
		panic(err)
	}
	statement, err := pairing.NewStatement([pairing.Parties]fr.Element{fr.NewElement(11), fr.NewElement(22), fr.NewElement(33)})
	if err != nil {
		panic(err)
	}
	full, err := frontend.NewWitness(circuit.Assign(statement), ecc.BN254.ScalarField())
	if err != nil {
		panic(err)
	}
	fmt.Println(pairing.Constraints(pairing.Tripartite, pairing.LimbsMul, false), "constraints of Groth16")
	fmt.Println(len(full.Vector().(fr.Vector)), "inputs")

	shown := &pairing.Statement{P: statement.P, Q: statement.Q, K: statement.K}
	verify := func(public witness.Witness) error {
		fmt.Println(len(public.Vector().(fr.Vector)), "of them public")
		return nil // groth16.Verify(proof, vk, public)
	}
	fmt.Println("right points:", shown.Verify(circuit, verify))

	// No proof is asked about what the circuit assumes.
	forged := *shown
	forged.P[0].X.SetUint64(5)
	forged.P[0].Y.SetZero()
	err = forged.Verify(circuit, verify)
	fmt.Println(err, errors.Is(err, zkbench.ErrProof))
	forged = *shown
	forged.Q[0], forged.Q[1] = forged.Q[1], forged.Q[0]
	fmt.Println(forged.Verify(circuit, verify))
	// Output:
	// 3862180 constraints of Groth16
	// 123 inputs
	// 120 of them public
	// right points: <nil>
	// proof rejected: P[0] is not on its curve true
	// proof rejected: P[0] and Q[0] have different logarithms
}
