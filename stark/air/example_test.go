package air_test

import (
	"fmt"

	"github.com/zkbench/zkbench/stark/air"
)

// rowsOfIntegers computes the values of a Program's steps over the integers, in two rows.
type rowsOfIntegers struct{ here, next []int64 }

func (rowsOfIntegers) Constant(c air.Int) int64 {
	if c.Negative {
		return -int64(c.Abs)
	}
	return int64(c.Abs)
}
func (a rowsOfIntegers) Here(column int) int64 { return a.here[column] }
func (a rowsOfIntegers) Next(column int) int64 { return a.next[column] }
func (rowsOfIntegers) Fixed(int) int64         { return 0 }
func (rowsOfIntegers) Public(int) int64        { return 0 }
func (rowsOfIntegers) Add(x, y int64) int64    { return x + y }
func (rowsOfIntegers) Sub(x, y int64) int64    { return x - y }
func (rowsOfIntegers) Mul(x, y int64) int64    { return x * y }

// A table in which each row holds the square of the row before. The constraint is 0 for 3 and 9, and not for 3 and 8.
func Example() {
	squares := &air.Table{Name: "squares", Columns: 1, State: func(b *air.Builder) {
		b.Zero(air.Transition, "square", b.Next(0).Sub(b.Here(0).Mul(b.Here(0))))
	}}
	program, err := squares.Compile()
	if err != nil {
		panic(err)
	}
	square := program.Constraints[0]
	fmt.Println("degree", program.Degree(), square.Name, square.Where)
	for _, next := range []int64{9, 8} {
		fmt.Println(air.Evaluate(program, rowsOfIntegers{here: []int64{3}, next: []int64{next}})[square.Step])
	}
	// Output:
	// degree 2 square in all rows but the last
	// 0
	// -1
}
