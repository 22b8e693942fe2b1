package plonkish

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
)

// TestLoose: circuits of which inputs decide all have no loose cell, and a cell that nothing holds,
// or two that hold each other alone, are named.
func TestLoose(t *testing.T) {
	for _, test := range []struct {
		name   string
		system System
		rows   func(b *Builder) []Var
		want   []CellName
	}{
		{"sums", Plonk(), func(b *Builder) []Var { chain(b, 9, 2); return nil }, nil},
		{"an input", Plonk(), func(b *Builder) []Var {
			x := b.Var(element(3))
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{x, x, b.Var(element(9))})
			return []Var{x}
		}, nil},
		{"its root", Plonk(), func(b *Builder) []Var { // two, far from each other
			x := b.Var(element(3))
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{x, x, b.Public(element(9))})
			return nil
		}, nil},
		{"a product's factors", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{b.Var(element(2)), b.Var(element(3)), b.Public(element(6))})
			return nil
		}, []CellName{{1, "a"}}},
		{"an empty cell that is read", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic, element(0), element(1), element(1), element(-1)), []Var{b.Public(element(2)), 0, b.Var(element(2))})
			return nil
		}, []CellName{{1, "b"}}},
		{"what 0 times it is", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{b.Public(element(0)), b.Var(element(5)), b.Var(element(0))})
			return nil
		}, []CellName{{1, "b"}}},
		{"lookups", bitwise(1), func(b *Builder) []Var { looks(b, 6, 3); return nil }, nil},
		{"a challenge", shuffled(), func(b *Builder) []Var { shuffles(b, false); return nil }, []CellName{{3, "b"}, {7, "b"}, {8, "a"}, {8, "b"}, {9, "a"}}},
		{"a window", UltraPlonk(), func(b *Builder) []Var { windowed(b, []int64{1, 0, 3}); return nil }, []CellName{{2, "x"}, {2, "y"}}},
	} {
		b := NewBuilder(test.system)
		inputs := test.rows(b)
		golden.Equal(t, test.name, test.want, must.Get(must.Get(b.Build())(t).Loose(inputs...))(t))
	}
	b := NewBuilder(Plonk())
	b.Row(b.Kind(Arithmetic, element(0), element(1)), []Var{b.Var(element(1))})
	must.FailGet(must.Get(b.Build())(t).Loose())(t, zkbench.ErrWitness, "an unsatisfied circuit")
}
