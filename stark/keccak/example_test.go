package keccak_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// One proof that the Keccak-256 of several messages is what is claimed.
func Example() {
	set, err := stark.Secure100(stark.KoalaBear, 1)
	if err != nil {
		log.Fatal(err)
	}
	system, err := keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: set}, false)
	if err != nil {
		log.Fatal(err)
	}
	messages := [][]byte{[]byte("a secret"), make([]byte, 500)}
	about := []byte("what else the proof is bound to")
	proof, err := system.Prove(context.Background(), executor.Pool(), messages, about, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	claims := keccak.Claims(messages, false) // lengths and digests: all that a verifier has
	fmt.Println(system.Verify(proof, claims, about))
	claims[0].Length++
	fmt.Println(system.Verify(proof, claims, about))
	// Output:
	// <nil>
	// proof rejected: what tables and statement send does not add up to nothing
}
