package pedersen

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/plant"
)

// TestConstraints: each line of a hash's rows is held by a forgery. Hashes are of small numbers, and of some
// whose high half is the order's.
func TestConstraints(t *testing.T) {
	type hasher interface {
		hash(inputs [2]input) plonkish.Var
	}
	var all []*inside.Circuit
	for _, f := range []struct {
		system plonkish.System
		low    uint
		begin  func(b *plonkish.Builder) hasher
	}{
		{plonkish.UltraPlonk(), 126, func(b *plonkish.Builder) hasher { return must.Get(NewWindow(b, 7))(t) }},
		{plonkish.TurboPlonk(), lowBits, func(b *plonkish.Builder) hasher { return NewLadder(b) }},
		{plonkish.Plonk(), lowBits, func(b *plonkish.Builder) hasher { return NewPlain(b) }},
	} {
		for _, values := range [][2]fr.Element{{element(5), element(3)}, {element(7), edges(f.low)[4]}} {
			b := plonkish.NewBuilder(f.system)
			b.Sites(inside.Key{})
			h := f.begin(b)
			v := h.hash(inputs(b, b.Var(values[0]), b.Var(values[1])))
			b.Equal(v, b.Public(b.Value(v)))
			all = append(all, must.Get(b.Build())(t).Inside(inside.Key{}))
		}
	}
	plant.Check(t, "plonkish/pedersen", nil, all...)
}
