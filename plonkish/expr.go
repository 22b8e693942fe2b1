package plonkish

import "github.com/consensys/gnark-crypto/ecc/bn254/fr"

// Expr is a polynomial in the cells of a row, the cells of the next row and the row's parameters. It is
// written once and evaluated in three ways: by provers over columns, by verifiers over field elements, and by
// Circuit.Check over a row. The zero value is the polynomial 0.
type Expr struct{ *node }

// node is immutable, and may be part of many others.
type node struct {
	op       op
	x, y     *node
	variable variable
	value    fr.Element
}

type op uint8

const (
	opConst op = iota
	opVariable
	opAdd
	opSub
	opMul
)

// variable is something that an Expr depends on.
type variable struct {
	kind  kind
	index int
}

// kind is the kind of a variable. The kinds that a row has come first. Provers and verifiers add the rest,
// which make gates and wiring one identity.
type kind uint8

const (
	cell         kind = iota // column index in this row
	nextCell                 // column index in the next
	param                    // the row's parameter
	selector                 // 1 in rows of the gate, 0 elsewhere
	looked                   // the table that the row's lookup is in, 0: none
	table                    // column index of all tables' rows; the first is the table
	sigma                    // where the cell of a column is wired to
	multiplicity             // how often the table's row is looked up
	product                  // the running product of the wires, less 1
	nextProduct              // that of the next row
	sum                      // the running sum of the lookups, and sums that are its parts
	nextSum                  // that of the next row
	point                    // X
	first                    // the Lagrange polynomial of the first row
	last                     // that of the row in which the running product ends
	scalar                   // a challenge
)

// fixed reports whether the circuit decides the variable's value.
func (k kind) fixed() bool {
	return k == param || k == selector || k == looked || k == table || k == sigma
}

// column reports whether the variable is a committed polynomial, in its own row or the next.
func (k kind) column() bool { return k <= nextSum }

// next reports whether the variable is read in the next row.
func (k kind) next() bool { return k == nextCell || k == nextProduct || k == nextSum }

// here returns the variable that v is in its own row.
func (v variable) here() variable {
	switch v.kind {
	case nextCell:
		v.kind = cell
	case nextProduct:
		v.kind = product
	case nextSum:
		v.kind = sum
	}
	return v
}

// varExpr returns a variable as an Expr.
func varExpr(k kind, index int) Expr {
	return Expr{&node{op: opVariable, variable: variable{k, index}}}
}

// Cell returns the Expr for the value of a column in this row.
func Cell(column int) Expr { return varExpr(cell, column) }

// Next returns the Expr for the value of a column in the next row.
func Next(column int) Expr { return varExpr(nextCell, column) }

// Param returns the Expr for the row's parameter i.
func Param(i int) Expr { return varExpr(param, i) }

// Challenge returns the Expr for the challenge that late columns depend on. The challenge is drawn after all
// other columns have been committed to.
func Challenge() Expr { return varExpr(scalar, drawn) }

// Const returns the Expr for a constant.
func Const(c fr.Element) Expr { return Expr{&node{value: c}} }

// Int returns the Expr for a small constant.
func Int(c int64) Expr {
	var e fr.Element
	return Const(*e.SetInt64(c))
}

// constant returns the value of an Expr that is a constant.
func (e Expr) constant() (c fr.Element, ok bool) {
	if e.node == nil {
		return c, true
	}
	return e.value, e.op == opConst
}

// Add returns e + x.
func (e Expr) Add(x Expr) Expr { return simplified(opAdd, e, x) }

// Sub returns e - x.
func (e Expr) Sub(x Expr) Expr { return simplified(opSub, e, x) }

// Mul returns e·x.
func (e Expr) Mul(x Expr) Expr { return simplified(opMul, e, x) }

// Square returns e·e.
func (e Expr) Square() Expr { return e.Mul(e) }

// simplified returns x o y, without operations that constants make superfluous.
func simplified(o op, x, y Expr) Expr {
	a, isA := x.constant()
	b, isB := y.constant()
	switch {
	case isA && isB:
		return Const(apply(o, a, b))
	case o == opMul && (isA && a.IsZero() || isB && b.IsZero()):
		return Expr{}
	case o == opMul && isA && a.IsOne(), o == opAdd && isA && a.IsZero():
		return y
	case o == opMul && isB && b.IsOne(), o != opMul && isB && b.IsZero():
		return x
	}
	if x.node == nil {
		x = Const(a)
	}
	return Expr{&node{op: o, x: x.node, y: y.node}}
}

func apply(o op, x, y fr.Element) (z fr.Element) {
	switch o {
	case opAdd:
		z.Add(&x, &y)
	case opSub:
		z.Sub(&x, &y)
	default:
		z.Mul(&x, &y)
	}
	return z
}
