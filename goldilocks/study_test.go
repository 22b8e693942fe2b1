package goldilocks_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
)

// operands are those of n units.
func operands(random *rand.Rand, f goldilocks.Function, n int) (dst, a, b []goldilocks.Element) {
	shared := n
	if f.Shared {
		shared = 1
	}
	dst, a, b = mixture(random, n*f.Dst), mixture(random, n*f.A), mixture(random, shared*f.B)
	for i := range b {
		if f.Bytes {
			b[i] %= 256
		}
		if f.Words {
			a[i], b[i] = goldilocks.Element(lazy(random)), goldilocks.Element(lazy(random))
		}
	}
	return dst, a, b
}

// TestFunctions: each, by every kernel, against big.Int.
func TestFunctions(t *testing.T) {
	eachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(9, 10))
		for _, f := range k.Functions() {
			for n := range 20 {
				dst, a, b := operands(random, f, n)
				f.Run(dst, a, b)
				sum := func(terms ...int) *big.Int { // of a[i] b[j]
					s := new(big.Int)
					for at := 0; at < len(terms); at += 2 {
						s.Add(s, new(big.Int).Mul(bigOf(a[terms[at]]), bigOf(b[terms[at+1]])))
					}
					return s
				}
				for i := range dst {
					state, lane := i/4*12, i%4
					want := new(big.Int)
					switch f.Name {
					case "add":
						want.Add(bigOf(a[i]), bigOf(b[i]))
					case "sub":
						want.Sub(bigOf(a[i]), bigOf(b[i]))
					case "reduce_128_64":
						want.Lsh(bigOf(a[i]), 64).Add(want, bigOf(b[i]))
					case "square":
						want.Mul(bigOf(a[i]), bigOf(a[i]))
					case "mult_72":
						want = sum(i, i)
					case "spmv_4x12", "spmv_4x12_8":
						want = sum(state+lane, lane, state+4+lane, 4+lane, state+8+lane, 8+lane)
					case "mmult_4x12", "mmult_4x12_8":
						for j := range 12 {
							want.Add(want, sum(state+j, 12*lane+j))
						}
					case "mult_128":
						if i < n {
							want.Rsh(sum(i, i), 64)
						} else {
							want.And(sum(i-n, i-n), new(big.Int).SetUint64(1<<64-1))
						}
						if bigOf(dst[i]).Cmp(want) != 0 {
							t.Fatalf("%s of %d, [%d]: %#x, want %#x", f.Name, n, i, dst[i], want)
						}
						continue
					default:
						t.Fatal(f.Name)
					}
					if bigOf(dst[i]).Cmp(want.Mod(want, p)) != 0 {
						t.Fatalf("%s of %d, [%d]: %#x, want %#x", f.Name, n, i, dst[i], want)
					}
				}
			}
		}
	})
}

func TestFunctionLengths(t *testing.T) {
	for _, f := range goldilocks.Portable.Functions() {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: lengths that do not fit are taken", f.Name)
				}
			}()
			f.Run(make([]goldilocks.Element, 8), make([]goldilocks.Element, 7), make([]goldilocks.Element, 9))
		}()
	}
}

func BenchmarkFunctions(b *testing.B) {
	const units = 512
	for _, k := range goldilocks.Kernels() {
		for _, f := range k.Functions() {
			b.Run(fmt.Sprintf("function=%s/kernel=%v", f.Name, k), func(b *testing.B) {
				dst, x, y := operands(rand.New(rand.NewPCG(11, 12)), f, units)
				for b.Loop() {
					f.Run(dst, x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(units), "ns/unit")
			})
		}
	}
}
