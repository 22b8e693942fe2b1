//go:build !purego

package goldilocks

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// nttEdges are words at which something carries, borrows or wraps.
var nttEdges = []uint64{
	0, 1, 2, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 3 << 32, 1 << 48, 1<<63 - 1, 1 << 63, 1<<63 + 1,
	Modulus - 1<<33, Modulus - 1<<32, Modulus - 2, Modulus - 1, Modulus, Modulus + 1, 1<<64 - 2, 1<<64 - 1,
}

func canonicalEdges() []uint64 {
	return slices.DeleteFunc(slices.Clone(nttEdges), func(w uint64) bool { return w >= Modulus })
}

// eachPasses runs a test with the passes of each kernel that has some.
func eachPasses(t *testing.T, f func(t *testing.T, p *passes)) {
	for _, k := range Kernels() {
		if p := map[string]*passes{sve: &svePasses, sve2: &sve2Passes}[k.name]; p != nil {
			t.Run(k.String(), func(t *testing.T) { f(t, p) })
		}
	}
}

// modulo returns x modulo p.
func modulo(x *big.Int) Element {
	return Element(x.Mod(x, new(big.Int).SetUint64(Modulus)).Uint64())
}

func bigWord(w Element) *big.Int { return new(big.Int).SetUint64(uint64(w)) }

// TestPair: the butterflies of two vectors are those of integers, of all pairs of edges, and
// where the second makes the product an edge.
func TestPair(t *testing.T) {
	t.Parallel()
	eachPasses(t, func(t *testing.T, p *passes) {
		for _, w := range canonicalEdges() {
			m := Element(w)
			prepared, inverse := newMultiplier(m), m.Inverse()
			for name, c := range map[string]struct {
				run   func(x, y *Element, n int, m *multiplier)
				words []uint64
				want  func(x, y, m *big.Int) (*big.Int, *big.Int)
				lazy  bool
			}{
				"butterflies": {p.to.pair, nttEdges, func(x, y, m *big.Int) (*big.Int, *big.Int) {
					y.Mul(y, m)
					return new(big.Int).Add(x, y), new(big.Int).Sub(x, y)
				}, true},
				"transposed": {p.from.pair, canonicalEdges(), func(x, y, m *big.Int) (*big.Int, *big.Int) {
					d := new(big.Int).Sub(x, y)
					return new(big.Int).Add(x, y), d.Mul(d, m)
				}, false},
			} {
				var x, y []Element
				for _, a := range c.words {
					for _, b := range c.words {
						x = append(x, Element(a), Element(a))
						y = append(y, Element(b), Reduce(b).Mul(inverse))
					}
				}
				sum, other := slices.Clone(x), slices.Clone(y)
				c.run(&sum[0], &other[0], len(x)-1, &prepared)
				last := len(x) - 1
				if sum[last] != x[last] || other[last] != y[last] {
					t.Fatalf("%s overwrites what stands behind its vectors", name)
				}
				for i := range last {
					if !c.lazy && !(sum[i].Canonical() && other[i].Canonical()) {
						t.Fatalf("%s of %d, %d by %d: %d, %d", name, x[i], y[i], m, sum[i], other[i])
					}
					wantSum, wantOther := c.want(bigWord(x[i]), bigWord(y[i]), bigWord(m))
					if Reduce(uint64(sum[i])) != modulo(wantSum) || Reduce(uint64(other[i])) != modulo(wantOther) {
						t.Fatalf("%s of %d, %d by %d: %d, %d", name, x[i], y[i], m, sum[i], other[i])
					}
				}
			}
		}
	})
}

// TestPasses: a pass of two strides is two portable ones, on edges and in every block.
func TestPasses(t *testing.T) {
	t.Parallel()
	d := must.Get(NewDomain(1 << 12))(t)
	multipliers := d.multipliers()
	eachPasses(t, func(t *testing.T, p *passes) {
		random := rand.New(rand.NewPCG(13, 14))
		for _, length := range []int{4, 16, 64, 1 << 8, 1 << 10} {
			for stride := 1; stride < length; stride *= 4 {
				for _, b := range []int{0, 1, d.n/length - 1} {
					for name, c := range map[string]struct {
						direction *direction
						words     []uint64
						canonical bool
						halves    []int
						portable  func(x, y []Element, z Element)
					}{
						"to":   {&p.to, nttEdges, stride == 1, []int{2 * stride, stride}, butterflies},
						"from": {&p.from, canonicalEdges(), true, []int{stride, 2 * stride}, transposed},
					} {
						const around = 32
						v := make([]Element, around+length+around)
						for i := range v {
							v[i] = Element(c.words[random.IntN(len(c.words))])
						}
						want := slices.Clone(v)
						c.direction.pass(multipliers, v[around:][:length], stride, b)
						for _, half := range c.halves {
							blocks := length / 2 / half
							for i, z := range d.roots[b*blocks:][:blocks] {
								y := want[around+2*half*i:][:2*half]
								c.portable(y[:half], y[half:], z)
							}
						}
						for i := range v {
							inside := around <= i && i < around+length
							if !inside && v[i] != want[i] || Reduce(uint64(v[i])) != Reduce(uint64(want[i])) || inside && c.canonical && !v[i].Canonical() {
								t.Fatalf("%s, stride %d of %d, block %d: element %d is %d, want %d", name, stride, length, b, i-around, v[i], want[i])
							}
						}
					}
				}
			}
		}
	})
}

// TestWideNTT: the kernels do all transforms themselves but those of one stride or none.
func TestWideNTT(t *testing.T) {
	t.Parallel()
	for _, k := range Kernels() {
		for n := 1; n <= 1<<13; n *= 2 {
			d := must.Get(NewDomain(n))(t)
			for _, from := range []Order{Natural, BitReversed} {
				want := k.name != portable && n >= 4
				golden.Equal(t, fmt.Sprintf("%v: %d elements", k, n), want, d.wideNTT(k, make([]Element, n), from))
			}
		}
	}
}
