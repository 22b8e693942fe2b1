package poseidon2

import "github.com/zkbench/zkbench/goldilocks"

// Constants returns the constants of the full rounds and of the partial rounds.
func Constants() (full [][Width]goldilocks.Element, partial []goldilocks.Element) {
	return fullConstants[:], partialConstants[:]
}
