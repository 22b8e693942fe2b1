package keccak_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
)

// The circuit of an 11-byte message, and what its prover and its verifier hold: the bits of
// the message, and the digest in two halves. A proof takes ten seconds; here the circuit's equations
// are solved, which they are for no other digest.
func Example() {
	message := []byte("hello world")
	circuit, err := keccak.NewFixed(len(message), hash.Keccak256)
	if err != nil {
		panic(err)
	}
	field := ecc.BN254.ScalarField()
	system, err := frontend.Compile(field, scs.NewBuilder[constraint.U64], circuit)
	if err != nil {
		panic(err)
	}
	solved := func(digest [hash.Digest]byte) bool {
		assignment, err := circuit.Assign(message, digest)
		if err != nil {
			panic(err)
		}
		witness, err := frontend.NewWitness(assignment, field)
		if err != nil {
			panic(err)
		}
		return system.IsSolved(witness) == nil
	}
	digest := hash.Sum256(message)
	fmt.Println("solved:", solved(digest))
	fmt.Println("for another digest:", solved(hash.Sum256([]byte("hello"))))

	public, err := frontend.NewWitness(circuit.AssignPublic(digest), field, frontend.PublicOnly())
	if err != nil {
		panic(err)
	}
	for i := range public.Vector().(fr.Vector) {
		fmt.Println("public:", public.Vector().(fr.Vector)[i].Text(16))
	}
	_, err = circuit.Assign(message[1:], digest)
	fmt.Println(err)
	// Output:
	// solved: true
	// for another digest: false
	// public: 84632877c62f975e1e34d7a885321747
	// public: ad1fb04c25fabb035feca542eff802f8
	// invalid parameters: message of 10 bytes for a circuit of 11
}
