package pedersen

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// TestTables: a window's table has for each digit e the point of 2e - (2^width - 1) times G_i/2 and what
// the window weighs, and the limbs' table has all limbs. A row more would be a false statement that no
// honest witness shows.
func TestTables(t *testing.T) {
	const width = 6 // so that the last window is a short one
	want := make(map[string][][]fr.Element)
	for i := range pedersen.Inputs {
		for j := range pedersen.Windows(width) {
			name := fmt.Sprintf("window %d of input %d", j, i)
			weight := new(big.Int).Lsh(big.NewInt(1), uint(j*width))
			for e := range int64(1) << min(width, pedersen.ScalarBits-j*width) {
				p := pedersen.Half(i)
				p.ScalarMultiplication(&p, new(big.Int).Mul(weight, big.NewInt(2*e-(1<<width-1))))
				want[name] = append(want[name], []fr.Element{element(e), fr.Element(p.X), fr.Element(p.Y)})
			}
		}
	}
	_, limbBits := halves(width)
	for n := range int64(1) << limbBits {
		want["limbs"] = append(want["limbs"], []fr.Element{element(n)})
	}
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	h := must.Get(NewWindow(b, width))(t)
	v := h.Hash(b.Var(element(5)), b.Var(element(3)))
	b.Equal(v, b.Public(b.Value(v)))
	planttest.Tables(t, want, inside.Look(must.Get(b.Build())(t)))
}
