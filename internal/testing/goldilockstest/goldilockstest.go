// Package goldilockstest has helpers for tests of packages that use the Goldilocks field.
package goldilockstest

import (
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
)

// EachKernel runs the function test as a subtest on each kernel (implementation of the field's
// arithmetic). It skips the kernels that this machine or this build lacks.
func EachKernel(t *testing.T, test func(t *testing.T, k goldilocks.Kernel)) {
	t.Helper()
	for _, name := range []string{"portable", "avx2", "avx512", "sve", "sve2"} {
		t.Run("kernel="+name, func(t *testing.T) {
			k, err := goldilocks.KernelNamed(name)
			if err != nil {
				t.Skip(err)
			}
			test(t, k)
		})
	}
}

// Edges lists words at which additions carry, subtractions borrow, or reductions wrap around.
var Edges = []uint64{
	0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1,
	goldilocks.Modulus - 1<<32, goldilocks.Modulus - 2, goldilocks.Modulus - 1, goldilocks.Modulus, goldilocks.Modulus + 1, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1,
}

// Word draws a random 64-bit word. With probability 1/2 the word is one of Edges.
func Word(random *rand.Rand) uint64 {
	if random.IntN(2) == 0 {
		return Edges[random.IntN(len(Edges))]
	}
	return random.Uint64()
}

// Elements draws n elements, about half of them from Edges.
func Elements(random *rand.Rand, n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(Word(random))
	}
	return all
}
