package goldilocks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	gnark "github.com/consensys/gnark-crypto/field/goldilocks"
	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
)

// TestMontgomery compares with gnark-crypto's own conversions, at every length, and goes
// there and back.
func TestMontgomery(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(15, 16))
		for n := range 71 {
			elements := goldilockstest.Elements(random, n)
			want := make([]gnark.Element, n)
			for i, e := range elements {
				want[i].SetUint64(uint64(e))
			}
			got := make([]gnark.Element, n)
			goldilocks.ToMontgomery(got, elements, k)
			if !slices.Equal(want, got) {
				t.Fatalf("to, of %d:\n%s", n, cmp.Diff(want, got))
			}
			back := make([]goldilocks.Element, n)
			goldilocks.FromMontgomery(back, got, k)
			golden.Equal(t, fmt.Sprintf("there and back, of %d", n), elements, back)
		}
	})
}

// TestFromMontgomery: of any words, those that gnark-crypto never has too.
func TestFromMontgomery(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(17, 18))
		var words []gnark.Element
		for _, x := range goldilockstest.Edges {
			words = append(words, gnark.Element{x})
		}
		for range 1001 {
			words = append(words, gnark.Element{goldilockstest.Word(random)})
		}
		got := make([]goldilocks.Element, len(words))
		goldilocks.FromMontgomery(got, words, k)
		for i, w := range words {
			reduced := gnark.Element{w[0] % goldilocks.Modulus}
			if uint64(got[i]) != reduced.Bits()[0] {
				t.Fatalf("%#x: %#x, want %#x", w[0], got[i], reduced.Bits()[0])
			}
		}
	})
}

func TestMontgomeryLengths(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(){
		"to":   func() { goldilocks.ToMontgomery(make([]gnark.Element, 4), make([]goldilocks.Element, 5)) },
		"from": func() { goldilocks.FromMontgomery(make([]goldilocks.Element, 5), make([]gnark.Element, 4)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: vectors of 4 and 5 elements are taken", name)
				}
			}()
			f()
		}()
	}
}

func BenchmarkMontgomery(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		for _, n := range []int{1024, 1 << 20} {
			ours := goldilockstest.Elements(rand.New(rand.NewPCG(19, 20)), n)
			theirs := make([]gnark.Element, n)
			for _, direction := range []struct {
				name string
				run  func()
			}{
				{"to", func() { goldilocks.ToMontgomery(theirs, ours, k) }},
				{"from", func() { goldilocks.FromMontgomery(ours, theirs, k) }},
			} {
				b.Run(fmt.Sprintf("direction=%s/kernel=%v/n=%d", direction.name, k, n), func(b *testing.B) {
					b.SetBytes(int64(8 * n))
					for b.Loop() {
						direction.run()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/element")
				})
			}
		}
	}
}
