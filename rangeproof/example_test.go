package rangeproof_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/rangeproof/csp"
)

// Verify verifies many proofs in one multi-scalar multiplication. The error names those that do not
// hold.
func ExampleSystem_verify() {
	ctx, ex := context.Background(), executor.Pool()
	system, err := csp.NewSystem(group.BN254(), 8)
	if err != nil {
		log.Fatal(err)
	}
	var claims []rangeproof.Claim
	for i, message := range []string{"first", "second", "third"} {
		blinding, err := system.RandomBlinding(nil)
		if err != nil {
			log.Fatal(err)
		}
		commitment, proof, err := system.Prove(ctx, ex, []byte(message), []uint64{uint64(i)}, [][]byte{blinding}, nil)
		if err != nil {
			log.Fatal(err)
		}
		if message == "second" {
			message = "forged"
		}
		claim, err := system.Decode([]byte(message), 1, commitment, proof)
		if err != nil {
			log.Fatal(err)
		}
		claims = append(claims, claim)
	}
	err = system.Verify(ctx, ex, claims...)
	var check *zkbench.CheckError
	fmt.Println(errors.As(err, &check), check.Action, errors.Is(err, zkbench.ErrProof))
	fmt.Println("nothing to verify:", errors.Is(system.Verify(ctx, ex), zkbench.ErrParams))
	// Output:
	// true 1 true
	// nothing to verify: true
}
