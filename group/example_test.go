package group_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
)

// A prover stores its points once, in a file that the next run reads. Every proof computes sums
// over them.
func ExampleStore() {
	ctx, g := context.Background(), group.BN254()
	basis, err := group.NewBasis(g, []group.Family{{Name: "example", Count: 100}}, group.SmallTables())
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	stored, err := group.Store(ctx, executor.Pool(), g, basis.Points, group.StoreOptions{File: filepath.Join(dir, "points")})
	if err != nil {
		log.Fatal(err)
	}
	defer stored.Close()
	sum, err := stored.MSM(ctx, executor.Pool(), make([]fr.Element, 100))
	fmt.Println(g.IsIdentity(&sum), err)
	// Output: true <nil>
}

// The sum of two Pedersen commitments v·G + r·H commits to the sum of their values. One MSM
// call computes all three.
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
