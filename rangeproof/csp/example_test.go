package csp_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

// An owner shows that an age fits in seven bits without showing it.
func ExampleNewSystem() {
	ctx, ex := context.Background(), executor.Serial()
	system, err := csp.NewSystem(group.BLS12381(), 7)
	if err != nil {
		log.Fatal(err)
	}
	blinding, err := system.RandomBlinding(nil)
	if err != nil {
		log.Fatal(err)
	}
	commitment, proof, err := system.Prove(ctx, ex, nil, []uint64{42}, [][]byte{blinding}, nil)
	if err != nil {
		log.Fatal(err)
	}
	claim, err := system.Decode(nil, 1, commitment, proof)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("holds:", system.Verify(ctx, ex, claim) == nil)

	_, _, err = system.Prove(ctx, ex, nil, []uint64{128}, [][]byte{blinding}, nil)
	fmt.Println(err)

	// A cheat presents the proof with a commitment to 128, made by a system of eight bits.
	wide, err := csp.NewSystem(group.BLS12381(), 8)
	if err != nil {
		log.Fatal(err)
	}
	old, _, err := wide.Prove(ctx, ex, nil, []uint64{128}, [][]byte{blinding}, nil)
	if err != nil {
		log.Fatal(err)
	}
	forged, err := system.Decode(nil, 1, old, proof)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("forged:", system.Verify(ctx, ex, forged))
	// Output:
	// holds: true
	// invalid parameters: csp: value 0 does not fit in 7 bits
	// forged: action 0: range proof: proof rejected
}
