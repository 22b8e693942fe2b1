package poseidon_test

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Hash binds the length of its input. Compress computes a node from two digests, and CompressAll
// computes many nodes with vector instructions.
func Example() {
	left := poseidon.Hash([]goldilocks.Element{1, 2, 3})
	right := poseidon.Hash([]goldilocks.Element{1, 2, 3, 0})
	fmt.Println(left == right)
	nodes := make([]poseidon.Digest, 1)
	poseidon.CompressAll(nodes, []poseidon.Digest{left, right})
	fmt.Println(nodes[0] == poseidon.Compress(left, right))
	// Output:
	// false
	// true
}
