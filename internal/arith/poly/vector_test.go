package poly

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/polynomial"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// eachLength runs a test for all forms and lengths at and around what is done at once.
func eachLength(t *testing.T, test func(t *testing.T, f *Form, e, x []fr.Element)) {
	t.Helper()
	for _, f := range forms() {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			rng := source()
			for _, n := range []int{0, 1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 512, 1000, 5000} {
				test(t, f, random(rng, n), random(rng, n))
			}
		})
	}
}

// TestVectors: what vectors do is what gnark-crypto's do.
func TestVectors(t *testing.T) {
	t.Parallel()
	eachLength(t, func(t *testing.T, f *Form, e, x []fr.Element) {
		n := len(e)
		v, w, want := f.FromElements(e), f.FromElements(x), make(fr.Vector, n)
		check := func(name string) {
			t.Helper()
			golden.Equal(t, name, []fr.Element(want), v.Elements())
		}
		copy(want, e)
		check("elements")
		want.Mul(want, x)
		v.Mul(v, w)
		check("product")
		want.Add(want, x)
		v.Add(v, w)
		check("sum")
		want.Sub(x, want)
		v.Sub(w, v)
		check("difference")
		if n%8 == 0 {
			memory := v.Memory()
			golden.Equal(t, "bytes", f.Bytes(n), len(memory))
			golden.Equal(t, "in memory", v.Elements(), f.FromMemory(memory, n).Elements())
		}
		c := fr.NewElement(1 << 40)
		want.ScalarMul(want, &c)
		v.Scale(&c)
		check("multiple")
		if n&(n-1) == 0 && n > 0 {
			var total fr.Element
			for i := range want {
				total.Add(&total, &want[i])
			}
			golden.Equal(t, "sum of all", total, f.FromElements(want).Sum())
		}
		golden.Equal(t, "inner product", want.InnerProduct(x), v.InnerProduct(w))
		p := polynomial.Polynomial(want)
		value := fr.Element{}
		if n > 0 {
			value = p.Eval(&c)
		}
		golden.Equal(t, "value", value, v.Evaluate(&c))
		copy(want, fr.BatchInvert(want))
		v.Invert(v.NewLike(v.Len()))
		check("inverses")
		for i := range want {
			want[i].SetUint64(uint64(3 + i))
		}
		v.Set(want)
		copy(want, fr.BatchInvert(want))
		v.Invert(v.NewLike(v.Len()))
		check("inverses of no zero")
		for i := range want[min(1, n):] {
			want[i+1].Mul(&want[i+1], &want[i])
		}
		v.RunningProducts(v.NewLike(v.Len()))
		check("running products")
		for i := range want {
			want[i].Exp(c, big.NewInt(int64(i))).Mul(&want[i], &c)
		}
		v.SetPowers(&c, &c)
		check("powers")
		v.Copy(w)
		copy(want, x)
		check("copy")
		if n&(n-1) == 0 && n > 0 {
			utils.BitReverse(want)
			v.BitReverse()
			check("bit reversal")
		}
		if n > 8 {
			golden.Equal(t, "slice", v.Elements()[8:n-1], v.Slice(8, n-1).Elements())
		}
	})
}

// BenchmarkVectors is what a prover does with vectors of 2^16, in a second cache that they do
// not fit.
func BenchmarkVectors(b *testing.B) {
	const n = 1 << 16
	for _, f := range Forms() {
		e := random(source(), n)
		for i := range e {
			e[i].SetUint64(uint64(i + 3))
		}
		v, w := f.FromElements(e), f.FromElements(e)
		c := fr.NewElement(5)
		for _, op := range []struct {
			name string
			do   func()
		}{
			{"set", func() { v.Set(e) }},
			{"get", func() { v.Get(e) }},
			{"add", func() { v.Add(v, w) }},
			{"mul", func() { v.Mul(v, w) }},
			{"scale", func() { v.Scale(&c) }},
			{"inner product", func() { v.InnerProduct(w) }},
			{"evaluate", func() { v.Evaluate(&c) }},
			{"powers", func() { v.SetPowers(&c, &c) }},
			{"invert", func() { v.Invert(v.NewLike(v.Len())) }},
			{"running products", func() { v.RunningProducts(v.NewLike(v.Len())) }},
			{"bit reverse", func() { v.BitReverse() }},
		} {
			b.Run("kernel="+f.String()+"/"+op.name, func(b *testing.B) {
				for b.Loop() {
					op.do()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/each")
			})
		}
	}
}
