package goldilocks_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/goldilocks"
)

// eachKernel runs the test on each kernel that there may be.
func eachKernel(t *testing.T, test func(t *testing.T, k goldilocks.Kernel)) {
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

// mixture is n elements, half of them edges.
func mixture(random *rand.Rand, n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(lazy(random))
	}
	return all
}

func lazy(random *rand.Rand) uint64 {
	if random.IntN(2) == 0 {
		return edges[random.IntN(len(edges))]
	}
	return random.Uint64()
}

func each(n int, f func(i int) goldilocks.Element) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = f(i)
	}
	return all
}

// TestVectors: each operation equals that on elements, at every length, in place too.
func TestVectors(t *testing.T) {
	type vector = []goldilocks.Element
	eachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(1, 2))
		for n := range 71 {
			for range 8 {
				a, b, c := mixture(random, n), mixture(random, n), mixture(random, n+1)
				check := func(what string, f func(dst, a, b vector), want func(i int) goldilocks.Element) {
					t.Helper()
					expected := each(n, want)
					for _, place := range []string{"", "a", "b"} {
						x, y := slices.Clone(a), slices.Clone(b)
						dst := map[string]vector{"": slices.Clone(c[:n]), "a": x, "b": y}[place]
						if what == "mulAdd" && place != "" {
							continue
						}
						f(dst, x, y)
						if !slices.Equal(expected, dst) { // a diff of equal ones takes long
							t.Fatalf("%s of %d, dst=%q:\n%s", what, n, place, cmp.Diff(expected, dst))
						}
					}
				}
				check("add", k.Add, func(i int) goldilocks.Element { return a[i].Add(b[i]) })
				check("sub", k.Sub, func(i int) goldilocks.Element { return a[i].Sub(b[i]) })
				check("mul", k.Mul, func(i int) goldilocks.Element { return a[i].Mul(b[i]) })
				check("mulAdd", k.MulAdd, func(i int) goldilocks.Element { return c[i].Add(a[i].Mul(b[i])) })
				check("square", func(dst, a, _ vector) { k.Square(dst, a) }, func(i int) goldilocks.Element { return a[i].Square() })
				check("neg", func(dst, a, _ vector) { k.Neg(dst, a) }, func(i int) goldilocks.Element { return a[i].Neg() })
				check("mulScalar", func(dst, a, _ vector) { k.MulScalar(dst, a, c[n]) }, func(i int) goldilocks.Element { return a[i].Mul(c[n]) })
				check("batchInverse", func(dst, a, _ vector) { k.BatchInverse(dst, a) }, func(i int) goldilocks.Element { return a[i].Inverse() })
				var sum goldilocks.Element
				for i := range a {
					sum = sum.Add(a[i].Mul(b[i]))
				}
				if got := k.Dot(a, b); got != sum {
					t.Fatalf("dot of %d: %d, want %d", n, got, sum)
				}
			}
		}
	})
}

// TestReduce128: of any words, against big.Int.
func TestReduce128(t *testing.T) {
	eachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(3, 4))
		var hi, lo []uint64
		for _, h := range edges {
			for _, l := range edges {
				hi, lo = append(hi, h), append(lo, l)
			}
		}
		for range 1001 {
			hi, lo = append(hi, lazy(random)), append(lo, lazy(random))
		}
		got := make([]goldilocks.Element, len(hi))
		k.Reduce128(got, hi, lo)
		for i := range got {
			want := new(big.Int).SetUint64(hi[i])
			want.Lsh(want, 64).Add(want, new(big.Int).SetUint64(lo[i])).Mod(want, p)
			if bigOf(got[i]).Cmp(want) != 0 {
				t.Fatalf("%#x, %#x: %#x, want %#x", hi[i], lo[i], got[i], want)
			}
		}
	})
}

// TestBatchInverseLong: more than one block, zeros among them.
func TestBatchInverseLong(t *testing.T) {
	eachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(5, 6))
		for _, n := range []int{1023, 1024, 1025, 3333} {
			a := mixture(random, n)
			dst := make([]goldilocks.Element, n)
			k.BatchInverse(dst, a)
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
	type vector = []goldilocks.Element
	words := func(v vector) []uint64 { return make([]uint64, len(v)) }
	eachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		for _, op := range []struct {
			name    string
			vectors int
			run     func(v ...vector)
		}{
			{"add", 3, func(v ...vector) { k.Add(v[0], v[1], v[2]) }},
			{"sub", 3, func(v ...vector) { k.Sub(v[0], v[1], v[2]) }},
			{"mul", 3, func(v ...vector) { k.Mul(v[0], v[1], v[2]) }},
			{"mulAdd", 3, func(v ...vector) { k.MulAdd(v[0], v[1], v[2]) }},
			{"square", 2, func(v ...vector) { k.Square(v[0], v[1]) }},
			{"neg", 2, func(v ...vector) { k.Neg(v[0], v[1]) }},
			{"mulScalar", 2, func(v ...vector) { k.MulScalar(v[0], v[1], 3) }},
			{"reduce128", 3, func(v ...vector) { k.Reduce128(v[0], words(v[1]), words(v[2])) }},
			{"dot", 2, func(v ...vector) { k.Dot(v[0], v[1]) }},
			{"batchInverse", 2, func(v ...vector) { k.BatchInverse(v[0], v[1]) }},
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
	for _, a := range edges {
		f.Add(a, edges[len(edges)-1]-a, uint8(a))
	}
	f.Fuzz(func(t *testing.T, x, y uint64, at uint8) {
		run := func(k goldilocks.Kernel) (all [][]goldilocks.Element) {
			a, b := make([]goldilocks.Element, 8), make([]goldilocks.Element, 8)
			hi, lo := make([]uint64, 8), make([]uint64, 8)
			a[at%8], b[at%8], hi[at%8], lo[at%8] = goldilocks.Reduce(x), goldilocks.Reduce(y), x, y
			for _, op := range []func(dst, a, b []goldilocks.Element){k.Add, k.Sub, k.Mul, k.MulAdd} {
				dst := slices.Clone(b)
				op(dst, a, b)
				all = append(all, dst)
			}
			dst := slices.Clone(b)
			k.Reduce128(dst, hi, lo)
			return append(all, dst)
		}
		want := run(goldilocks.Portable())
		for _, k := range goldilocks.Kernels() {
			if d := cmp.Diff(want, run(k)); d != "" {
				t.Errorf("%v:\n%s", k, d)
			}
		}
	})
}

func BenchmarkVectors(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		for _, n := range []int{1024, 1 << 20} {
			random := rand.New(rand.NewPCG(7, 8))
			x, y, dst := mixture(random, n), mixture(random, n), mixture(random, n)
			for _, op := range []struct {
				name string
				run  func()
			}{
				{"add", func() { k.Add(dst, x, y) }},
				{"sub", func() { k.Sub(dst, x, y) }},
				{"mul", func() { k.Mul(dst, x, y) }},
				{"mulAdd", func() { k.MulAdd(dst, x, y) }},
				{"square", func() { k.Square(dst, x) }},
				{"dot", func() { k.Dot(x, y) }},
				{"batchInverse", func() { k.BatchInverse(dst, x) }},
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
