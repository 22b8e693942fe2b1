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
		golden.Equal(t, test.name, test.want, must.Get(must.Get(b.Build())(t).Loose(append(inputs, 0)...))(t))
	}
	b := NewBuilder(Plonk())
	b.Row(b.Kind(Arithmetic, element(0), element(1)), []Var{b.Var(element(1))})
	must.FailGet(must.Get(b.Build())(t).Loose())(t, zkbench.ErrWitness, "an unsatisfied circuit")
}

// TestReadOnce: a cell that something computes and nothing takes up is named, and none that is
// public or known, or that a table alone decides.
func TestReadOnce(t *testing.T) {
	for _, test := range []struct {
		name   string
		system System
		rows   func(b *Builder) []Var
		want   []CellName
	}{
		{"sums", Plonk(), func(b *Builder) []Var { chain(b, 9, 2); return nil }, nil},
		{"a result that goes nowhere", Plonk(), func(b *Builder) []Var {
			x := b.Public(element(3))
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{x, x, b.Var(element(9))})
			return nil
		}, []CellName{{1, "c"}}},
		{"one that is asked for", Plonk(), func(b *Builder) []Var {
			x, y := b.Var(element(3)), b.Var(element(9))
			b.Row(b.Kind(Arithmetic, element(1), element(0), element(0), element(-1)), []Var{x, x, y})
			return []Var{y}
		}, []CellName{{0, "a"}}},
		{"an empty cell that is read", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic, element(0), element(1), element(1), element(-1)), []Var{b.Public(element(2)), 0, b.Public(element(2))})
			return []Var{0}
		}, []CellName{{2, "b"}}},
		{"a lookup", bitwise(1), func(b *Builder) []Var {
			x, z := b.Public(element(3)), b.Var(element(1))
			b.Row(b.LookUp(0, 0, xor4), []Var{x, b.Public(element(2)), z})
			return nil
		}, []CellName{{2, "c"}}},
		{"a lookup in a table of one column", bitwise(1), func(b *Builder) []Var {
			b.Row(b.LookUp(0, 0, below8), []Var{b.Public(element(3)), 0, 0})
			return nil
		}, nil},
	} {
		b := NewBuilder(test.system)
		known := test.rows(b)
		golden.Equal(t, test.name, test.want, must.Get(b.Build())(t).ReadOnce(known...))
	}
}
