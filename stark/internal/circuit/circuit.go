// Package circuit is straight-line programs over an extension of Goldilocks, made as they are
// run: what a verifier computes, written down for tables that prove it.
//
// A program has a memory that is written once. Its cells hold elements of the extension, or, for
// permutations, pairs of elements of the field, which are those without further coordinates. It has rows, each of which says what four cells have to do
// with each other, and permutations of Poseidon, which say it of thirteen. There are no jumps: which rows
// there are depends on the Go code that makes them, and not on values. Running that code for some values
// gives the values of all cells, and the first row that does not hold.
package circuit

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Cell is a place in memory.
type Cell int32

// None is the cell of a row's operand that it does not have.
const None Cell = -1

// The operands of a row.
const (
	A = iota
	B
	C
	Out
	Operands
)

// Row says that
//
//	Out = Product A B + First A b₀ + Crossed B C + Left A + Right C + Constant
//
// where b₀ is B's first coordinate, and, if Bit, that C is 0 or 1.
type Row struct {
	Cells                                [Operands]Cell
	Product, First, Crossed, Left, Right E
	Constant                             X
	Bit                                  bool
}

// Pairs is the number of cells of a permutation's state.
const Pairs = poseidon.Width / 2

// Permutation says that Out is the permutation of In, or, if Swap is 1, of In with its first two pairs and
// the two behind them exchanged: the other order of two digests. A bit is what Swap must be by what else is said.
type Permutation struct {
	In, Out [Pairs]Cell
	Swap    Cell
}

// Builder makes a program, and runs it.
type Builder struct {
	Degree       Degree
	Rows         []Row
	Permutations []Permutation
	Values       []X // of each cell
	constants    map[X]Value
	err          error
}

// New is an empty program over the extension of a degree.
func New(of Degree) *Builder { return &Builder{Degree: of, constants: make(map[X]Value)} }

// Err is a zkbench.ErrProof that names the first thing that does not hold, or nil.
func (b *Builder) Err() error { return b.err }

// Value is a multiple of a cell's value and a constant, or a constant alone, of scale 0: such things need no row.
type Value struct {
	cell  Cell
	scale E
	plus  X
}

// Constant is a constant.
func Constant(x X) Value { return Value{cell: None, plus: x} }

// Base is a constant of the field.
func Base(e E) Value { return Constant(X{e}) }

// Zero and One are constants.
var Zero, One = Base(0), Base(1)

// known tells whether a value is a constant.
func (v Value) known() bool { return v.cell == None }

// Times is c v.
func (v Value) Times(c E) Value {
	if v.scale = v.scale.Mul(c); v.scale == 0 {
		v.cell = None
	}
	v.plus = v.plus.MulBase(c)
	return v
}

// Neg is -v.
func (v Value) Neg() Value { return v.Times(goldilocks.Modulus - 1) }

// Plus is v + c.
func (v Value) Plus(c X) Value {
	v.plus = v.plus.Add(c)
	return v
}

// Of is a value as it is in this run.
func (b *Builder) Of(v Value) X {
	if v.known() {
		return v.plus
	}
	return b.Values[v.cell].MulBase(v.scale).Add(v.plus)
}

// Hint is a cell of its own of which nothing is known.
func (b *Builder) Hint(x X) Value {
	b.Values = append(b.Values, x)
	return Value{cell: Cell(len(b.Values) - 1), scale: 1}
}

// At is what a cell has.
func (b *Builder) At(c Cell) Value { return Value{cell: c, scale: 1} }

// Cell is a cell that has the value.
func (b *Builder) Cell(v Value) Cell {
	if v.known() {
		is, ok := b.constants[v.plus]
		if !ok {
			is = b.row(Row{Cells: [Operands]Cell{None, None, None, None}, Constant: v.plus})
			b.constants[v.plus] = is
		}
		return is.cell
	}
	if (v.scale != 1 || v.plus != X{}) {
		v = b.row(b.linear(v, Zero))
	}
	return v.cell
}

// linear is a row of x + y.
func (b *Builder) linear(x, y Value) Row {
	return Row{Cells: [Operands]Cell{x.cell, None, y.cell, None}, Left: x.scale, Right: y.scale, Constant: x.plus.Add(y.plus)}
}

// at is the value of an operand.
func (b *Builder) at(c Cell) (x X) {
	if c != None {
		x = b.Values[c]
	}
	return x
}

// Result is what a row says that Out is.
func (d Degree) Result(r *Row, a, b, c X) X {
	x := r.Constant
	if r.Product != 0 {
		x = x.Add(d.Mul(a, b).MulBase(r.Product))
	}
	if r.First != 0 {
		x = x.Add(a.MulBase(b[0]).MulBase(r.First))
	}
	if r.Crossed != 0 {
		x = x.Add(d.Mul(b, c).MulBase(r.Crossed))
	}
	return x.Add(a.MulBase(r.Left)).Add(c.MulBase(r.Right))
}

// result is what a row says that Out is, in this run.
func (b *Builder) result(r *Row) X {
	return b.Degree.Result(r, b.at(r.Cells[A]), b.at(r.Cells[B]), b.at(r.Cells[C]))
}

// row appends a row, whose result is a cell of its own.
func (b *Builder) row(r Row) Value {
	v := b.Hint(b.result(&r))
	r.Cells[Out] = v.cell
	b.Rows = append(b.Rows, r)
	return v
}

// holds appends a row whose result is a cell that is there. The name is what Err says where it is not.
func (b *Builder) holds(r Row, out Value, name string, args ...any) {
	r.Cells[Out] = b.Cell(out)
	if b.result(&r) != b.Of(out) {
		b.fails(name, args...)
	}
	b.Rows = append(b.Rows, r)
}

// fails notes what does not hold, if it is the first.
func (b *Builder) fails(name string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+name, append([]any{zkbench.ErrProof}, args...)...)
	}
}

// Add is x + y.
func (b *Builder) Add(x, y Value) Value {
	switch {
	case x.known():
		return y.Plus(x.plus)
	case y.known():
		return x.Plus(y.plus)
	case x.cell == y.cell:
		return Value{x.cell, 1, X{}}.Times(x.scale.Add(y.scale)).Plus(x.plus.Add(y.plus))
	}
	return b.row(b.linear(x, y))
}

// Sub is x - y.
func (b *Builder) Sub(x, y Value) Value { return b.Add(x, y.Neg()) }

// product is a row of x y + z.
func (b *Builder) product(x, y, z Value) Row {
	// Of constants those of the field are factors of a row; A alone has one beside those of products.
	if x.known() {
		x, y = y, x
	}
	if y.known() && y.plus.InField() {
		return b.linear(x.Times(y.plus[0]), z)
	}
	if x.plus != (X{}) {
		x, y = y, x
	}
	if x.plus != (X{}) { // of which the other constants are
		x = b.At(b.Cell(x))
	}
	if !y.plus.InField() {
		y = b.At(b.Cell(y))
	}
	r := b.linear(Value{cell: x.cell, scale: x.scale.Mul(y.plus[0])}, z)
	r.Cells[B], r.Product = y.cell, x.scale.Mul(y.scale)
	return r
}

// MulAdd is x y + z.
func (b *Builder) MulAdd(x, y, z Value) Value {
	r := b.product(x, y, z)
	if r.Product == 0 && r.Left == 0 && r.Right == 0 {
		return Constant(r.Constant)
	}
	return b.row(r)
}

// Mul is x y.
func (b *Builder) Mul(x, y Value) Value {
	switch {
	case x.known() && x.plus.InField():
		return y.Times(x.plus[0])
	case y.known() && y.plus.InField():
		return x.Times(y.plus[0])
	}
	return b.MulAdd(x, y, Zero)
}

// Xor is x + y - 2 x y, of bits the exclusive or.
func (b *Builder) Xor(x, y Value) Value {
	if x.plus != (X{}) || y.plus != (X{}) || x.known() || y.known() {
		return b.Sub(b.Add(x, y), b.Mul(x, y).Times(2))
	}
	r := b.linear(x, y)
	r.Cells[B], r.Product = y.cell, x.scale.Mul(y.scale).Mul(goldilocks.Modulus-2)
	return b.row(r)
}

// IsProduct says that x y is z.
func (b *Builder) IsProduct(x, y, z Value, name string, args ...any) {
	b.holds(b.product(x, y, Zero), z, name, args...)
}

// Equal says that x is y.
func (b *Builder) Equal(x, y Value, name string, args ...any) {
	b.holds(b.linear(x, Zero), y, name, args...)
}

// Inverse is 1/x, of which it is said that there is one.
func (b *Builder) Inverse(x Value, name string, args ...any) Value {
	inverse := b.Hint(b.Degree.Inverse(b.Of(x)))
	b.IsProduct(x, inverse, One, name, args...)
	return inverse
}

// Select is x if a bit is 1, and y if it is 0.
func (b *Builder) Select(bit, x, y Value) Value {
	r := Row{
		Cells:   [Operands]Cell{b.Cell(x), b.Cell(bit), b.Cell(y), None},
		Product: 1, Crossed: goldilocks.Modulus - 1, Right: 1,
	}
	return b.row(r)
}

// BothTimes is x (y + z), and BothLess x (y - z).
func (b *Builder) BothTimes(x, y, z Value) Value { return b.both(x, y, z, 1) }

// BothLess is x (y - z).
func (b *Builder) BothLess(x, y, z Value) Value { return b.both(x, y, z, goldilocks.Modulus-1) }

func (b *Builder) both(x, y, z Value, sign E) Value {
	scale := E(1)
	if x.plus == (X{}) && !x.known() {
		scale, x.scale = x.scale, 1
	}
	return b.row(Row{
		Cells:   [Operands]Cell{b.Cell(y), b.Cell(x), b.Cell(z), None},
		Product: scale, Crossed: scale.Mul(sign),
	})
}

// First is a cell's first coordinate.
func (b *Builder) First(x Value) Value { return b.FirstTimes(x, One, Zero) }

// FirstTimes is a cell's first coordinate times x, and z.
func (b *Builder) FirstTimes(of, x, z Value) Value { return b.coordinate(of, x, z, Row{First: 1}) }

// Second is the second element of a pair.
func (b *Builder) Second(pair Value) Value { return b.SecondTimes(pair, b.OverUnit(One), Zero) }

// OverUnit is x/u where u is the extension's element of the pair 0, 1: what SecondTimes takes.
func (b *Builder) OverUnit(x Value) Value {
	return b.Mul(x, Constant(b.Degree.Inverse(X{0, 1})))
}

// SecondTimes is the second element of a pair times x, and z, where OverUnit of x is given. Of any cell it is
// what is in it but for its first coordinate, times what is given, and z.
func (b *Builder) SecondTimes(of, xOverUnit, z Value) Value {
	return b.coordinate(of, xOverUnit, z, Row{Product: 1, First: goldilocks.Modulus - 1})
}

// coordinate is a row of x times what it has of a cell's coordinates, and z.
func (b *Builder) coordinate(of, x, z Value, has Row) Value {
	r := b.linear(Zero, z)
	r.Cells[A], r.Cells[B] = b.Cell(x), b.Cell(of)
	r.Product, r.First = has.Product, has.First
	return b.row(r)
}

// Joined is the element of the extension that has coordinates, one of the field each or of the extension.
func (b *Builder) Joined(coordinates []Value) Value {
	sum := coordinates[0]
	for i, c := range coordinates[1:] {
		var unit X
		unit[i+1] = 1
		sum = b.MulAdd(c, Constant(unit), sum)
	}
	return sum
}

// Triples are elements of the cubic extension, n of them, whose coordinates are in pairs one behind the other.
func (b *Builder) Triples(pairs []Value, n int) (all []Value) {
	square := Constant(X{0, 0, 1})
	for i := range n {
		at := pairs[3*i/2:]
		if i%2 == 0 {
			all = append(all, b.FirstTimes(at[1], square, at[0]))
		} else {
			all = append(all, b.SecondTimes(at[0], b.OverUnit(One), b.Mul(at[1], Constant(X{0, 1}))))
		}
	}
	return all
}

// wordBits are those of an element.
const wordBits = 64

// Bits are the bits of an element of the field, its number below p, the lowest first, of which so many at the
// low end are 0 as is said.
func (b *Builder) Bits(x Value, zeros int, name string, args ...any) []Value {
	number := uint64(b.Of(x)[0])
	bits := make([]Value, wordBits)
	var halves [2]Value
	for h := range halves {
		sum := Zero
		for i := wordBits/2 - 1; i >= 0; i-- {
			at := h*wordBits/2 + i
			if at < zeros {
				bits[at] = Zero
				sum = sum.Times(2)
				continue
			}
			bits[at] = b.Hint(X{E(number >> at & 1)})
			r := b.linear(sum.Times(2), bits[at])
			r.Bit = true
			sum = b.row(r)
		}
		halves[h] = sum
	}
	low, high := halves[0], halves[1]
	b.holds(b.linear(high.Times(1<<(wordBits/2)), low), x, name, args...)
	// p is 2^64 - 2^32 + 1: where the high half is all ones the low one is 0. With t = 2^32 - 1 - high,
	// low (1 - t/t) is 0, and low itself where t is.
	t := high.Neg().Plus(X{1<<(wordBits/2) - 1})
	inverse := b.Hint(b.Degree.Inverse(b.Of(t)))
	b.IsProduct(b.MulAdd(t, inverse.Neg(), One), low, Zero, name, args...)
	return bits
}

// Permute is a permutation of a state of pairs, the first two and the next two in the other order if swap is 1.
func (b *Builder) Permute(in [Pairs]Value, swap Value) (out [Pairs]Value) {
	p := Permutation{Swap: b.Cell(swap)}
	var state poseidon.State
	for i, v := range in {
		p.In[i] = b.Cell(v)
		if b.Values[p.In[i]][2] != 0 {
			b.fails("what is permuted is no pair")
		}
		from := i
		if b.Of(swap) == (X{1}) && i < 4 {
			from ^= 2
		}
		copy(state[2*from:], b.Values[p.In[i]][:2])
	}
	state.Permute()
	for i := range out {
		out[i] = b.Hint(X{state[2*i], state[2*i+1]})
		p.Out[i] = out[i].cell
	}
	b.Permutations = append(b.Permutations, p)
	return out
}
