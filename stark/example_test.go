package stark_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// A table of one's own: 2^10 rows of the Fibonacci numbers modulo the field's order. The statement names the
// height: without it a proof would say of the last number that it is one of the sequence, and not which.
func Example() {
	const rows = 1 << 10
	// Two columns, a and b; the next row has b and a + b. The first row is public, and so is the
	// last b.
	table := &air.Table{Name: "fibonacci", Columns: 2, State: func(t *air.Builder) {
		a, b := t.Here(0), t.Here(1)
		t.Zero(air.First, "first a", a.Sub(t.Public(0)))
		t.Zero(air.First, "first b", b.Sub(t.Public(1)))
		t.Zero(air.Transition, "next a", t.Next(0).Sub(b))
		t.Zero(air.Transition, "next b", t.Next(1).Sub(a.Add(b)))
		t.Zero(air.Last, "last b", b.Sub(t.Public(2)))
	}}

	const order = 1<<31 - 1<<24 + 1 // KoalaBear's
	var column [2][rows]uint64
	column[1][0] = 1
	for i := 1; i < rows; i++ {
		column[0][i] = column[1][i-1]
		column[1][i] = (column[0][i-1] + column[1][i-1]) % order
	}
	trace := stark.Trace{Rows: rows, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
		for i := range cells.Rows() {
			cells.Set(i, 0, column[0][i])
			cells.Set(i, 1, column[1][i])
		}
		return nil
	}}

	params, err := stark.Secure100(stark.KoalaBear, 3) // at rate 1/8
	if err != nil {
		log.Fatal(err)
	}
	system, err := stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, table)
	if err != nil {
		log.Fatal(err)
	}
	statement := stark.Statement{
		Forms:   []stark.Form{{rows}},
		Publics: []uint64{0, 1, column[1][rows-1]},
		Context: []byte("example"),
	}
	proof, err := system.Prove(context.Background(), executor.Pool(), []stark.Trace{trace}, statement, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("right number:", system.Verify(proof, statement))

	// The number in row 63 is right in a table of 64 rows. That is another statement.
	short := statement
	short.Forms, short.Publics = []stark.Form{{64}}, []uint64{0, 1, column[1][63]}
	proof64, err := system.Prove(context.Background(), executor.Pool(), []stark.Trace{{Rows: 64, Fill: trace.Fill}}, short, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	statement.Publics[2] = column[1][63]
	fmt.Println("in row 63:   ", system.Verify(proof64, statement))

	statement.Publics[2]++
	fmt.Println("another one: ", system.Verify(proof, statement))
	_, err = system.Prove(context.Background(), executor.Pool(), []stark.Trace{trace}, statement, stark.Options{})
	fmt.Println("to prove it: ", err)
	// Output:
	// right number: <nil>
	// in row 63:    proof rejected: tables of [64] rows, the statement accepts [[1024]]
	// another one:  proof rejected: table "fibonacci": its constraints do not hold
	// to prove it:  unsatisfied circuit: table "fibonacci", row 1023: last b
}
