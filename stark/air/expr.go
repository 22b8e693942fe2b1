// Package air states what the rows of a table must satisfy: an algebraic intermediate
// representation. A table says it once, to a Builder; provers, verifiers, the count of degrees
// and the check of a row all run what the Builder wrote down, which is straight-line code
// (Program), so that a circuit of a verifier can be made of it too.
//
// Nothing here knows a field: constants are integers, and who evaluates an expression gives them
// a meaning.
package air

// Expr is a polynomial in the cells of a row and of the row after it, the last row being followed
// by the first. The zero value is 0.
type Expr struct{ *node }

// node is immutable, and may be part of many.
type node struct {
	op    Op
	x, y  *node
	index int
	value Int
}

// Int is a constant: Abs, or -Abs.
type Int struct {
	Abs      uint64
	Negative bool
}

// Op is what a step of a program does. Digests of systems have its number, which so stays what it is.
type Op int8

// The operations. Those before Add take no other values.
const (
	Fixed Op = iota - 1 // the row's cell of a fixed column
	Const
	Here   // a cell of the row
	Next   // a cell of the next row
	Public // a public value
	Add
	Sub
	Mul
)

// Constant is a constant.
func Constant(c int64) Expr {
	if c < 0 {
		return constant(Int{uint64(-c), true}) // of the least int64 too: it is its own negative
	}
	return constant(Int{Abs: uint64(c)})
}

// Element is a constant that may be as large as a field's elements.
func Element(c uint64) Expr { return constant(Int{Abs: c}) }

func constant(c Int) Expr {
	if c.Abs == 0 {
		return Expr{}
	}
	return Expr{&node{op: Const, value: c}}
}

// Add is e + x.
func (e Expr) Add(x Expr) Expr {
	switch {
	case e.node == nil:
		return x
	case x.node == nil:
		return e
	}
	return Expr{&node{op: Add, x: e.node, y: x.node}}
}

// Sub is e - x.
func (e Expr) Sub(x Expr) Expr {
	if x.node == nil {
		return e
	}
	if e.node == nil {
		e = Expr{&node{op: Const}}
	}
	return Expr{&node{op: Sub, x: e.node, y: x.node}}
}

// negative is -e.
func (e Expr) negative() Expr {
	if e.node != nil && e.op == Const {
		return constant(Int{e.value.Abs, !e.value.Negative})
	}
	return Expr{}.Sub(e)
}

// Mul is e x.
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

// Times is c e.
func (e Expr) Times(c int64) Expr { return Constant(c).Mul(e) }

// Plus is e + c.
func (e Expr) Plus(c int64) Expr { return e.Add(Constant(c)) }

// Bool is 0 where e is 0 or 1, and nowhere else: e (1 - e).
func (e Expr) Bool() Expr { return e.Mul(Constant(1).Sub(e)) }

// Xor is the exclusive or of two bits.
func (e Expr) Xor(x Expr) Expr { return e.Add(x).Sub(e.Mul(x).Times(2)) }

// Pack is the sum of 2^i bits[i].
func Pack(bits []Expr) (sum Expr) {
	for i := len(bits) - 1; i >= 0; i-- {
		sum = sum.Add(sum).Add(bits[i])
	}
	return sum
}
