//go:build !purego

package goldilocks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestPasses: what a pass makes is linear in what it takes, also where the number of 64
// bits that it reduces is next to where it would wrap. Such numbers are one in 10^12 of
// random ones: each output is chosen, and the pass is undone to find its input.
func TestPasses(t *testing.T) {
	t.Parallel()
	const digits, words = true, false
	const blocks = 64
	for _, k := range Kernels() {
		p := map[string]*passes{avx2: &avx2Passes, avx512: &avx512Passes}[k.name]
		if p == nil {
			continue
		}
		n := p.radix * p.radix
		d := must.Get(NewDomain(blocks * n))(t)
		twiddles := map[int]func() *tables{4: d.tables4, 8: d.tables8}[p.radix]()
		for name, pass := range map[string]struct {
			run     func(x *Element, block int)
			in, out bool
		}{
			"to/middle":   {func(x *Element, b int) { p.to.middle(x, p.radix, 1, p.row(twiddles, b)) }, digits, digits},
			"to/inner":    {func(x *Element, b int) { p.to.inner(x, 1, p.group(twiddles, b)) }, digits, words},
			"from/inner":  {func(x *Element, b int) { p.from.inner(x, 1, p.group(twiddles, b)) }, words, digits},
			"from/middle": {func(x *Element, b int) { p.from.middle(x, p.radix, 1, p.row(twiddles, b)) }, digits, digits},
		} {
			t.Run(fmt.Sprintf("%v/%s", k, name), func(t *testing.T) {
				for block := range blocks {
					apply := func(in []Element) []Element {
						x := make([]Element, n)
						for i, e := range in {
							if x[i] = e; pass.in == digits {
								x[i] = asDigits(e)
							}
						}
						pass.run(&x[0], block)
						for i, e := range x {
							if pass.out == digits {
								x[i] = ofDigits(e)
							}
						}
						return x
					}
					undo := inverted(columnsOfMap(apply, n))
					random := rand.New(rand.NewPCG(1, uint64(block)))
					for range 40 {
						want := make([]Element, n)
						for i := range want {
							want[i] = edge(random)
						}
						if got := apply(multiplied(undo, want)); fmt.Sprint(got) != fmt.Sprint(want) {
							for i := range got {
								if got[i] != want[i] {
									t.Fatalf("block %d: output %d is %#x, want %#x", block, i, got[i], want[i])
								}
							}
						}
					}
				}
			})
		}
	}
}

// edge returns an element whose word, possibly with the bias of signed digits, is next to where it
// overflows 64 bits.
func edge(random *rand.Rand) Element {
	e := Element(random.Uint64N(1 << 33))
	if random.IntN(4) == 0 {
		e = e.Neg()
	}
	if random.IntN(4) > 0 {
		e = e.Sub(1<<63 + 1<<31)
	}
	return e
}

func asDigits(e Element) Element { return Element(pack(digits(e))) }

func ofDigits(e Element) Element {
	return signed(int64(int32(e >> 32))).Mul(1 << 32).Add(signed(int64(int32(e))))
}

// columnsOfMap returns a linear map's values at the unit vectors.
func columnsOfMap(f func([]Element) []Element, n int) (m [][]Element) {
	for i := range n {
		unit := make([]Element, n)
		unit[i] = 1
		m = append(m, f(unit))
	}
	return m
}

// multiplied returns the sum of the columns m times x.
func multiplied(m [][]Element, x []Element) []Element {
	sum := make([]Element, len(x))
	for j, column := range m {
		for i, e := range column {
			sum[i] = sum[i].Add(e.Mul(x[j]))
		}
	}
	return sum
}

// inverted returns the inverse of a matrix, by Gauss and Jordan.
func inverted(m [][]Element) [][]Element {
	n := len(m)
	inverse := make([][]Element, n)
	for i := range inverse {
		inverse[i] = make([]Element, n)
		inverse[i][i] = 1
	}
	for i := range n {
		pivot := i
		for m[pivot][i] == 0 {
			pivot++
		}
		m[i], m[pivot] = m[pivot], m[i]
		inverse[i], inverse[pivot] = inverse[pivot], inverse[i]
		c := m[i][i].Inverse()
		for _, a := range [][][]Element{m, inverse} {
			for j := range n {
				a[i][j] = a[i][j].Mul(c)
			}
		}
		for row := range n {
			if f := m[row][i]; row != i && f != 0 {
				for _, a := range [][][]Element{m, inverse} {
					for j := range n {
						a[row][j] = a[row][j].Sub(f.Mul(a[i][j]))
					}
				}
			}
		}
	}
	return inverse
}
