package words

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// TestConstraints: each line of the rows of words is held by a forgery.
func TestConstraints(t *testing.T) {
	var all []*inside.Circuit
	for _, f := range forms {
		for _, bits := range []int{12, 14} { // ranges alone, of numbers of digits that rows are not full of
			b := plonkish.NewBuilder(f.arith)
			inside.Sites(b)
			must.Get(f.begin(b, bits))(t).Range(b.Public(fr.NewElement(0x9a)))
			all = append(all, inside.Look(must.Get(b.Build())(t)))
		}
		for _, bits := range []int{8, 12} {
			for _, values := range [][2]uint64{{0x9a, 0x65}, {0x56, 0x6f}} {
				b := plonkish.NewBuilder(f.arith)
				inside.Sites(b)
				w := must.Get(f.begin(b, bits))(t)
				x, y := b.Public(fr.NewElement(values[0])), b.Public(fr.NewElement(values[1]))
				w.Range(x)
				for _, z := range []plonkish.Var{w.And(x, y), w.Xor(x, y)} {
					b.Equal(z, b.Public(b.Value(z)))
				}
				all = append(all, inside.Look(must.Get(b.Build())(t)))
			}
		}
	}
	planttest.Check(t, "plonkish/words", nil, all...)
}
