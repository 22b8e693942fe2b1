package pedersen

import (
	"fmt"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// TestConstraints: each line of a hash's rows is held by a forgery, for each input. Hashes are of numbers
// whose bits v has too, so that a flag too many takes them out of v without a borrow, and of some whose high
// half is the order's.
func TestConstraints(t *testing.T) {
	testsize.Full(t)
	var all []*inside.Circuit
	for _, f := range []struct {
		arith plonkish.Arithmetization
		low   uint
		begin func(b *plonkish.Builder) hasher
		parts []int // of the circuit's last rows: each has so many of the first input, and then of the second
	}{
		{plonkish.UltraPlonk(), 126, func(b *plonkish.Builder) hasher { return must.Get(NewWindow(b, 7))(t) }, []int{pedersen.Windows(7), limbs + 1}},
		{plonkish.TurboPlonk(), lowBits, func(b *plonkish.Builder) hasher { return NewLadder(b) }, []int{LadderRows / pedersen.Inputs}},
		{plonkish.Plonk(), lowBits, func(b *plonkish.Builder) hasher { return NewPlain(b) }, []int{PlainRows / pedersen.Inputs}},
	} {
		for _, values := range [][2]fr.Element{{element(4), element(12)}, {element(7), edges(f.low)[4]}, {edges(f.low)[4], element(7)}} {
			b := plonkish.NewBuilder(f.arith)
			inside.Sites(b)
			h := f.begin(b)
			v := h.hash(inputs(b, b.Var(values[0]), b.Var(values[1])))
			b.Equal(v, b.Public(b.Value(v)))
			c := inside.Look(must.Get(b.Build())(t))
			end := len(c.Unknown) / c.Columns
			for _, rows := range slices.Backward(f.parts) {
				begin := end - pedersen.Inputs*rows
				c.Label(func(row int) string {
					if row < begin || row >= end {
						return ""
					}
					return fmt.Sprintf("input %d: ", (row-begin)/rows)
				})
				end = begin
			}
			all = append(all, c)
		}
	}
	planttest.Check(t, "plonkish/pedersen", nil, all...)
}
