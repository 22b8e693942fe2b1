package words

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// TestTables: tables are all numbers of their bits, and all pairs of them with the result. A row more would
// be a false statement that no honest witness shows.
func TestTables(t *testing.T) {
	want := make(map[string][][]fr.Element)
	row := func(name string, numbers ...uint64) {
		var r []fr.Element
		for _, n := range numbers {
			r = append(r, fr.NewElement(n))
		}
		want[name] = append(want[name], r)
	}
	for _, bits := range []uint64{5, 1} { // ranges of 11 bits by digits of 5
		for x := range uint64(1) << bits {
			row(fmt.Sprintf("%d bits", bits), x)
		}
	}
	for _, bits := range []uint64{2, 1} { // operations on half of a width of 5
		for x := range uint64(1) << bits {
			for y := range uint64(1) << bits {
				row(fmt.Sprintf("and of %d bits", bits), x, y, x&y)
				row(fmt.Sprintf("xor of %d bits", bits), x, y, x^y)
			}
		}
	}
	b := plonkish.NewBuilder(plonkish.UltraPlonk())
	w := must.Get(NewTables(b, 11, 5))(t)
	x := b.Public(fr.NewElement(77))
	w.Range(x)
	w.And(x, x)
	w.Xor(x, x)
	planttest.Tables(t, want, inside.Look(must.Get(b.Build())(t)))
}
