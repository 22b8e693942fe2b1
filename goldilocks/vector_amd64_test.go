//go:build !purego

package goldilocks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestAddProductsWithoutIFMA: processors with AVX-512 but without IFMA compute the same sums.
func TestAddProductsWithoutIFMA(t *testing.T) {
	t.Parallel()
	if !slices.Contains(Kernels(), Kernel{avx512}) {
		t.Skip("no AVX-512")
	}
	random := rand.New(rand.NewPCG(13, 14))
	const n = 24
	vectors := func(count int) (all [][]Element) {
		for range count {
			v := make([]Element, n)
			for i := range v {
				v[i] = [2]Element{Modulus - 1, Reduce(random.Uint64())}[random.IntN(2)]
			}
			all = append(all, v)
		}
		return all
	}
	for _, count := range []int{1, 5, 1024, 1025} {
		for sums := 2; sums <= 3; sums++ {
			a, want, got := vectors(count), vectors(sums), make([][]Element, sums)
			c := slices.Repeat([]Element{1<<22 - 1 + (1<<22-1)<<22 + (1<<20-2)<<44}, count*sums)
			for i, v := range want {
				got[i] = slices.Clone(v)
			}
			AddProducts(want, a, c, Portable())
			golden.Equal(t, "rows", n, addProductsAVX512(got, a, c, false))
			golden.Equal(t, fmt.Sprintf("%d vectors, %d sums", count, sums), want, got)
		}
	}
}
