package division

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestDivide: quotients and remainders are those of math/big, also where estimates are too large.
func TestDivide(t *testing.T) {
	limb := rapid.OneOf(rapid.SampledFrom([]uint64{0, 1, 1<<63 - 1, 1 << 63, 1<<63 + 1, ^uint64(0) - 1, ^uint64(0)}), rapid.Uint64())
	rapid.Check(t, func(t *rapid.T) {
		var u [8]uint64
		var v [4]uint64
		for i := range u {
			u[i] = limb.Draw(t, "u")
		}
		for i := range v {
			v[i] = limb.Draw(t, "v")
		}
		v[3] = max(v[3], 1)
		var q [5]uint64
		var r [4]uint64
		divide(&q, &r, &u, &v)
		wantQ, wantR := new(big.Int).QuoRem(integer(u[:]), integer(v[:]), new(big.Int))
		if integer(q[:]).Cmp(wantQ) != 0 || integer(r[:]).Cmp(wantR) != 0 {
			t.Fatalf("%x / %x: got %x, %x, want %x, %x", u, v, q, r, wantQ, wantR)
		}
	})
}

func integer(x []uint64) *big.Int {
	z := new(big.Int)
	for i := len(x) - 1; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(x[i]))
	}
	return z
}
