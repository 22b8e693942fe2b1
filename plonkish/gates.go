package plonkish

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"
)

// Arithmetic returns the arithmetic gate of three columns. For a row with values w_i in columns i and
// parameters m, q_0, q_1, q_2 and c it requires
//
//	m w_0 w_1 + q_0 w_0 + q_1 w_1 + q_2 w_2 + c = 0.
func Arithmetic() *Gate { return arithmetic3.clone() }

// Arithmetic4 returns the arithmetic gate of four columns. For a row with values w_i in columns i and
// parameters m, q_0, ..., q_3 and c it requires
//
//	m w_0 w_1 + q_0 w_0 + ... + q_3 w_3 + c = 0.
func Arithmetic4() *Gate { return arithmetic4.clone() }

// Arithmetic5 returns the arithmetic gate of five columns. For a row with values w_i in columns i and
// parameters m, q_0, ..., q_4 and c it requires
//
//	m w_1 w_2 + q_0 w_0 + ... + q_4 w_4 + c = 0.
//
// The product does not use the first column, so that rows can accumulate a number there.
func Arithmetic5() *Gate { return arithmetic5.clone() }

// The gates of this package. Callers get copies, which they may change: a Builder accepts a gate only if its
// arithmetization has one with the same name and terms.
var (
	arithmetic3 = arithmetic(3, 0)
	arithmetic4 = arithmetic(4, 0)
	arithmetic5 = arithmetic(5, 1)
)

func arithmetic(columns, factor int) *Gate {
	sum := Param(0).Mul(Cell(factor)).Mul(Cell(factor + 1))
	for i := range columns {
		sum = sum.Add(Param(i + 1).Mul(Cell(i)))
	}
	return &Gate{Name: fmt.Sprintf("arithmetic of %d", columns), Terms: []Term{{"sum", sum.Add(Param(columns + 1))}}}
}

// quad returns a polynomial that is 0 exactly for x = 0, 1, 2 and 3.
func quad(x Expr) Expr { return x.Mul(x.Sub(Int(1))).Mul(x.Sub(Int(2))).Mul(x.Sub(Int(3))) }

// appended returns the digit that x has and y, times 4, does not have.
func appended(x, y Expr) Expr { return x.Sub(y.Mul(Int(4))) }

// Range returns the gate that accumulates four digits of base 4 per row, the highest first. The values are
// in columns a, b, c and d (columns 0 to 3) of the row, and then in column a of the next row. Each of
// these values except the first is 4 times the value before it, plus a digit. If a number is accumulated
// from 0 by n digits, it is below 4^n.
func Range() *Gate { return rangeOf4.clone() }

var rangeOf4 = &Gate{Name: "range", Terms: []Term{
	{"b", quad(appended(Cell(1), Cell(0)))},
	{"c", quad(appended(Cell(2), Cell(1)))},
	{"d", quad(appended(Cell(3), Cell(2)))},
	{"next a", quad(appended(Next(0), Cell(3)))},
}}

// And returns the gate that accumulates the bitwise AND of two operands, one digit of base 4 per row.
// Columns a and b (0 and 1) hold the operands, and column d (3) holds their bitwise AND. Column c (2) holds
// the product of the digits that the next row appends to a and b.
func And() *Gate { return bitwiseAnd.clone() }

// Xor returns a gate like the one that And returns, but with the bitwise exclusive or in column d (3).
func Xor() *Gate { return bitwiseXor.clone() }

var (
	bitwiseAnd = logic("and", func(x, y, and Expr) Expr { return and })
	bitwiseXor = logic("xor", func(x, y, and Expr) Expr { return x.Add(y).Sub(and.Add(and)) })
)

func logic(name string, result func(x, y, and Expr) Expr) *Gate {
	x, y, z := appended(Next(0), Cell(0)), appended(Next(1), Cell(1)), appended(Next(3), Cell(3))
	return &Gate{Name: name, Terms: []Term{
		{"a", quad(x)},
		{"b", quad(y)},
		{"c", Cell(2).Sub(x.Mul(y))},
		{"d", z.Sub(result(x, y, and(x, y, Cell(2))))},
	}}
}

// and returns the bitwise AND of two digits of base 4, given their product. It is a polynomial of degree 3,
// as each x^i y^j, i, j < 4, is a power of the product times a power of x or y.
func and(x, y, product Expr) Expr {
	// The Lagrange polynomials of 0, 1, 2, 3.
	var points []fr.Element
	for i := range uint64(4) {
		points = append(points, fr.NewElement(i))
	}
	lagrange := lagrangeCoefficients(points)
	var sum Expr
	for i := range 4 {
		for j := range 4 {
			// The coefficient of x^i y^j.
			var c fr.Element
			for a := range 4 {
				for b := range 4 {
					value := fr.NewElement(uint64(a & b))
					value.Mul(&value, &lagrange[i][a]).Mul(&value, &lagrange[j][b])
					c.Add(&c, &value)
				}
			}
			term, other := Const(c), x
			if j > i {
				other = y
			}
			for range min(i, j) {
				term = term.Mul(product)
			}
			for range max(i, j) - min(i, j) {
				term = term.Mul(other)
			}
			sum = sum.Add(term)
		}
	}
	return sum
}

// curveB is the b of Grumpkin, y² = x³ - 17, whose coordinates are scalars of BN254.
const curveB = -17

// added returns the terms of P + A = Q for points that are neither equal nor opposite; for others the terms
// say nothing of Q. The square of A's y is computed from the curve's equation, so that its degree does not
// count.
func added(x, y, xa, ya, xq, yq Expr) []Term {
	run := xa.Sub(x)
	return []Term{
		{"sum's x", xq.Add(x).Add(xa).Mul(run.Square()).Add(y.Add(y).Mul(ya)).Sub(xa.Square().Mul(xa)).Sub(y.Square()).Sub(Int(curveB))},
		{"sum's y", yq.Add(y).Mul(run).Sub(ya.Sub(y).Mul(x.Sub(xq)))},
	}
}

// PointAdd returns the gate that adds two Grumpkin points. One is in columns a and b (0 and 1), the other in
// columns c and d (2 and 3). The sum is in columns a and b of the next row. The points must be on the curve,
// and neither equal nor opposite.
func PointAdd() *Gate { return pointAdd.clone() }

var pointAdd = &Gate{Name: "point addition", Terms: added(Cell(0), Cell(1), Cell(2), Cell(3), Next(0), Next(1))}

// PointDouble returns the gate that doubles the Grumpkin point in columns a and b (0 and 1). The double is
// in columns a and b of the next row.
func PointDouble() *Gate { return pointDouble.clone() }

var pointDouble = &Gate{Name: "point doubling", Terms: func() []Term {
	x, y, x2, y2 := Cell(0), Cell(1), Next(0), Next(1)
	square, twice := x.Square(), y.Add(y)
	return []Term{
		{"double's x", x2.Add(x).Add(x).Mul(twice.Square()).Sub(Int(9).Mul(square.Square()))},
		{"double's y", y2.Add(y).Mul(twice).Sub(Int(3).Mul(square).Mul(x.Sub(x2)))},
	}
}()}

// Ladder returns the gate that adds the point e·P to the point in columns a and b (0 and 1). P is a
// constant point, and e is a digit: -3, -1, 1 or 3. The sum is in columns a and b of the next row. The
// digit e is the value in column d (3) of the next row minus 4 times the value in column d of this row.
// Column c (2) holds the x-coordinate of e·P. The function LadderParams computes the row's parameters
// x_1, x_0, y_1 and y_0 from P. The coordinates of e·P are then
//
//	x = x_1·e² + x_0, y = e·(y_1·x + y_0).
func Ladder() *Gate { return ladder.clone() }

var ladder = &Gate{Name: "ladder", Terms: func() []Term {
	digit := appended(Next(3), Cell(3))
	square := digit.Square()
	xa := Cell(2)
	ya := digit.Mul(Param(2).Mul(xa).Add(Param(3)))
	return append([]Term{
		{"digit", square.Sub(Int(1)).Mul(square.Sub(Int(9)))},
		{"multiple's x", xa.Sub(Param(0).Mul(square)).Sub(Param(1))},
	}, added(Cell(0), Cell(1), xa, ya, Next(0), Next(1))...)
}()}

// Window returns the gate that adds the point in columns 3 and 4 to the point in columns 1 and 2. The sum
// is in columns 1 and 2 of the next row. The lookup of the same row decides which point is added.
func Window() *Gate { return window.clone() }

var window = &Gate{Name: "window", Terms: added(Cell(1), Cell(2), Cell(3), Cell(4), Next(1), Next(2))}

// LadderParams returns the parameters of the gate Ladder for a constant point, from the point and its
// triple.
func LadderParams(point, triple grumpkin.G1Affine) [4]fr.Element {
	x, y := fr.Element(point.X), fr.Element(point.Y) // of one field
	x3, y3 := fr.Element(triple.X), fr.Element(triple.Y)
	var x1, x0, y1, y0, run fr.Element
	run.Sub(&x3, &x)
	x1.Mul(&run, inverse(8)) // x_1 + x_0 = x, 9 x_1 + x_0 = x3
	x0.Sub(&x, &x1)
	y1.Mul(&y3, inverse(3)).Sub(&y1, &y).Div(&y1, &run) // y_1 x + y_0 = y, 3 (y_1 x3 + y_0) = y3
	y0.Mul(&y1, &x).Sub(&y, &y0)
	return [4]fr.Element{x1, x0, y1, y0}
}

func inverse(i uint64) *fr.Element {
	e := fr.NewElement(i)
	return e.Inverse(&e)
}
