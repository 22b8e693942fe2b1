package pedersen

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/srs"
)

// edges are elements at the edges of what windows and canonicity tell apart.
func edges(h *Window) []fr.Element {
	r, low := fr.Modulus(), uint(h.split*h.width)
	high := new(big.Int).Lsh(new(big.Int).Rsh(r, low), low)
	var all []fr.Element
	for _, v := range []*big.Int{big.NewInt(0), high, new(big.Int).Sub(r, big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), low)} {
		for d := int64(-1); d <= 1; d++ {
			var e fr.Element
			all = append(all, *e.SetBigInt(new(big.Int).Add(v, big.NewInt(d))))
		}
	}
	return all
}

// TestWindow: hashes are those of hash/pedersen, and of so many rows.
func TestWindow(t *testing.T) {
	for width, want := range map[int]int{4: 154, 7: 100, 9: 84, 13: 66} {
		if width > testsize.Pick(7, 9, 13) {
			continue
		}
		b := plonkish.NewBuilder(plonkish.UltraPlonk())
		h := must.Get(NewWindow(b, width))(t)
		all := edges(h)
		for i := range all {
			x, y := all[i], all[(i*5+1)%len(all)]
			before := b.Rows()
			got := h.Hash(b.Var(x), b.Var(y))
			if rows := b.Rows() - before; rows != want {
				t.Errorf("windows of %d bits: %d rows, want %d", width, rows, want)
			}
			if b.Value(got) != pedersen.Hash(&x, &y) {
				t.Errorf("windows of %d bits: hash of %s and %s", width, &x, &y)
			}
		}
		c := must.Get(b.Build())(t)
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, width := range []int{-1, 0, 1, 17} {
		must.FailGet(NewWindow(plonkish.NewBuilder(plonkish.UltraPlonk()), width))(t, zkbench.ErrParams, "windows of %d bits", width)
	}
}

// TestNotCanonical: the windows of an element's other integer, itself and the order, are refused.
func TestNotCanonical(t *testing.T) {
	limit := new(big.Int).Lsh(big.NewInt(1), pedersen.ScalarBits)
	for _, width := range []int{4, 7} {
		for i, e := range edges(must.Get(NewWindow(plonkish.NewBuilder(plonkish.UltraPlonk()), width))(t)) {
			for _, input := range []int{0, 1} {
				b := plonkish.NewBuilder(plonkish.UltraPlonk())
				h := must.Get(NewWindow(b, width))(t)
				integers := [2]*big.Int{big.NewInt(5), big.NewInt(7)}
				integers[input] = e.BigInt(new(big.Int))
				inputs := [2]plonkish.Var{b.Var(element(5)), b.Var(element(7))}
				inputs[input] = b.Var(e)
				honest := h.hash(inputs, integers)
				integers[input].Add(integers[input], fr.Modulus())
				if integers[input].Cmp(limit) >= 0 {
					continue
				}
				forged := h.hash(inputs, integers)
				if b.Value(honest) == b.Value(forged) {
					t.Fatal("both integers have one hash")
				}
				var unsatisfied *plonkish.UnsatisfiedError
				if err := must.Get(b.Build())(t).Check(); !errors.As(err, &unsatisfied) || unsatisfied.Term != "limbs" {
					t.Errorf("width %d, edge %d, input %d: %v", width, i, input, err)
				}
			}
		}
	}
}

// chain is a circuit of n hashes, each of the one before and a value of its own.
func chain(t testing.TB, width, n int) *plonkish.Circuit {
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	h := must.Get(NewWindow(b, width))(t)
	v := b.Var(element(1))
	for i := range n {
		other := element(int64(i))
		v = h.Hash(v, b.Var(*other.Inverse(ptr(element(int64(i + 3))))))
	}
	b.Equal(v, b.Public(b.Value(v)))
	return must.Get(b.Build())(t)
}

func ptr(e fr.Element) *fr.Element { return &e }

func TestProve(t *testing.T) {
	c := chain(t, 4, 3)
	s := must.Get(srs.Insecure(t.Context(), executor.Serial(), c.Size(), 1))(t)
	k := must.Get(plonkish.Setup(t.Context(), executor.Serial(), c, s))(t)
	proof := must.Get(k.Prove(t.Context(), executor.Serial(), c, plonkish.Options{}))(t)
	if err := k.Verify(proof, c.Public(), nil); err != nil {
		t.Error(err)
	}
}

// BenchmarkProve is of chains of 128 hashes.
func BenchmarkProve(b *testing.B) {
	for _, width := range []int{7} {
		b.Run(fmt.Sprintf("hashes=128/width=%d", width), func(b *testing.B) {
			c := chain(b, width, 128)
			s := must.Get(srs.Insecure(b.Context(), executor.Serial(), c.Size(), 1))(b)
			k := must.Get(plonkish.Setup(b.Context(), executor.Serial(), c, s))(b)
			b.ReportAllocs()
			for b.Loop() {
				must.Get(k.Prove(b.Context(), executor.Serial(), c, plonkish.Options{}))(b)
			}
			b.ReportMetric(float64(c.Size()), "rows")
			b.ReportMetric(float64(k.ProofLen()), "B/proof")
		})
	}
}
