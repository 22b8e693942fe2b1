package pedersen_test

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/pedersen"
)

// A node of a Merkle tree: the hash of its two children.
func Example() {
	left, right := fr.NewElement(1), fr.NewElement(2)
	node := pedersen.Hash(&left, &right)
	fmt.Printf("0x%x\n", node.Bytes())
	// Output: 0x17cb544f4d22abbae88f69c706f21367d7925abb131a13836745714dc896c150
}
