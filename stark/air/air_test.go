package air_test

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
)

// integers is the algebra of integers.
type integers struct{ fixed, here, next, publics []int }

func (n integers) Constant(c air.Int) int {
	if c.Negative {
		return -int(c.Abs)
	}
	return int(c.Abs)
}
func (n integers) Fixed(i int) int  { return n.fixed[i] }
func (n integers) Here(i int) int   { return n.here[i] }
func (n integers) Next(i int) int   { return n.next[i] }
func (n integers) Public(i int) int { return n.publics[i] }
func (n integers) Add(x, y int) int { return x + y }
func (n integers) Sub(x, y int) int { return x - y }
func (n integers) Mul(x, y int) int { return x * y }

// TestProgram: steps have the values of what was stated, equal parts are one step, and degrees are
// counted.
func TestProgram(t *testing.T) {
	t.Parallel()
	table := &air.Table{Name: "t", Columns: 3, Fixed: [][]uint64{{0, 0}, {0, 0}}, State: func(b *air.Builder) {
		x, y, next := b.Here(0), b.Here(1), b.Next(2)
		b.Zero(air.Everywhere, "product", x.Mul(y).Plus(-3).Sub(next))
		b.Zero(air.First, "bit", x.Bool())
		b.Zero(air.Transition, "xor", x.Xor(y).Sub(b.Public(1)))
		b.Zero(air.Last, "packed", air.Pack([]air.Expr{x, y, next}).Sub(air.Element(1<<40)))
		b.Zero(air.Everywhere, "nothing", air.Expr{}.Mul(x).Add(air.Constant(0)))
		b.Zero(air.Everywhere, "less", air.Expr{}.Sub(x.Mul(y)))
		b.Answer("bus", x, y, next)
		b.AskUpTo(2, "bus", air.Constant(2), y.Times(-1), x)
		b.Zero(air.Everywhere, "fixed", b.Fixed(1).Sub(x))
	}}
	p := must.Get(table.Compile())(t)
	values := air.Evaluate[int](p, integers{[]int{0, 17}, []int{5, 7, 0}, []int{0, 0, 11}, []int{0, 13}})
	var got []int
	for _, c := range p.Constraints {
		got = append(got, values[c.Step])
	}
	golden.Equal(t, "constraints", []int{5*7 - 3 - 11, 5 * -4, 5 + 7 - 70 - 13, 5 + 14 + 44 - 1<<40, 0, -35, 12}, got)
	m := p.Messages
	golden.Equal(t, "messages", []int{5, 7, 11, -2, -7, 5}, []int{
		values[m[0].Multiplicity], values[m[0].Tuple[0]], values[m[0].Tuple[1]],
		values[m[1].Multiplicity], values[m[1].Tuple[0]], values[m[1].Tuple[1]],
	})
	golden.Equal(t, "degree, the first row's selector included", 3, p.Degree())
	golden.Equal(t, "public values", 2, p.Publics)
	golden.Equal(t, "fixed columns", 2, p.Fixed)
	golden.Equal(t, "read in the next row", []bool{false, false, true}, p.ReadsNext())
	products := 0
	for i, s := range p.Steps {
		if slices.Index(p.Steps, s) != i {
			t.Errorf("step %d is there twice", i)
		}
		if s.Op == air.Mul {
			products++
		}
		if s.Op >= air.Add && (s.X >= i || s.Y >= i) {
			t.Errorf("step %d takes one that is not before it", i)
		}
	}
	golden.Equal(t, "products: x y, x (1-x), 2 x y, -1 y", 4, products)
}

// TestDegrees: cells of both rows and fixed ones count, values that a verifier knows do not, and the selector of a
// first or a last row is one more.
func TestDegrees(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		where air.Where
		want  int
		zero  func(b *air.Builder) air.Expr
	}{
		{air.Everywhere, 0, func(b *air.Builder) air.Expr { return b.Public(0).Mul(b.Public(1)).Plus(3) }},
		{air.Everywhere, 1, func(b *air.Builder) air.Expr { return b.Here(0).Mul(b.Public(0)) }},
		{air.Everywhere, 1, func(b *air.Builder) air.Expr { return b.Next(0).Times(5).Sub(b.Public(0)) }},
		{air.Everywhere, 1, func(b *air.Builder) air.Expr { return b.Public(0).Sub(b.Next(0)) }},
		{air.Everywhere, 2, func(b *air.Builder) air.Expr { return b.Here(0).Mul(b.Next(0)).Add(b.Here(0)) }},
		{air.Everywhere, 2, func(b *air.Builder) air.Expr { return b.Fixed(0).Mul(b.Here(0)) }},
		{air.Last, 2, func(b *air.Builder) air.Expr { return b.Fixed(0) }},
		{air.Everywhere, 2, func(b *air.Builder) air.Expr { return b.Next(0).Sub(b.Next(0).Mul(b.Next(0))) }},
		{air.Transition, 2, func(b *air.Builder) air.Expr { return b.Here(0).Mul(b.Next(0)) }},
		{air.First, 3, func(b *air.Builder) air.Expr { return b.Here(0).Mul(b.Next(0)) }},
		{air.Last, 3, func(b *air.Builder) air.Expr { return b.Here(0).Mul(b.Next(0)) }},
	} {
		p := must.Get((&air.Table{Name: "t", Columns: 1, Fixed: [][]uint64{{0, 0}}, State: func(b *air.Builder) { b.Zero(c.where, "c", c.zero(b)) }}).Compile())(t)
		golden.Equal(t, "degree "+c.where.String(), c.want, p.Degree())
	}
}

// TestRefused: a statement that reads what is not there says so.
func TestRefused(t *testing.T) {
	t.Parallel()
	for name, state := range map[string]func(b *air.Builder){
		"nothing":           func(*air.Builder) {},
		"a column too many": func(b *air.Builder) { b.Zero(air.First, "c", b.Here(2)) },
		"a column below":    func(b *air.Builder) { b.Zero(air.First, "c", b.Next(-1)) },
		"no fixed column":   func(b *air.Builder) { b.Zero(air.First, "c", b.Fixed(0)) },
		"fixed column -1":   func(b *air.Builder) { b.Zero(air.First, "c", b.Fixed(-1)) },
		"public value -1":   func(b *air.Builder) { b.Zero(air.First, "c", b.Public(-1)) },
		"rows of no kind":   func(b *air.Builder) { b.Zero(air.Transition+1, "c", b.Here(0)) },
		"an empty message":  func(b *air.Builder) { b.Answer("bus", b.Here(0)) },
	} {
		_, err := (&air.Table{Name: "t", Columns: 2, State: state}).Compile()
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
		if name == "nothing" {
			continue
		}
		_, err = (&air.Table{Name: "t", Columns: 2, State: func(b *air.Builder) {
			b.Zero(air.Everywhere, "zero", b.Here(0))
			state(b)
		}}).Compile()
		must.Fail(t, err, zkbench.ErrParams, "%s, beside what holds", name)
	}
	constant := func(b *air.Builder) { b.Zero(air.Everywhere, "zero", air.Constant(0)) }
	for _, table := range []air.Table{{Name: "t", Columns: 0, State: constant}, {Name: "t", Columns: -1, State: constant}, {Name: "t", Columns: 0, State: func(*air.Builder) {}}, {Name: "t", Columns: 1}} {
		_, err := table.Compile()
		must.Fail(t, err, zkbench.ErrParams, "%d columns", table.Columns)
	}
	for _, fixed := range [][][]uint64{{{}}, {{1}}, {{1, 2, 3}}, {{1, 2}, {1, 2, 3, 4}}, {{1, 2}, nil}} {
		_, err := (&air.Table{Name: "t", Columns: 1, Fixed: fixed, State: constant}).Compile()
		must.Fail(t, err, zkbench.ErrParams, "fixed columns %v", fixed)
	}
	_, err := (&air.Table{Name: "t", Columns: 1, Fixed: [][]uint64{{1, 2}}, State: func(b *air.Builder) { b.Zero(air.First, "c", b.Fixed(1)) }}).Compile()
	must.Fail(t, err, zkbench.ErrParams, "a fixed column too many")
}
