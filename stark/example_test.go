package stark_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// A table of one's own: 2^10 steps of the Fibonacci numbers modulo the field's order.
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
		for i := range rows {
			cells.Set(i, 0, column[0][i])
			cells.Set(i, 1, column[1][i])
		}
		return nil
	}}

	set, err := stark.Secure100(stark.KoalaBear, 3) // at rate 1/8
	if err != nil {
		log.Fatal(err)
	}
	system, err := stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: set}, table)
	if err != nil {
		log.Fatal(err)
	}
	statement := stark.Statement{Publics: []uint64{0, 1, column[1][rows-1]}, Context: []byte("example")}
	proof, err := system.Prove(context.Background(), executor.Pool(), []stark.Trace{trace}, statement, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("right number:", system.Verify(proof, statement))

	statement.Publics[2]++
	fmt.Println("another one: ", system.Verify(proof, statement))
	_, err = system.Prove(context.Background(), executor.Pool(), []stark.Trace{trace}, statement, stark.Options{})
	fmt.Println("to prove it: ", err)
	// Output:
	// right number: <nil>
	// another one:  proof rejected: table "fibonacci": its constraints do not hold
	// to prove it:  unsatisfied circuit: table "fibonacci", row 1023: last b
}
