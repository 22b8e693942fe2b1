// Package circuit is straight-line programs over the quadratic extension of Goldilocks, made as they are
// run: what a verifier computes, written down for tables that prove it.
//
// A program has a memory that is written once. Its cells hold elements of the extension, or, for
// permutations, pairs of elements of the field. It has rows, each of which says what four cells have to do
// with each other, and permutations of Poseidon, which say it of thirteen. There are no jumps: which rows
// there are depends on the Go code that makes them, and not on values. Running that code for some values
// gives the values of all cells, and the first row that does not hold.
package circuit

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

type (
	// E is an element of the field.
	E = goldilocks.Element
	// X is one of the extension.
	X = ext.Quadratic
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
//	Out = Product A B + Conjugate A B̄ + Crossed B C + Left A + Right C + Constant
//
// where B̄ is B's conjugate, and, if Bit, that C is 0 or 1.
type Row struct {
	Cells                                    [Operands]Cell
	Product, Conjugate, Crossed, Left, Right E
	Constant                                 X
	Bit                                      bool
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
	Rows         []Row
	Permutations []Permutation
	Values       []X // of each cell
	constants    map[X]Value
	err          error
}

// New is an empty program.
func New() *Builder { return &Builder{constants: make(map[X]Value)} }

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
func (r *Row) Result(a, b, c X) X {
	x := r.Constant
	if r.Product != 0 {
		x = x.Add(a.Mul(b).MulBase(r.Product))
	}
	if r.Conjugate != 0 {
		x = x.Add(a.Mul(b.Frobenius()).MulBase(r.Conjugate))
	}
	if r.Crossed != 0 {
		x = x.Add(b.Mul(c).MulBase(r.Crossed))
	}
	return x.Add(a.MulBase(r.Left)).Add(c.MulBase(r.Right))
}

// row appends a row, whose result is a cell of its own.
func (b *Builder) row(r Row) Value {
	v := b.Hint(r.Result(b.at(r.Cells[A]), b.at(r.Cells[B]), b.at(r.Cells[C])))
	r.Cells[Out] = v.cell
	b.Rows = append(b.Rows, r)
	return v
}

// holds appends a row whose result is a cell that is there. The name is what Err says where it is not.
func (b *Builder) holds(r Row, out Value, name string, args ...any) {
	r.Cells[Out] = b.Cell(out)
	if b.err == nil && r.Result(b.at(r.Cells[A]), b.at(r.Cells[B]), b.at(r.Cells[C])) != b.Of(out) {
		b.err = fmt.Errorf("%w: "+name, append([]any{zkbench.ErrProof}, args...)...)
	}
	b.Rows = append(b.Rows, r)
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
	if y.known() && y.plus[1] == 0 {
		return b.linear(x.Times(y.plus[0]), z)
	}
	if x.plus != (X{}) {
		x, y = y, x
	}
	if x.plus != (X{}) { // of which the other constants are
		x = b.At(b.Cell(x))
	}
	if y.plus[1] != 0 {
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
	case x.known() && x.plus[1] == 0:
		return y.Times(x.plus[0])
	case y.known() && y.plus[1] == 0:
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
	inverse := b.Hint(b.Of(x).Inverse())
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

const half = E((goldilocks.Modulus + 1) / 2)

// overUnit is 1/u of OverUnit.
var overUnit = Constant(X{0, 1}.Inverse())

// First is the first element of a pair.
func (b *Builder) First(pair Value) Value { return b.FirstTimes(pair, One, Zero) }

// FirstTimes is the first element of a pair times x, and z.
func (b *Builder) FirstTimes(pair, x, z Value) Value { return b.coordinate(pair, x, z, half) }

// Second is the second element of a pair.
func (b *Builder) Second(pair Value) Value { return b.SecondTimes(pair, overUnit, Zero) }

// OverUnit is x/u where u is the extension's element of the pair 0, 1: what SecondTimes takes.
func (b *Builder) OverUnit(x Value) Value { return b.Mul(x, overUnit) }

// SecondTimes is the second element of a pair times x, and z, where OverUnit of x is given.
func (b *Builder) SecondTimes(pair, xOverUnit, z Value) Value {
	return b.coordinate(pair, xOverUnit, z, goldilocks.Modulus-half)
}

// coordinate is x (p ± p̄) / 2 + z: a pair p is p₀ + p₁ u, and its conjugate p₀ - p₁ u.
func (b *Builder) coordinate(pair, x, z Value, conjugate E) Value {
	r := b.linear(Zero, z)
	r.Cells[A], r.Cells[B] = b.Cell(x), b.Cell(pair)
	r.Product, r.Conjugate = half, conjugate
	return b.row(r)
}

// Pair is a pair of two elements of the field.
func (b *Builder) Pair(first, second Value) Value {
	return b.MulAdd(second, Constant(X{0, 1}), first)
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
	inverse := b.Hint(b.Of(t).Inverse())
	b.IsProduct(b.MulAdd(t, inverse.Neg(), One), low, Zero, name, args...)
	return bits
}

// Permute is a permutation of a state of pairs, the first two and the next two in the other order if swap is 1.
func (b *Builder) Permute(in [Pairs]Value, swap Value) (out [Pairs]Value) {
	p := Permutation{Swap: b.Cell(swap)}
	var state poseidon.State
	for i, v := range in {
		p.In[i] = b.Cell(v)
		from := i
		if b.Of(swap) == (X{1}) && i < 4 {
			from ^= 2
		}
		copy(state[2*from:], b.Values[p.In[i]][:])
	}
	state.Permute()
	for i := range out {
		out[i] = b.Hint(X(state[2*i : 2*i+2]))
		p.Out[i] = out[i].cell
	}
	b.Permutations = append(b.Permutations, p)
	return out
}
