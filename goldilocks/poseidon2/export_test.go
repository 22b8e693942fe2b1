package poseidon2

import "github.com/zkbench/zkbench/goldilocks"

// Constants are those of the full rounds and of the partial ones.
func Constants() (full [][Width]goldilocks.Element, partial []goldilocks.Element) {
	return fullConstants[:], partialConstants[:]
}
