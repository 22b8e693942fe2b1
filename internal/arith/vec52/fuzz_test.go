package vec52

import (
	"encoding/binary"
	"math/big"
	"slices"
	"testing"
)

// elements are blocks of elements below tenths of p, cut from data as limbs, again and again.
func (f *Field) elements(data []byte, blocks int, tenths int64) []uint64 {
	if len(data) == 0 {
		data = []byte{0}
	}
	at := 0
	limb := func() uint64 {
		var b [8]byte
		for i := range b {
			b[i] = data[at%len(data)]
			at++
		}
		return binary.LittleEndian.Uint64(b[:]) & low52
	}
	bound := f.times(tenths)
	v := aligned(blocks * f.Block())
	for i := range blocks {
		for k := range Width {
			e := new(big.Int)
			for range f.limbs {
				e.Lsh(e, radix).Or(e, new(big.Int).SetUint64(limb()))
			}
			if e.Cmp(bound) >= 0 {
				e.Mod(e, bound)
			}
			f.put(v[i*f.Block():], k, e)
		}
	}
	return v
}

// FuzzKernels: of whatever elements below their bounds kernels make limb by limb what Go of the
// same radix does, and products are those of big.Int.
func FuzzKernels(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		kernels := Kernels()
		for _, field := range fields {
			wide, twin := New(field.p, field.b, kernels[len(kernels)-1]), New(field.p, field.b, Portable)
			same := func(name string, do func(f *Field) []uint64) {
				t.Helper()
				if !slices.Equal(do(wide), do(twin)) {
					t.Fatalf("%s, %s: not what its twin makes", field.name, name)
				}
			}
			vector := func(blocks int, tenths int64) []uint64 { return wide.elements(data, blocks, tenths) }
			x, y := vector(2, 40), vector(3, 80)[wide.Block():]
			same("product", func(f *Field) []uint64 {
				z := aligned(len(x))
				f.Mul(z, x, y)
				return z
			})
			same("square", func(f *Field) []uint64 {
				z := aligned(len(x))
				f.Square(z, x)
				return z
			})
			z := aligned(len(x))
			wide.Mul(z, x, y)
			inverse := new(big.Int).ModInverse(wide.Represent(big.NewInt(1)), wide.p)
			for k := range Width {
				want := new(big.Int).Mul(wide.get(x, k), wide.get(y, k))
				want.Mul(want, inverse).Mod(want, wide.p)
				if got := wide.get(z, k); got.Cmp(wide.times(20)) >= 0 || got.Mod(got, wide.p).Cmp(want) != 0 {
					t.Fatalf("%s: a product is wrong", field.name)
				}
			}
			same("addition", func(f *Field) []uint64 {
				points := vector(8, 11)
				pairs := []Pair{{A: 0, B: 1, Sum: 0}, {A: 2, B: 3, Sum: 2, Idle: 0x5a}}
				var a Adder
				f.Add(&a, Chord, points, pairs, func([]uint64) {}) // any number will do for both
				return points
			})
			same("doubling", func(f *Field) []uint64 {
				points := vector(8, 11)
				var a Adder
				f.Add(&a, Tangent, points, []Pair{{A: 0, B: 0, Sum: 0}, {A: 1, B: 1, Sum: 1, Idle: 1}}, func([]uint64) {})
				return points
			})
			same("complete addition", func(f *Field) []uint64 {
				sums := vector(3, 11)
				f.AddProjective(sums, vector(6, 11)[f.ProjectiveWords():])
				f.Double(sums, 1)
				return sums
			})
			if wide.limbs != 5 || new(big.Int).Mul(wide.p, big.NewInt(84)).BitLen() > 5*radix {
				continue
			}
			roots := vector(7, 11)
			for _, d := range []Direction{ToReversed, FromReversed} {
				bound := map[Direction]int64{ToReversed: 620, FromReversed: 20}[d]
				same("two levels", func(f *Field) []uint64 {
					v := vector(8, bound)
					f.Four(d, v, 2, 2, 1, roots)
					return v
				})
				same("three levels", func(f *Field) []uint64 {
					v := vector(8, bound)
					f.Eight(d, v, roots)
					return v
				})
			}
			same("sums and differences", func(f *Field) []uint64 {
				a, b, z := vector(2, 20), vector(3, 20)[f.Block():], aligned(2*f.Block())
				f.AddVectors(z, a, b)
				f.SubVectors(a, a, b)
				return append(z, a...)
			})
		}
	})
}
