// Package air describes what the rows of a table must satisfy, as an algebraic intermediate representation
// (AIR). A table states its constraints once, to a Builder. Table.Compile turns them into straight-line
// code, a Program. Provers, verifiers, the computation of degrees and the check of a row all run this
// Program. A circuit for a verifier can be built from the Program, too.
//
// Tables are linked by buses. A row can send a tuple of numbers on a bus, to ask for this tuple or to answer
// with it. The tables are satisfied only if each tuple on a bus is answered as often as it is asked for.
//
// The package does not depend on a field: constants are integers, and an Algebra gives them a meaning.
package air

// Expr is a polynomial in the cells of a row and of the next row. The row after the last is the first. The
// zero value is the polynomial 0.
type Expr struct{ *node }

// node is immutable and may be part of many expressions.
type node struct {
	op    Op
	x, y  *node
	index int
	value Int
}

// Int is a constant: -Abs if Negative is set, otherwise Abs.
type Int struct {
	Abs      uint64
	Negative bool
}

// Op is the operation of a Step. The digests of package stark depend on the numbers of the operations, so
// these numbers must not change.
type Op int8

// The operations. Those before Add have no operands.
const (
	Fixed Op = iota - 1 // a cell of the row in a fixed column
	Const
	Here   // a cell of the row
	Next   // a cell of the next row
	Public // a public value
	Add
	Sub
	Mul
)

// Constant returns c as an expression.
func Constant(c int64) Expr {
	if c < 0 {
		return constant(Int{uint64(-c), true}) // also right for the least int64, which is its own negative
	}
	return constant(Int{Abs: uint64(c)})
}

// Element returns c as an expression. Unlike Constant, it takes any element of a field of 64 bits.
func Element(c uint64) Expr { return constant(Int{Abs: c}) }

func constant(c Int) Expr {
	if c.Abs == 0 {
		return Expr{}
	}
	return Expr{&node{op: Const, value: c}}
}

// Add returns the sum e + x.
func (e Expr) Add(x Expr) Expr {
	switch {
	case e.node == nil:
		return x
	case x.node == nil:
		return e
	}
	return Expr{&node{op: Add, x: e.node, y: x.node}}
}

// Sub returns the difference e - x.
func (e Expr) Sub(x Expr) Expr {
	if x.node == nil {
		return e
	}
	if e.node == nil {
		e = Expr{&node{op: Const}}
	}
	return Expr{&node{op: Sub, x: e.node, y: x.node}}
}

// negative returns -e.
func (e Expr) negative() Expr {
	if e.node != nil && e.op == Const {
		return constant(Int{e.value.Abs, !e.value.Negative})
	}
	return Expr{}.Sub(e)
}

// Mul returns the product e x.
func (e Expr) Mul(x Expr) Expr {
	switch {
	case e.node == nil || x.node == nil:
		return Expr{}
	case e.isOne():
		return x
	case x.isOne():
		return e
	}
	return Expr{&node{op: Mul, x: e.node, y: x.node}}
}

func (e Expr) isOne() bool { return e.op == Const && e.value == Int{Abs: 1} }

// Times returns e times the constant c.
func (e Expr) Times(c int64) Expr { return Constant(c).Mul(e) }

// Plus returns e plus the constant c.
func (e Expr) Plus(c int64) Expr { return e.Add(Constant(c)) }

// Bool returns e (1 - e), which is 0 if e is 0 or 1 and nonzero otherwise.
func (e Expr) Bool() Expr { return e.Mul(Constant(1).Sub(e)) }

// Xor returns the exclusive or of e and x, which must be bits.
func (e Expr) Xor(x Expr) Expr { return e.Add(x).Sub(e.Mul(x).Times(2)) }

// Pack returns the sum of 2^i·bits[i] over all i.
func Pack(bits []Expr) (sum Expr) {
	for i := len(bits) - 1; i >= 0; i-- {
		sum = sum.Add(sum).Add(bits[i])
	}
	return sum
}
