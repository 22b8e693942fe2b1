package sve_test

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
	"github.com/zkbench/zkbench/internal/workload/sve"
)

var p = new(big.Int).SetUint64(goldilocks.Modulus)

func bigOf(e goldilocks.Element) *big.Int { return new(big.Int).SetUint64(uint64(e)) }

// operands returns random operands of f for n units.
func operands(random *rand.Rand, f sve.Function, n int) (dst, a, b []goldilocks.Element) {
	shared := n
	if f.Shared {
		shared = 1
	}
	dst, a, b = goldilockstest.Elements(random, n*f.Dst), goldilockstest.Elements(random, n*f.A), goldilockstest.Elements(random, shared*f.B)
	for i := range b {
		if f.Bytes {
			b[i] %= 256
		}
		if f.Words {
			a[i], b[i] = goldilocks.Element(goldilockstest.Word(random)), goldilocks.Element(goldilockstest.Word(random))
		}
	}
	return dst, a, b
}

// TestFunctions: each, by every kernel, against big.Int.
func TestFunctions(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(9, 10))
		for _, f := range sve.Functions(k) {
			for n := range 41 { // a register of 2,048 bits has 32 lanes
				dst, a, b := operands(random, f, n)
				beyond := slices.Repeat([]goldilocks.Element{goldilocks.Modulus}, 64)
				guarded := slices.Concat(dst, beyond)
				dst = guarded[:len(dst)]
				f.Run(dst, a, b)
				if !slices.Equal(guarded[len(dst):], beyond) {
					t.Fatalf("%s of %d writes beyond its result", f.Name, n)
				}
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
					case "mult_128", "mult_128_halves":
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

// TestFunctionsOfEdges: each, by every kernel, equals the portable one where all elements of
// an operand are one edge, so that sums are the largest and the smallest that there are.
func TestFunctionsOfEdges(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(13, 14))
		portable := sve.Functions(goldilocks.Portable())
		for _, f := range sve.Functions(k) {
			name := strings.TrimSuffix(f.Name, "_halves")
			same := portable[slices.IndexFunc(portable, func(f sve.Function) bool {
				return f.Name == name
			})]
			of := goldilocks.Reduce
			if f.Words {
				of = func(x uint64) goldilocks.Element { return goldilocks.Element(x) }
			}
			for _, x := range goldilockstest.Edges {
				for _, y := range goldilockstest.Edges {
					dst, a, b := operands(random, f, 9)
					one, other := of(x), of(y)
					if f.Bytes {
						other %= 256
					}
					a, b = slices.Repeat([]goldilocks.Element{one}, len(a)), slices.Repeat([]goldilocks.Element{other}, len(b))
					want := slices.Clone(dst)
					same.Run(want, a, b)
					f.Run(dst, a, b)
					if !slices.Equal(want, dst) {
						t.Fatalf("%s of %#x and %#x:\n%s", f.Name, x, y, cmp.Diff(want, dst))
					}
				}
			}
		}
	})
}

func TestFunctionLengths(t *testing.T) {
	t.Parallel()
	for _, f := range sve.Functions(goldilocks.Portable()) {
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
