package group_test

import (
	"crypto/sha3"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/group"
)

// TestScalarsAreDrawnFromAllBytes: weights and nonces are WideLen bytes each of the stream,
// one after the other, reduced: fewer bytes would give weights that can be guessed and nonces
// that a lattice finds.
func TestScalarsAreDrawnFromAllBytes(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	stream := func() *sha3.SHAKE {
		x := sha3.NewSHAKE256()
		_, _ = x.Write([]byte("weights"))
		return x
	}
	drawn := make([]fr.Element, 5)
	group.RandomScalars(g, drawn, stream())
	weights, raw := group.NewWeights(g, stream()), stream()
	for i := range drawn {
		var wide [group.WideLen]byte
		_, _ = raw.Read(wide[:])
		want := new(big.Int).SetBytes(wide[:])
		want.Mod(want, g.Order())
		w := weights.Next()
		for name, got := range map[string]*fr.Element{"weight": &w, "scalar": &drawn[i]} {
			if got.BigInt(new(big.Int)).Cmp(want) != 0 {
				t.Errorf("%s %d is %v, want %v", name, i, got, want)
			}
		}
	}
}
