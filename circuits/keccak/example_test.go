package keccak_test

import (
	"fmt"

	"github.com/zkbench/zkbench/circuits/keccak"
	hash "github.com/zkbench/zkbench/hash/keccak"
)

// The circuit of an 11-byte message, and what its prover and its verifier hold: the bits of
// the message, and the digest in two halves.
func Example() {
	message := []byte("hello world")
	circuit, err := keccak.NewFixed(len(message), hash.Keccak256)
	if err != nil {
		panic(err)
	}
	assignment, err := circuit.Assign(message, hash.Sum256(message))
	if err != nil {
		panic(err)
	}
	a := assignment.(*keccak.Fixed)
	fmt.Println(len(a.Message), "bits")
	fmt.Printf("%032x\n", a.Digest)
	_, err = circuit.Assign(message[1:], hash.Sum256(message))
	fmt.Println(err)
	// Output:
	// 88 bits
	// [84632877c62f975e1e34d7a885321747 ad1fb04c25fabb035feca542eff802f8]
	// invalid parameters: message of 10 bytes for a circuit of 11
}
