package poseidon_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	hash "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/poseidon"
)

// A proof that a tree has a row, which does not tell where: the verifier knows the tree's root and shape, and
// the row's digest.
func Example() {
	ctx, ex := context.Background(), executor.Pool()
	shape := merkle.Shape{Rows: 4, Width: 8}
	rows := make([]goldilocks.Element, shape.Rows*shape.Width)
	for i := range rows {
		rows[i] = goldilocks.Element(i)
	}
	tree, err := merkle.Build(ctx, ex, shape, rows)
	if err != nil {
		log.Fatal(err)
	}

	params, err := stark.Secure100(stark.Goldilocks, 3)
	if err != nil {
		log.Fatal(err)
	}
	params.ZeroKnowledge = true
	system, err := poseidon.New(params, stark.Hidden)
	if err != nil {
		log.Fatal(err)
	}
	const index = 2
	siblings, err := tree.Path(index)
	if err != nil {
		log.Fatal(err)
	}
	row, err := tree.Row(index)
	if err != nil {
		log.Fatal(err)
	}
	path := poseidon.Path{Shape: shape, Leaf: hash.LinearHash(row), Index: index, Siblings: siblings}
	about := []byte("what else the proof is bound to")
	proof, err := system.Prove(ctx, ex, []poseidon.Path{path}, about, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	claim := poseidon.Claim{Root: tree.Root(), Shape: shape, Leaf: hash.LinearHash(row)}
	fmt.Println("a row:        ", system.Verify(proof, []poseidon.Claim{claim}, about))

	// Two digests are as long as a row, and compressed as it is hashed. Where they lead is to an inner node.
	inner := path
	inner.Leaf = hash.Compress(hash.LinearHash(row), siblings[0])
	inner.Index, inner.Siblings = index/2, siblings[1:]
	_, err = system.Prove(ctx, ex, []poseidon.Path{inner}, about, stark.Options{})
	fmt.Println("an inner node:", err)
	claim.Leaf = inner.Leaf
	fmt.Println("claimed:      ", system.Verify(proof, []poseidon.Claim{claim}, about))
	// Output:
	// a row:         <nil>
	// an inner node: path 0: invalid parameters: 1 siblings, accepted are 2
	// claimed:       proof rejected: a tuple is not answered as often as it is asked for
}
