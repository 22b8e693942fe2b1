package keccak_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// One proof that the Keccak-256 of several messages is what is claimed. Params.ZeroKnowledge hides the messages:
// without it stark.Hidden is refused, since they could be read from the proof.
func Example() {
	params, err := stark.Secure100(stark.KoalaBear, 1)
	if err != nil {
		log.Fatal(err)
	}
	_, err = keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, stark.Hidden)
	fmt.Println(err)
	params.ZeroKnowledge = true
	system, err := keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, stark.Hidden)
	if err != nil {
		log.Fatal(err)
	}
	messages := [][]byte{[]byte("a secret"), make([]byte, 500)}
	about := []byte("what else the proof is bound to")
	proof, err := system.Prove(context.Background(), executor.Pool(), messages, about, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	claims := keccak.Claims(messages, stark.Exposed) // lengths and digests: all that a verifier has
	fmt.Println(system.Verify(proof, claims, about))
	claims[0].Length++
	fmt.Println(system.Verify(proof, claims, about))
	// Output:
	// messages: invalid parameters: hidden needs ZeroKnowledge, which parameters "secure100" lack
	// <nil>
	// proof rejected: a tuple is not answered as often as it is asked for
}

// Each table alone: two proofs of one list of states say what one proof of both tables does.
func ExampleSpongeTable() {
	params, err := stark.Secure100(stark.KoalaBear, 1)
	if err != nil {
		log.Fatal(err)
	}
	config := stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}
	permutations, err := keccak.NewPermutationTable(config)
	if err != nil {
		log.Fatal(err)
	}
	sponges, err := keccak.NewSpongeTable(config, stark.Exposed)
	if err != nil {
		log.Fatal(err)
	}
	messages := [][]byte{[]byte("no secret"), make([]byte, 500)}
	states := keccak.Permutations(messages) // which both verifiers have
	first, err := permutations.Prove(context.Background(), executor.Pool(), states, nil, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	second, err := sponges.Prove(context.Background(), executor.Pool(), messages, nil, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	claims := keccak.Claims(messages, stark.Exposed)
	fmt.Println(permutations.Verify(first, states, nil), sponges.Verify(second, claims, states, nil))
	states[4].Out[0]++ // the last, which has a digest
	fmt.Println(permutations.Verify(first, states, nil))
	fmt.Println(sponges.Verify(second, claims, states, nil))
	// Output:
	// <nil> <nil>
	// proof rejected: a tuple is not answered as often as it is asked for
	// proof rejected: a tuple is not answered as often as it is asked for
}
