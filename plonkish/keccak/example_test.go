package keccak_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	hash "github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/keccak"
)

// A circuit for the statement that somebody knows the preimage of a public digest of Keccak-256.
func Example() {
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	h, err := keccak.NewLookup(b, hash.Keccak256)
	if err != nil {
		panic(err)
	}
	var message []plonkish.Var
	for _, c := range []byte("secret") {
		message = append(message, b.Var(fr.NewElement(uint64(c))))
	}
	for _, v := range h.Sum256(message) {
		b.Equal(v, b.Public(b.Value(v)))
	}
	circuit, err := b.Build()
	if err != nil {
		panic(err)
	}
	var digest [hash.Digest]byte
	for i, e := range circuit.Public() {
		digest[i] = byte(e.Uint64())
	}
	fmt.Println("satisfied:", circuit.Check() == nil)
	fmt.Println("the digest:", digest == hash.Sum256([]byte("secret")))
	// Output:
	// satisfied: true
	// the digest: true
}
