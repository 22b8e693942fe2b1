package goldilocks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
)

func generate(n int, f func(i int) goldilocks.Element) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

// operation is an operation on two vectors.
type operation func(dst, a, b []goldilocks.Element, on ...goldilocks.Kernel)

// byKernel returns an operation that runs on kernel k.
func byKernel(k goldilocks.Kernel, op operation) func(dst, a, b []goldilocks.Element) {
	return func(dst, a, b []goldilocks.Element) { op(dst, a, b, k) }
}

// TestVectors: each operation equals that on elements, at every length, in place too.
func TestVectors(t *testing.T) {
	t.Parallel()
	type vector = []goldilocks.Element
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 71 {
			for range 8 {
				a, b, c := goldilockstest.Elements(random, n), goldilockstest.Elements(random, n), goldilockstest.Elements(random, n+1)
				check := func(what string, f func(dst, a, b vector), want func(i int) goldilocks.Element) {
					t.Helper()
					expected := generate(n, want)
					for _, place := range []string{"", "a", "b"} {
						x, y := slices.Clone(a), slices.Clone(b)
						dst := map[string]vector{"": slices.Clone(c[:n]), "a": x, "b": y}[place]
						if strings.HasPrefix(what, "mulAdd") && place != "" { // dst is an operand
							continue
						}
						f(dst, x, y)
						if !slices.Equal(expected, dst) { // a diff of equal ones takes long
							t.Fatalf("%s of %d, dst=%q:\n%s", what, n, place, cmp.Diff(expected, dst))
						}
					}
				}
				check("add", byKernel(k, goldilocks.Add), func(i int) goldilocks.Element { return a[i].Add(b[i]) })
				check("sub", byKernel(k, goldilocks.Sub), func(i int) goldilocks.Element { return a[i].Sub(b[i]) })
				check("mul", byKernel(k, goldilocks.Mul), func(i int) goldilocks.Element { return a[i].Mul(b[i]) })
				check("mulAdd", byKernel(k, goldilocks.MulAdd), func(i int) goldilocks.Element { return c[i].Add(a[i].Mul(b[i])) })
				check("xor", byKernel(k, goldilocks.Xor), func(i int) goldilocks.Element { return a[i].Add(b[i]).Sub(a[i].Mul(b[i]).Mul(2)) })
				check("andNot", byKernel(k, goldilocks.AndNot), func(i int) goldilocks.Element { return a[i].Mul(goldilocks.Element(1).Sub(b[i])) })
				check("square", func(dst, a, _ vector) { goldilocks.Square(dst, a, k) }, func(i int) goldilocks.Element { return a[i].Square() })
				check("neg", func(dst, a, _ vector) { goldilocks.Neg(dst, a, k) }, func(i int) goldilocks.Element { return a[i].Neg() })
				check("mulScalar", func(dst, a, _ vector) { goldilocks.MulScalar(dst, a, c[n], k) }, func(i int) goldilocks.Element { return a[i].Mul(c[n]) })
				check("mulAddScalar", func(dst, a, _ vector) { goldilocks.MulAddScalar(dst, a, c[n], k) }, func(i int) goldilocks.Element { return c[i].Add(a[i].Mul(c[n])) })
				check("batchInverse", func(dst, a, _ vector) { goldilocks.BatchInverse(dst, a, k) }, func(i int) goldilocks.Element { return a[i].Inverse() })
				var sum goldilocks.Element
				for i := range a {
					sum = sum.Add(a[i].Mul(b[i]))
				}
				if got := goldilocks.Dot(a, b, k); got != sum {
					t.Fatalf("dot of %d: %d, want %d", n, got, sum)
				}
			}
		}
	})
}

// TestPack: every number of vectors, the greatest elements among them.
func TestPack(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(3, 4))
		for count := 1; count <= goldilocks.MaxPack; count++ {
			for _, n := range []int{0, 1, 4, 8, 13, 16, 27} {
				a := make([][]goldilocks.Element, count)
				for j := range a {
					a[j] = goldilockstest.Elements(random, n)
					if count%2 == 0 {
						a[j] = generate(n, func(int) goldilocks.Element { return goldilocks.Modulus - 1 })
					}
				}
				dst := make([]goldilocks.Element, n)
				goldilocks.Pack(dst, a, k)
				want := generate(n, func(i int) (sum goldilocks.Element) {
					for j := range a {
						sum = sum.Add(a[j][i].Mul(1 << j))
					}
					return sum
				})
				if !slices.Equal(want, dst) {
					t.Fatalf("%d vectors of %d:\n%s", count, n, cmp.Diff(want, dst))
				}
			}
		}
		for _, count := range []int{0, goldilocks.MaxPack + 1} {
			func() {
				defer func() {
					if text := fmt.Sprint(recover()); !strings.Contains(text, "vectors to pack") {
						t.Errorf("%d vectors: %s", count, text)
					}
				}()
				goldilocks.Pack(nil, make([][]goldilocks.Element, count), k)
			}()
		}
	})
}

// TestButterflies: one layer and two, apart and in place, equal those of elements.
func TestButterflies(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(9, 10))
		for n := range 40 {
			for _, count := range []int{2, 4} {
				vectors := func(count int) (all [][]goldilocks.Element) {
					for range count {
						all = append(all, goldilockstest.Elements(random, n))
					}
					return all
				}
				src, w, dst := vectors(count), vectors(count-1), vectors(count)
				want := make([][]goldilocks.Element, count)
				for i := range want {
					want[i] = slices.Clone(src[i])
				}
				butterfly := func(low, high, factor int) {
					for i := range n {
						x, y := want[low][i], want[high][i].Mul(w[factor][i])
						want[low][i], want[high][i] = x.Add(y), x.Sub(y)
					}
				}
				butterfly(0, 1, 0)
				if count == 4 {
					butterfly(2, 3, 0)
					butterfly(0, 2, 1)
					butterfly(1, 3, 2)
				}
				goldilocks.Butterflies(dst, src, w, k)
				golden.Equal(t, fmt.Sprintf("%d vectors of %d", count, n), want, dst)
				goldilocks.Butterflies(src, src, w, k)
				golden.Equal(t, fmt.Sprintf("%d vectors of %d, in place", count, n), want, src)
			}
		}
	})
}

// TestAddProducts: sums of many vectors, the greatest elements among them, equal those of elements.
func TestAddProducts(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(11, 12))
		for _, count := range []int{0, 1, 2, 5, 1024, 1025, 2100} {
			for sums := 1; sums <= 4; sums++ {
				const n = 19
				a, dst := make([][]goldilocks.Element, count), make([][]goldilocks.Element, sums)
				c := goldilockstest.Elements(random, count*sums)
				for j := range a {
					a[j] = goldilockstest.Elements(random, n)
					if count%2 == 0 {
						a[j] = generate(n, func(int) goldilocks.Element { return goldilocks.Modulus - 1 })
					}
				}
				// The greatest digits of 22 bits, and the greatest of 52 bits.
				if most, ok := map[int]goldilocks.Element{1024: 1<<22 - 1 + (1<<22-1)<<22 + (1<<20-2)<<44, 2100: 1<<52 - 1 + (1<<12-2)<<52}[count]; ok {
					c = generate(len(c), func(int) goldilocks.Element { return most })
				}
				want := make([][]goldilocks.Element, sums)
				for i := range dst {
					dst[i] = goldilockstest.Elements(random, n)
					want[i] = generate(n, func(row int) goldilocks.Element {
						sum := dst[i][row]
						for j := range a {
							sum = sum.Add(a[j][row].Mul(c[j*sums+i]))
						}
						return sum
					})
				}
				goldilocks.AddProducts(dst, a, c, k)
				golden.Equal(t, fmt.Sprintf("%d vectors, %d sums", count, sums), want, dst)
			}
		}
	})
}

// TestBatchInverseLong: more than one block, zeros among them.
func TestBatchInverseLong(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1023, 1024, 1025, 3333} {
			a := goldilockstest.Elements(random, n)
			dst := make([]goldilocks.Element, n)
			goldilocks.BatchInverse(dst, a, k)
			for i := range a {
				if one := a[i].Mul(dst[i]); a[i] == 0 && dst[i] != 0 || a[i] != 0 && one != 1 {
					t.Fatalf("of %d, [%d]: %d, of %d", n, i, dst[i], a[i])
				}
			}
		}
	})
}

// TestLengthsThatDiffer: of each argument one element more or less panics, in this
// package's words.
func TestLengthsThatDiffer(t *testing.T) {
	t.Parallel()
	type vector = []goldilocks.Element
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		for _, op := range []struct {
			name    string
			vectors int
			run     func(v ...vector)
		}{
			{"add", 3, func(v ...vector) { goldilocks.Add(v[0], v[1], v[2], k) }},
			{"sub", 3, func(v ...vector) { goldilocks.Sub(v[0], v[1], v[2], k) }},
			{"mul", 3, func(v ...vector) { goldilocks.Mul(v[0], v[1], v[2], k) }},
			{"mulAdd", 3, func(v ...vector) { goldilocks.MulAdd(v[0], v[1], v[2], k) }},
			{"xor", 3, func(v ...vector) { goldilocks.Xor(v[0], v[1], v[2], k) }},
			{"andNot", 3, func(v ...vector) { goldilocks.AndNot(v[0], v[1], v[2], k) }},
			{"pack", 3, func(v ...vector) { goldilocks.Pack(v[0], v[1:], k) }},
			{"butterflies", 5, func(v ...vector) { goldilocks.Butterflies(v[:2], v[2:4], v[4:], k) }},
			{"addProducts", 3, func(v ...vector) { goldilocks.AddProducts(v[:1], v[1:], []goldilocks.Element{1, 2}, k) }},
			{"square", 2, func(v ...vector) { goldilocks.Square(v[0], v[1], k) }},
			{"neg", 2, func(v ...vector) { goldilocks.Neg(v[0], v[1], k) }},
			{"mulScalar", 2, func(v ...vector) { goldilocks.MulScalar(v[0], v[1], 3, k) }},
			{"mulAddScalar", 2, func(v ...vector) { goldilocks.MulAddScalar(v[0], v[1], 3, k) }},
			{"dot", 2, func(v ...vector) { goldilocks.Dot(v[0], v[1], k) }},
			{"batchInverse", 2, func(v ...vector) { goldilocks.BatchInverse(v[0], v[1], k) }},
		} {
			for which := range op.vectors {
				for _, length := range []int{8, 10} {
					v := slices.Repeat([]vector{make(vector, 9)}, op.vectors)
					v[which] = make(vector, length)
					func() {
						defer func() {
							if text := fmt.Sprint(recover()); !strings.HasPrefix(text, "goldilocks: vectors of") {
								t.Errorf("%s, argument %d of %d elements, the others of 9: %s", op.name, which, length, text)
							}
						}()
						op.run(v...)
					}()
				}
			}
		}
	})
}

// FuzzVectors holds each kernel equal to the portable one, on eight lanes of which one is
// the input.
func FuzzVectors(f *testing.F) {
	for _, a := range goldilockstest.Edges {
		f.Add(a, goldilockstest.Edges[len(goldilockstest.Edges)-1]-a, uint8(a))
	}
	f.Fuzz(func(t *testing.T, x, y uint64, at uint8) {
		run := func(k goldilocks.Kernel) (all [][]goldilocks.Element) {
			a, b := make([]goldilocks.Element, 8), make([]goldilocks.Element, 8)
			a[at%8], b[at%8] = goldilocks.Reduce(x), goldilocks.Reduce(y)
			for _, op := range []operation{goldilocks.Add, goldilocks.Sub, goldilocks.Mul, goldilocks.MulAdd, goldilocks.Xor, goldilocks.AndNot} {
				dst := slices.Clone(b)
				op(dst, a, b, k)
				all = append(all, dst)
			}
			return all
		}
		want := run(goldilocks.Portable())
		for _, k := range goldilocks.Kernels() {
			golden.Equal(t, fmt.Sprint(k), want, run(k))
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		for _, n := range []int{1024, 1 << 20} {
			random := rand.New(rand.NewPCG(7, 8))
			x, y, dst := goldilockstest.Elements(random, n), goldilockstest.Elements(random, n), goldilockstest.Elements(random, n)
			four := [][]goldilocks.Element{goldilockstest.Elements(random, n), goldilockstest.Elements(random, n), goldilockstest.Elements(random, n), dst}
			for _, op := range []struct {
				name string
				run  func()
			}{
				{"add", func() { goldilocks.Add(dst, x, y, k) }},
				{"sub", func() { goldilocks.Sub(dst, x, y, k) }},
				{"mul", func() { goldilocks.Mul(dst, x, y, k) }},
				{"mulAdd", func() { goldilocks.MulAdd(dst, x, y, k) }},
				{"mulAddScalar", func() { goldilocks.MulAddScalar(dst, x, y[0], k) }},
				{"xor", func() { goldilocks.Xor(dst, x, y, k) }},
				{"andNot", func() { goldilocks.AndNot(dst, x, y, k) }},
				{"pack2", func() { goldilocks.Pack(dst, [][]goldilocks.Element{x, y}, k) }},
				{"butterflies", func() { goldilocks.Butterflies(four, four, [][]goldilocks.Element{y, y, y}, k) }},
				{"addProducts", func() { goldilocks.AddProducts(four[:2], [][]goldilocks.Element{x, y}, y[:4], k) }},
				{"square", func() { goldilocks.Square(dst, x, k) }},
				{"dot", func() { goldilocks.Dot(x, y, k) }},
				{"batchInverse", func() { goldilocks.BatchInverse(dst, x, k) }},
			} {
				b.Run(fmt.Sprintf("op=%s/kernel=%v/n=%d", op.name, k, n), func(b *testing.B) {
					for b.Loop() {
						op.run()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
				})
			}
		}
	}
}
