package goldilocks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/goldilockstest"
	"github.com/zkbench/zkbench/internal/must"
)

// ends are results that a kernel, before its last step, may hold as words of p-2 to p+2.
var ends = []goldilocks.Element{0, 1, 2, goldilocks.Modulus - 2, goldilocks.Modulus - 1}

// TestWordsAtModulus: sums that are p and its neighbours as integers.
func TestWordsAtModulus(t *testing.T) {
	t.Parallel()
	type vector = []goldilocks.Element
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(21, 22))
		const n = 71
		for _, end := range ends {
			ones, want := slices.Repeat(vector{1}, n), slices.Repeat(vector{end}, n)
			x := generate(n, func(int) goldilocks.Element { return 2 + goldilocks.Element(random.Uint64N(goldilocks.Modulus-4)) })
			y := generate(n, func(i int) goldilocks.Element { return end.Sub(x[i]) }) // x + y is end, or p more
			dst := make(vector, n)
			goldilocks.Add(dst, x, y, k)
			equal(t, fmt.Sprint("add to ", end), dst, want)
			dst = slices.Clone(y)
			goldilocks.MulAdd(dst, x, ones, k)
			equal(t, fmt.Sprint("mulAdd to ", end), dst, want)
		}
	})
}

// TestNTTWordsAtModulus: transforms whose results are the ends. The sums that make a
// result of 0 are p as a word about as often as 0.
func TestNTTWordsAtModulus(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(23, 24))
		for _, n := range []int{64, 128, 256, size(4096, 512)} {
			d := domain(t, n)
			for _, from := range orders {
				want := generate(n, func(int) goldilocks.Element { return ends[random.IntN(len(ends))] })
				got := slices.Clone(want)
				must.Do(t, d.InverseNTT(got, opposite(from), 1, goldilocks.Portable()))
				must.Do(t, d.NTT(got, from, 1, k))
				equal(t, fmt.Sprintf("n=%d from=%v", n, from), got, want)
			}
		}
	})
}
