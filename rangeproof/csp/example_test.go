package csp_test

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

// An owner shows that an age fits in seven bits without showing it.
func ExampleNewSystem() {
	ctx, ex := context.Background(), executor.Serial()
	system, err := csp.NewSystem(group.BLS12381(), 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	blinding, err := system.RandomBlinding(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	commitment, proof, err := system.Prove(ctx, ex, nil, []uint64{42}, [][]byte{blinding}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	claim, err := system.Decode(nil, 1, commitment, proof)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("holds:", system.Verify(ctx, ex, claim) == nil)

	_, _, err = system.Prove(ctx, ex, nil, []uint64{128}, [][]byte{blinding}, nil)
	fmt.Println(err)
	// Output:
	// holds: true
	// invalid parameters: csp: value 0 does not fit in 7 bits
}
