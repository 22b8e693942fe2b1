package group_test

import (
	"context"
	"crypto/sha3"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/faulttest"
	"github.com/zkbench/zkbench/internal/testing/must"
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

// TestAccumulatorFailsClosed: a sum that could not be computed is an error and not zero,
// whichever of the two multiplications it was.
func TestAccumulatorFailsClosed(t *testing.T) {
	t.Parallel()
	basis := must.Get(group.NewBasis(group.BN254(), []group.Family{{Name: "g", Count: 2}}, smallTable))(t)
	one := fr.One()
	acc := group.NewAccumulator(basis, 0)
	var minus fr.Element
	minus.Neg(&one)
	acc.AddFixed(0, &one)
	acc.AddPoint(&basis.Points[0], &minus)
	var ok bool
	if err := faulttest.Each(t, executor.Serial(), func(ex executor.Executor) (err error) {
		if ok, err = acc.IsZero(context.Background(), ex); ok && err != nil {
			t.Errorf("zero, and %v", err)
		}
		return err
	}); err != nil || !ok {
		t.Errorf("%v, %v", ok, err)
	}
}
