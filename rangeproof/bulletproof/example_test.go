package bulletproof_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof/bulletproof"
)

// A sender shows that an amount is below 2^32 without showing the amount.
func ExampleNewSystem() {
	ctx, ex := context.Background(), executor.Serial()
	system, err := bulletproof.NewSystem(group.BN254(), 32, 1)
	if err != nil {
		log.Fatal(err)
	}
	blinding, err := system.RandomBlinding(nil)
	if err != nil {
		log.Fatal(err)
	}
	order := []byte("order 4711")
	commitment, proof, err := system.Prove(ctx, ex, order, []uint64{250}, [][]byte{blinding}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(commitment), "bytes of commitment,", len(proof), "of proof")

	// The receiver of both needs only the same parameters.
	for _, message := range []string{"order 4711", "order 4712"} {
		claim, err := system.Decode([]byte(message), 1, commitment, proof)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(message, "holds:", system.Verify(ctx, ex, claim) == nil)
	}
	// Output:
	// 32 bytes of commitment, 672 of proof
	// order 4711 holds: true
	// order 4712 holds: false
}
