package poseidon_test

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Hash binds the length of its input; Compress makes a node of two digests, and CompressAll
// many of them in the lanes of the processor's vectors.
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
