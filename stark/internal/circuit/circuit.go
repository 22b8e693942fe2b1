// Package circuit writes down straight-line programs over an extension of Goldilocks while it runs them. Such
// a program is what a verifier computes, in a form that tables can prove.
//
// A program has a memory in which each cell is written once. A cell holds an element of the extension. The
// cells of a permutation hold two field elements each, as the first two coordinates of an element of the
// extension. A program consists of rows and of Poseidon permutations. Each row relates four cells, and each
// permutation relates thirteen cells. There are no jumps: the rows depend on the Go code that makes them, and
// not on values. Running the code on some values computes all cells and finds the first row that does not
// hold.
package circuit

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Cell is the index of a cell in a program's memory.
type Cell int32

// None marks an operand that a row does not have.
const None Cell = -1

// The operands of a row, as indices of Row.Cells.
const (
	A = iota
	B
	C
	Out
	Operands
)

// Row states that
//
//	Out = Product A B + First A b₀ + Crossed B C + Left A + Right C + Constant
//
// where A, B, C and Out are the values of the cells in Cells with these indices, b₀ is the first coordinate
// of B, and the factors and the constant are fields of the Row. If the field Bit is set, the Row also states
// that C is 0 or 1.
type Row struct {
	Cells                                [Operands]Cell
	Product, First, Crossed, Left, Right E
	Constant                             X
	Bit                                  bool
}

// Pairs is the number of cells in a permutation's state.
const Pairs = poseidon.Width / 2

// Permutation states that Out is the permutation of In. If Swap is 1, the first two pairs of In are exchanged
// with the next two before the permutation. A digest consists of two pairs, so this exchanges two digests.
// Permutation does not constrain Swap; rows of the program must constrain it to be 0 or 1.
type Permutation struct {
	In, Out [Pairs]Cell
	Swap    Cell
}

// Builder writes a program down and runs it.
type Builder struct {
	Degree       Degree
	Rows         []Row
	Permutations []Permutation
	Values       []X // the value of each cell, from first on
	constants    map[X]Value
	made         []made // the constants, in the order of their cells
	valuesOnly   bool
	err          error

	ctx   context.Context
	ex    executor.Executor
	below *Builder // the program of which this one is a part that Fork writes down; else nil
	first Cell     // the first cell that is not in below
}

// New returns an empty program over the extension of the given degree.
func New(d Degree) *Builder {
	return &Builder{Degree: d, constants: make(map[X]Value), ctx: context.Background(), ex: executor.Serial()}
}

// OnlyValues makes b run a program without writing it down: Rows and Permutations stay empty.
func (b *Builder) OnlyValues() { b.valuesOnly = true }

// state appends a row.
func (b *Builder) state(r Row) {
	if !b.valuesOnly {
		b.Rows = append(b.Rows, r)
	}
}

// next returns the cell that will be written next.
func (b *Builder) next() Cell { return b.first + Cell(len(b.Values)) }

// at returns the value of a cell.
func (b *Builder) at(c Cell) X {
	for c < b.first {
		b = b.below
	}
	return b.Values[c-b.first]
}

// constant returns the cell of a constant, if it has one.
func (b *Builder) constant(x X) (is Value, ok bool) {
	for ; b != nil && !ok; b = b.below {
		is, ok = b.constants[x]
	}
	return is, ok
}

// keep records the cell of a constant.
func (b *Builder) keep(m made) {
	b.constants[m.constant] = b.FromCell(m.cell)
	b.made = append(b.made, m)
}

// Err returns nil if all rows so far hold. Otherwise it returns a zkbench.ErrProof that names the first
// row that does not hold.
func (b *Builder) Err() error { return b.err }

// Value is a multiple of a cell's value plus a constant, or a constant alone. It takes no rows to multiply a
// Value by a constant or to add a constant to it.
type Value struct {
	cell  Cell
	scale E
	plus  X
}

// Constant returns x as a Value that needs no cell.
func Constant(x X) Value { return Value{cell: None, plus: x} }

// Base returns an element of the field as a constant Value.
func Base(e E) Value { return Constant(X{e}) }

// Zero and One are the constants 0 and 1.
var Zero, One = Base(0), Base(1)

// known reports whether v is a constant.
func (v Value) known() bool { return v.cell == None }

// Times returns v times the constant c.
func (v Value) Times(c E) Value {
	if v.scale = v.scale.Mul(c); v.scale == 0 {
		v.cell = None
	}
	v.plus = v.plus.MulBase(c)
	return v
}

// Neg returns -v.
func (v Value) Neg() Value { return v.Times(goldilocks.Modulus - 1) }

// Plus returns v plus the constant c.
func (v Value) Plus(c X) Value {
	v.plus = v.plus.Add(c)
	return v
}

// Eval returns the value of v in this run.
func (b *Builder) Eval(v Value) X {
	if v.known() {
		return v.plus
	}
	return b.at(v.cell).MulBase(v.scale).Add(v.plus)
}

// Hint returns a new cell that holds x. No row constrains it yet.
func (b *Builder) Hint(x X) Value {
	v := b.FromCell(b.next())
	b.Values = append(b.Values, x)
	return v
}

// FromCell returns the value of a cell.
func (b *Builder) FromCell(c Cell) Value { return Value{cell: c, scale: 1} }

// Cell returns a cell that holds v. If v is the plain value of a cell, or a constant that has a cell already,
// Cell adds no row. Otherwise it adds one.
func (b *Builder) Cell(v Value) Cell {
	if v.known() {
		is, ok := b.constant(v.plus)
		if !ok {
			row := len(b.Rows)
			is = b.row(Row{Cells: [Operands]Cell{None, None, None, None}, Constant: v.plus})
			b.keep(made{v.plus, is.cell, row})
		}
		return is.cell
	}
	if (v.scale != 1 || v.plus != X{}) {
		v = b.row(b.linear(v, Zero))
	}
	return v.cell
}

// linear returns a row that computes x + y.
func (b *Builder) linear(x, y Value) Row {
	return Row{Cells: [Operands]Cell{x.cell, None, y.cell, None}, Left: x.scale, Right: y.scale, Constant: x.plus.Add(y.plus)}
}

// operand returns the value of an operand, or 0 for None.
func (b *Builder) operand(c Cell) (x X) {
	if c != None {
		x = b.at(c)
	}
	return x
}

// Result returns the value that the row r states for Out, if the operands A, B and C have the values a, b
// and c.
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

// result returns what r states that Out is, in this run.
func (b *Builder) result(r *Row) X {
	return b.Degree.Result(r, b.operand(r.Cells[A]), b.operand(r.Cells[B]), b.operand(r.Cells[C]))
}

// row appends a row and returns its result in a new cell.
func (b *Builder) row(r Row) Value {
	v := b.Hint(b.result(&r))
	r.Cells[Out] = v.cell
	b.state(r)
	return v
}

// holds appends a row whose result must be in the existing cell out. If it is not, Err reports name.
func (b *Builder) holds(r Row, out Value, name string, args ...any) {
	r.Cells[Out] = b.Cell(out)
	if b.result(&r) != b.Eval(out) {
		b.fails(name, args...)
	}
	b.state(r)
}

// fails records what does not hold, if nothing else has failed before.
func (b *Builder) fails(name string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("%w: "+name, append([]any{zkbench.ErrProof}, args...)...)
	}
}

// Add returns the sum x + y.
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

// Sub returns the difference x - y.
func (b *Builder) Sub(x, y Value) Value { return b.Add(x, y.Neg()) }

// product returns a row that computes x y + z.
func (b *Builder) product(x, y, z Value) Row {
	// Constants of the field become factors of the row. Only A has a factor beside those of products.
	if x.known() {
		x, y = y, x
	}
	if y.known() && y.plus.InField() {
		return b.linear(x.Times(y.plus[0]), z)
	}
	if x.plus != (X{}) {
		x, y = y, x
	}
	if x.plus != (X{}) { // x and y both have constants
		x = b.FromCell(b.Cell(x))
	}
	if !y.plus.InField() {
		y = b.FromCell(b.Cell(y))
	}
	r := b.linear(Value{cell: x.cell, scale: x.scale.Mul(y.plus[0])}, z)
	r.Cells[B], r.Product = y.cell, x.scale.Mul(y.scale)
	return r
}

// MulAdd returns x y + z.
func (b *Builder) MulAdd(x, y, z Value) Value {
	r := b.product(x, y, z)
	if r.Product == 0 && r.Left == 0 && r.Right == 0 {
		return Constant(r.Constant)
	}
	return b.row(r)
}

// Mul returns the product x y.
func (b *Builder) Mul(x, y Value) Value {
	switch {
	case x.known() && x.plus.InField():
		return y.Times(x.plus[0])
	case y.known() && y.plus.InField():
		return x.Times(y.plus[0])
	}
	return b.MulAdd(x, y, Zero)
}

// Xor returns x + y - 2 x y, which is the exclusive or if x and y are bits.
func (b *Builder) Xor(x, y Value) Value {
	if x.plus != (X{}) || y.plus != (X{}) || x.known() || y.known() {
		return b.Sub(b.Add(x, y), b.Mul(x, y).Times(2))
	}
	r := b.linear(x, y)
	r.Cells[B], r.Product = y.cell, x.scale.Mul(y.scale).Mul(goldilocks.Modulus-2)
	return b.row(r)
}

// IsProduct states that x y = z. If x y is not z, the error that Err returns contains the name, which is
// formatted with args.
func (b *Builder) IsProduct(x, y, z Value, name string, args ...any) {
	b.holds(b.product(x, y, Zero), z, name, args...)
}

// Equal states that x = y. If x is not y, the error that Err returns contains the name, which is formatted
// with args.
func (b *Builder) Equal(x, y Value, name string, args ...any) {
	b.holds(b.linear(x, Zero), y, name, args...)
}

// Inverse returns 1/x and states that x is not 0. If x is 0, the error that Err returns contains the name,
// which is formatted with args.
func (b *Builder) Inverse(x Value, name string, args ...any) Value {
	inverse := b.Hint(b.Degree.Inverse(b.Eval(x)))
	b.IsProduct(x, inverse, One, name, args...)
	return inverse
}

// Select returns x if bit is 1, and y if bit is 0.
func (b *Builder) Select(bit, x, y Value) Value {
	r := Row{
		Cells:   [Operands]Cell{b.Cell(x), b.Cell(bit), b.Cell(y), None},
		Product: 1, Crossed: goldilocks.Modulus - 1, Right: 1,
	}
	return b.row(r)
}

// BothTimes returns x (y + z).
func (b *Builder) BothTimes(x, y, z Value) Value { return b.both(x, y, z, 1) }

// BothLess returns x (y - z).
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

// First returns the first coordinate of x.
func (b *Builder) First(x Value) Value { return b.FirstTimes(x, One, Zero) }

// FirstTimes returns c's first coordinate times x, plus z.
func (b *Builder) FirstTimes(c, x, z Value) Value { return b.coordinate(c, x, z, Row{First: 1}) }

// Second returns the second of the two field elements that the parameter pair holds.
func (b *Builder) Second(pair Value) Value { return b.SecondTimes(pair, b.OverUnit(One), Zero) }

// OverUnit returns x/u, the form in which SecondTimes takes x. Here u is the element of the extension whose
// second coordinate is 1 and whose others are 0.
func (b *Builder) OverUnit(x Value) Value {
	return b.Mul(x, Constant(b.Degree.Inverse(X{0, 1})))
}

// SecondTimes returns s x + z, where s is the second element of the pair c. The argument xOverUnit must be
// OverUnit(x). If c is not a pair, SecondTimes returns r xOverUnit + z, where r is c with its first
// coordinate set to 0.
func (b *Builder) SecondTimes(c, xOverUnit, z Value) Value {
	return b.coordinate(c, xOverUnit, z, Row{Product: 1, First: goldilocks.Modulus - 1})
}

// coordinate appends a row that computes x times some of c's coordinates, plus z. The factors Product and
// First of has select them.
func (b *Builder) coordinate(c, x, z Value, has Row) Value {
	r := b.linear(Zero, z)
	r.Cells[A], r.Cells[B] = b.Cell(x), b.Cell(c)
	r.Product, r.First = has.Product, has.First
	return b.row(r)
}

// Joined returns Σ coordinates[i] u^i, where u is the element of the extension whose second coordinate is 1
// and whose others are 0. If the coordinates are in the field, the result is the element of the extension
// with these coordinates.
func (b *Builder) Joined(coordinates []Value) Value {
	sum := coordinates[0]
	for i, c := range coordinates[1:] {
		var unit X
		unit[i+1] = 1
		sum = b.MulAdd(c, Constant(unit), sum)
	}
	return sum
}

// Triples returns n elements of the cubic extension. The pairs hold the coordinates of these elements, one
// element after the other.
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

// wordBits is the number of bits of an element.
const wordBits = 64

// Bits returns the bits of x, the lowest first. Here x must be an element of the field, and counts as a
// number below the field's order. Bits also states that this number is a multiple of 2^zeros. If the number
// is not such a multiple, the error that Err returns contains the name, which is formatted with args.
func (b *Builder) Bits(x Value, zeros int, name string, args ...any) []Value {
	number := uint64(b.Eval(x)[0])
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
	// p is 2^64 - 2^32 + 1, so if the high half is all ones, the low half must be 0. With t = 2^32 - 1 -
	// high, the product low (1 - t/t) is 0 unless t is 0, and is low itself then.
	t := high.Neg().Plus(X{1<<(wordBits/2) - 1})
	inverse := b.Hint(b.Degree.Inverse(b.Eval(t)))
	b.IsProduct(b.MulAdd(t, inverse.Neg(), One), low, Zero, name, args...)
	return bits
}

// Permute applies Poseidon's permutation to a state of pairs. If swap is 1, it first exchanges the first two
// pairs with the next two.
func (b *Builder) Permute(in [Pairs]Value, swap Value) (out [Pairs]Value) {
	p := Permutation{Swap: b.Cell(swap)}
	var state poseidon.State
	for i, v := range in {
		p.In[i] = b.Cell(v)
		in := b.at(p.In[i])
		if in[2] != 0 {
			b.fails("the permutation's input is not a pair of elements")
		}
		from := i
		if b.Eval(swap) == (X{1}) && i < 4 {
			from ^= 2
		}
		copy(state[2*from:], in[:2])
	}
	state.Permute()
	for i := range out {
		out[i] = b.Hint(X{state[2*i], state[2*i+1]})
		p.Out[i] = out[i].cell
	}
	if !b.valuesOnly {
		b.Permutations = append(b.Permutations, p)
	}
	return out
}
