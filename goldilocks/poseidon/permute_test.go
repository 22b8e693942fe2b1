package poseidon_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
)

// TestPermuteAll: any number of states, against one by one.
func TestPermuteAll(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 71 {
			states := make([]poseidon.State, n)
			for i := range states {
				states[i] = poseidon.State(goldilockstest.Elements(random, poseidon.Width))
			}
			want := slices.Clone(states)
			for i := range want {
				want[i].Permute()
			}
			poseidon.PermuteAll(states, k)
			golden.Equal(t, fmt.Sprintf("%d states", n), want, states)
		}
	})
}

// TestHashAll: pairs and leaves of every width, any number, against one by one.
func TestHashAll(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(3, 4))
		for _, n := range []int{0, 1, 3, 4, 7, 8, 9, 16, 19} {
			pairs := make([]poseidon.Digest, 2*n)
			for i := range pairs {
				pairs[i] = poseidon.Digest(goldilockstest.Elements(random, poseidon.DigestLen))
			}
			want := make([]poseidon.Digest, n)
			for i := range want {
				want[i] = poseidon.Compress(pairs[2*i], pairs[2*i+1])
			}
			got := make([]poseidon.Digest, n)
			poseidon.CompressAll(got, pairs, k)
			golden.Equal(t, fmt.Sprintf("%d pairs", n), want, got)
			if poseidon.CompressAll(pairs[:n], pairs, k); !slices.Equal(pairs[:n], want) {
				t.Fatalf("%d pairs in place:\n%s", n, cmp.Diff(want, pairs[:n]))
			}
			for width := range 26 {
				leaves := goldilockstest.Elements(random, n*width)
				for i := range want {
					want[i] = poseidon.LinearHash(leaves[i*width : (i+1)*width])
				}
				poseidon.LeavesAll(got, leaves, width, k)
				golden.Equal(t, fmt.Sprintf("%d leaves of %d", n, width), want, got)

				// The same leaves as columns, one of them longer than the leaves are many.
				columns := make([][]goldilocks.Element, width)
				for c := range columns {
					columns[c] = make([]goldilocks.Element, n+c%2)
					for i := range n {
						columns[c][i] = leaves[i*width+c]
					}
				}
				for i := range want {
					want[i] = poseidon.HashNoPad(leaves[i*width : (i+1)*width])
				}
				poseidon.ColumnsAll(got, columns, k)
				golden.Equal(t, fmt.Sprintf("%d leaves of %d columns", n, width), want, got)
			}
		}
	})
}

// TestHashAllLengths: other numbers than fit panic, in this package's words.
func TestHashAllLengths(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		compress := func(digests, pairs int) func() {
			return func() { poseidon.CompressAll(make([]poseidon.Digest, digests), make([]poseidon.Digest, pairs), k) }
		}
		leaves := func(digests, elements, width int) func() {
			return func() {
				poseidon.LeavesAll(make([]poseidon.Digest, digests), make([]goldilocks.Element, elements), width, k)
			}
		}
		for name, f := range map[string]func(){
			"compress, one pair too few":   compress(9, 17),
			"compress, one pair too many":  compress(9, 19),
			"compress, pairs of nothing":   compress(0, 2),
			"leaves, one element too few":  leaves(9, 44, 5),
			"leaves, one element too many": leaves(9, 46, 5),
			"leaves, a row too many":       leaves(9, 50, 5),
			"leaves of nothing":            leaves(0, 5, 5),
			"a column too short": func() {
				poseidon.ColumnsAll(make([]poseidon.Digest, 9), [][]goldilocks.Element{make([]goldilocks.Element, 9), make([]goldilocks.Element, 8)}, k)
			},
			"leaves of no width":       leaves(9, 9, 0),
			"leaves of negative width": leaves(9, 45, -5),
			"none of negative width":   leaves(0, 0, -5),
			// Eight times the width is 8 modulo the word.
			"leaves of a width that wraps": leaves(8, 8, math.MaxInt/4+2),
		} {
			func() {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "poseidon: ") {
						t.Errorf("%s: %s", name, text)
					}
				}()
				f()
			}()
		}
	})
}

// TestVectorsAll: the published permutations, in every lane of every kernel.
func TestVectorsAll(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		states := make([]poseidon.State, 11)
		vectors(t, "poseidon_goldilocks.txt", func(kind string, words []string) {
			switch kind {
			case "perm.in":
				for i := range states {
					states[i] = poseidon.State(elements(t, words))
				}
			case "perm.out":
				poseidon.PermuteAll(states, k)
				for i, s := range states {
					golden.Equal(t, fmt.Sprintf("state %d", i), poseidon.State(elements(t, words)), s)
				}
			}
		})
	})
}

func BenchmarkCompressAll(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		b.Run(fmt.Sprintf("kernel=%v", k), func(b *testing.B) {
			dst, pairs := make([]poseidon.Digest, 64), make([]poseidon.Digest, 128)
			for b.Loop() {
				poseidon.CompressAll(dst, pairs, k)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(dst)), "ns/permutation")
		})
	}
}
