package integer

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRecode: the digits are in (-2^(c-1), 2^(c-1)] and give the scalar, for
// magnitudes at the limit and for digits around the carry.
func TestRecode(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for c := 2; c <= 12; c++ {
		for _, bits := range []int{126, 127, 128, 129, 254, 255, 256} {
			dst := make([]int16, Digits(bits, c))
			limit := new(big.Int).Lsh(big.NewInt(1), uint(bits))
			try := func(k *big.Int) {
				t.Helper()
				k.Mod(k, limit)
				kl := FromBig(k)
				Recode(dst, 1, &kl, c)
				apart := make([]int16, 3*len(dst))
				Recode(apart[1:], 3, &kl, c)
				for w := range dst {
					if apart[3*w+1] != dst[w] || apart[3*w] != 0 || apart[3*w+2] != 0 {
						t.Fatalf("c=%d bits=%d: digits of %x differ three apart", c, bits, k)
					}
				}
				sum := new(big.Int)
				for w := len(dst) - 1; w >= 0; w-- {
					if d := int(dst[w]); d > 1<<(c-1) || d <= -(1<<(c-1)) {
						t.Fatalf("c=%d bits=%d: digit %d", c, bits, d)
					}
					sum.Add(sum.Lsh(sum, uint(c)), big.NewInt(int64(dst[w])))
				}
				if sum.Cmp(k) != 0 {
					t.Fatalf("c=%d bits=%d: digits of %x give %x", c, bits, k, sum)
				}
			}
			for i := range 50 {
				try(new(big.Int).Sub(limit, big.NewInt(int64(i+1))))
				random, carries := new(big.Int), new(big.Int)
				for range 5 {
					random.Or(random.Lsh(random, 60), big.NewInt(rng.Int64N(1<<60)))
				}
				for range dst {
					carries.Or(carries.Lsh(carries, uint(c)), big.NewInt(int64(1<<(c-1)+rng.IntN(3)-1)))
				}
				try(random)
				try(carries)
			}
		}
	}
}
