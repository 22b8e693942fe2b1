package plonkish

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestLoose: circuits of which inputs decide all have no loose cell, and a cell that nothing holds,
// or two that hold each other alone, are named.
func TestLoose(t *testing.T) {
	for _, test := range []struct {
		name  string
		arith Arithmetization
		rows  func(b *Builder) []Var
		want  []CellName
	}{
		{"sums", Plonk(), func(b *Builder) []Var { chain(b, 9, 2); return nil }, nil},
		{"an input", Plonk(), func(b *Builder) []Var {
			x := b.Var(element(3))
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, b.Var(element(9))})
			return []Var{x}
		}, nil},
		{"its root", Plonk(), func(b *Builder) []Var { // two, far from each other
			x := b.Var(element(3))
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, b.Public(element(9))})
			return nil
		}, nil},
		{"a product's factors", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{b.Var(element(2)), b.Var(element(3)), b.Public(element(6))})
			return nil
		}, []CellName{{1, "a"}}},
		{"a zero that nothing says", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1)), []Var{b.Public(element(2)), b.Var(element(0)), b.Var(element(2))})
			return nil
		}, []CellName{{1, "b"}}},
		{"what 0 times it is", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{b.Public(element(0)), b.Var(element(5)), b.Var(element(0))})
			return nil
		}, []CellName{{1, "b"}}},
		{"Zero", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1)), []Var{b.Public(element(2)), b.Zero(), b.Var(element(2))})
			return nil
		}, nil},
		{"a free cell that is given as 0", unusual(), func(b *Builder) []Var {
			x := b.Public(element(2))
			b.Row(b.Kind(stride, element(3)), []Var{x}, element(-6))
			b.Row(0, []Var{x}, element(0))
			return nil
		}, []CellName{{1, "f"}}},
		{"lookups", bitwise(1), func(b *Builder) []Var { looks(b, 6, 3); return nil }, nil},
		{"a challenge", shuffled(), func(b *Builder) []Var { shuffles(b, false); return nil }, []CellName{{3, "b"}, {7, "b"}, {8, "a"}, {8, "b"}, {9, "a"}}},
		{"a window", UltraPlonk(), func(b *Builder) []Var { windowed(b, []int64{1, 0, 3}); return nil }, []CellName{{2, "x"}, {2, "y"}}},
	} {
		b := NewBuilder(test.arith)
		inputs := test.rows(b)
		golden.Equal(t, test.name, test.want, must.Get(must.Get(b.Build())(t).Loose(inputs...))(t))
	}
	b := NewBuilder(Plonk())
	b.Row(b.Kind(Arithmetic(), element(0), element(1)), []Var{b.Var(element(1))})
	must.FailGet(must.Get(b.Build())(t).Loose())(t, zkbench.ErrWitness, "an unsatisfied circuit")
}

// TestReadOnce: a cell that something computes and nothing takes up is named, and none that is
// public or known, or that a table alone decides.
func TestReadOnce(t *testing.T) {
	for _, test := range []struct {
		name  string
		arith Arithmetization
		rows  func(b *Builder) []Var
		want  []CellName
	}{
		{"sums", Plonk(), func(b *Builder) []Var { chain(b, 9, 2); return nil }, nil},
		{"a result that goes nowhere", Plonk(), func(b *Builder) []Var {
			x := b.Public(element(3))
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, b.Var(element(9))})
			return nil
		}, []CellName{{1, "c"}}},
		{"one that is asked for", Plonk(), func(b *Builder) []Var {
			x, y := b.Var(element(3)), b.Var(element(9))
			b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, y})
			return []Var{y}
		}, []CellName{{0, "a"}}},
		{"a zero that nothing says", Plonk(), func(b *Builder) []Var {
			b.Row(b.Kind(Arithmetic(), element(0), element(1), element(1), element(-1)), []Var{b.Public(element(2)), b.Var(element(0)), b.Public(element(2))})
			return nil
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
		b := NewBuilder(test.arith)
		known := test.rows(b)
		golden.Equal(t, test.name, test.want, must.Get(must.Get(b.Build())(t).ReadOnce(known...))(t))
	}
}

// TestKnownIsRead: what a circuit is said to be of, and no row of it reads, is no input and no result.
func TestKnownIsRead(t *testing.T) {
	b := NewBuilder(Plonk())
	x, forgotten, idle, wired := b.Public(element(3)), b.Var(element(9)), b.Var(element(9)), b.Var(element(3))
	b.Row(b.Kind(Arithmetic(), element(1), element(0), element(0), element(-1)), []Var{x, x, b.Var(element(9))})
	b.Row(0, []Var{idle, wired})
	b.Equal(wired, x)
	c := must.Get(b.Build())(t)
	for _, v := range []Var{0, forgotten, idle, 100} {
		must.FailGet(c.Loose(v))(t, zkbench.ErrParams, "value %d is loose", v)
		must.FailGet(c.ReadOnce(x, v))(t, zkbench.ErrParams, "value %d is read once", v)
	}
	b = NewBuilder(bitwise(1))
	b.Row(b.LookUp(0, 0, below8), []Var{b.Public(element(3))})
	must.FailGet(must.Get(b.Build())(t).Loose(0))(t, zkbench.ErrParams, "no value, in a cell that the table says is 0")
	must.Get(c.Loose(x, wired))(t)
	must.Get(c.ReadOnce(x, wired))(t)
}
