package group_test

import (
	"context"
	"fmt"
	"log"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
)

// Pedersen commitments v·G + r·H to two values, in one fixed-base sum, add up to
// one to their sum.
func Example() {
	g := group.BN254()
	basis, err := group.NewBasis(g, []group.Family{{Name: "example", Count: 2}}, group.TableOptions{})
	if err != nil {
		log.Fatal(err)
	}
	opening := func(v, r uint64) []fr.Element {
		return []fr.Element{g.ScalarFromUint64(v), g.ScalarFromUint64(r)}
	}
	commitments := make([]bn254.G1Affine, 3)
	rows := [][]fr.Element{opening(30, 1111), opening(12, 2222), opening(42, 3333)}
	if err := basis.Table.MSM(context.Background(), executor.Serial(), commitments, rows); err != nil {
		log.Fatal(err)
	}
	var sum bn254.G1Affine
	g.AddPoints(&sum, &commitments[0], &commitments[1])
	fmt.Println(g.EqualPoints(&sum, &commitments[2]))
	// Output: true
}
