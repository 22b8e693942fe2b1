package plonkish

import (
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// TestConstraints: each term of the package's gates is held by a forgery, and so are a lookup, wires and
// public values.
func TestConstraints(t *testing.T) {
	var all []*inside.Circuit
	add := func(a Arithmetization, rows func(b *Builder)) {
		b := NewBuilder(a)
		rows(b)
		all = append(all, must.Get(b.Build())(t).inside())
	}
	turbo := turbos(rand.New(rand.NewPCG(5, 6)), 8)
	for _, g := range TurboPlonk().Gates {
		add(TurboPlonk(), turbo[g.Name])
	}
	add(Plonk(), func(b *Builder) { chain(b, 9, 2) })
	add(UltraPlonk(), func(b *Builder) { windowed(b, []int64{1, 0, 3, 3, 2}) })
	add(UltraPlonk(), func(b *Builder) {
		b.Row(b.Kind(Arithmetic5(), element(1), element(1), element(1), element(1), element(1), element(1), element(-24)),
			[]Var{b.Public(element(1)), b.Public(element(2)), b.Public(element(3)), b.Public(element(4))}, element(8))
	})
	planttest.Check(t, "plonkish", nil, all...)
}
