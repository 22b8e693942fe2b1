package koalabear_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	gnark "github.com/consensys/gnark-crypto/field/koalabear"
	"github.com/consensys/gnark-crypto/field/koalabear/fft"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// TestTransform compares transforms with gnark-crypto's, on random elements and on the largest one.
func TestTransform(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for log := range 18 {
		n := 1 << log
		root := koalabear.Element(must.Get(gnark.Generator(uint64(n)))(t))
		mine, theirs := koalabear.NewTransform(log, root), fft.NewDomain(uint64(n))
		if mine == nil { // there are no kernels, or n is small
			continue
		}
		for _, element := range []func() koalabear.Element{
			func() koalabear.Element { return koalabear.New(random.Uint64()) },
			func() koalabear.Element { return koalabear.Element{koalabear.Modulus - 1} },
		} {
			a := make([]koalabear.Element, n)
			for i := range a {
				a[i] = element()
			}
			check := func(what string, got, want []koalabear.Element) {
				t.Helper()
				for i := range want {
					if got[i] != want[i] {
						t.Fatalf("%s of 2^%d elements: element %d is %v, want %v", what, log, i, got[i], want[i])
					}
				}
			}
			got, want := slices.Clone(a), slices.Clone(a)
			mine.Evaluate(got)
			theirs.FFT(koalabear.Vector(want), fft.DIT, fft.WithNbTasks(1))
			check("values", got, want)
			got, want = slices.Clone(a), slices.Clone(a)
			mine.Interpolate(got)
			theirs.FFTInverse(koalabear.Vector(want), fft.DIF, fft.WithNbTasks(1))
			check("coefficients", got, want)
		}
	}
}
