package poseidon2_test

import (
	"fmt"

	"github.com/zkbench/zkbench/goldilocks/poseidon2"
)

func ExampleState_Permute() {
	s := poseidon2.State{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	s.Permute()
	fmt.Printf("%016x\n", s[0])
	// Output: f292ab67c0f14b03
}
