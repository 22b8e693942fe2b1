package goldilocks

import (
	"math/big"
	"testing"
)

// TestMultiplier: the words are what products by it take them for.
func TestMultiplier(t *testing.T) {
	t.Parallel()
	word := new(big.Int).Lsh(big.NewInt(1), 64)
	p := new(big.Int).SetUint64(Modulus)
	inverse := new(big.Int).ModInverse(p, word)
	for _, e := range []Element{0, 1, 2, 7, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, rootOfUnity, Modulus - 1<<32, Modulus - 2, Modulus - 1} {
		z := new(big.Int).Lsh(new(big.Int).SetUint64(uint64(e)), 64)
		z.Mod(z, p)
		q := new(big.Int).Mul(z, inverse)
		q.Mod(q, word)
		if want := (multiplier{z.Uint64(), q.Uint64()}); newMultiplier(e) != want {
			t.Errorf("%d: %v, want %v", e, newMultiplier(e), want)
		}
	}
}
