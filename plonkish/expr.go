package plonkish

import "github.com/consensys/gnark-crypto/ecc/bn254/fr"

// Expr is a polynomial in the cells of a row, of the row after it, and in the row's parameters.
// It is stated once, and evaluated wherever it is needed: by provers over columns, by verifiers
// over field elements, by Circuit.Check over a row. The zero value is 0.
type Expr struct{ *node }

// node is immutable, and may be part of many.
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

// variable is what an Expr depends on.
type variable struct {
	kind  kind
	index int
}

// kind is of variables. Those of a row come first; a prover and a verifier add the rest, which
// make gates and wiring one identity.
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

// fixed tells whether the circuit decides it.
func (k kind) fixed() bool {
	return k == param || k == selector || k == looked || k == table || k == sigma
}

// column tells whether it is a committed polynomial, in its own row or the next.
func (k kind) column() bool { return k <= nextSum }

// next tells whether it is read in the next row, and here is what is read.
func (k kind) next() bool { return k == nextCell || k == nextProduct || k == nextSum }

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

func of(k kind, index int) Expr { return Expr{&node{op: opVariable, variable: variable{k, index}}} }

// Cell is the value of a column in the row.
func Cell(column int) Expr { return of(cell, column) }

// Next is the value of a column in the next row.
func Next(column int) Expr { return of(nextCell, column) }

// Param is the row's parameter i.
func Param(i int) Expr { return of(param, i) }

// Challenge is what is drawn when all columns but the arithmetization's late ones are committed to.
func Challenge() Expr { return of(scalar, drawn) }

// Const is a constant.
func Const(c fr.Element) Expr { return Expr{&node{value: c}} }

// Int is a small constant.
func Int(c int64) Expr {
	var e fr.Element
	return Const(*e.SetInt64(c))
}

// constant is the value of an Expr that is one.
func (e Expr) constant() (c fr.Element, ok bool) {
	if e.node == nil {
		return c, true
	}
	return e.value, e.op == opConst
}

// Add is e + x.
func (e Expr) Add(x Expr) Expr { return simplified(opAdd, e, x) }

// Sub is e - x.
func (e Expr) Sub(x Expr) Expr { return simplified(opSub, e, x) }

// Mul is e x.
func (e Expr) Mul(x Expr) Expr { return simplified(opMul, e, x) }

// Square is e e.
func (e Expr) Square() Expr { return e.Mul(e) }

// simplified leaves out what constants make superfluous.
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
