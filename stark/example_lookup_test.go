package stark_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// Two tables that are linked by a bus: the rows of one ask whether their numbers are below 256, and the rows of
// the other, which are 0 to 255, answer.
func Example_lookup() {
	numbers := &air.Table{Name: "numbers", Columns: 2, State: func(t *air.Builder) {
		number, isUsed := t.Here(0), t.Here(1)
		t.Ask("byte", isUsed, number) // that isUsed is 0 or 1 follows
	}}
	bytes := &air.Table{Name: "bytes", Columns: 2, State: func(t *air.Builder) {
		b, times := t.Here(0), t.Here(1)
		t.Zero(air.First, "begins with 0", b)
		t.Zero(air.Transition, "counts", t.Next(0).Sub(b).Plus(-1))
		t.Answer("byte", times, b) // as often as the prover likes: b is a byte in every row
	}}
	params, err := stark.Secure100(stark.KoalaBear, 3)
	if err != nil {
		log.Fatal(err)
	}
	system, err := stark.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Params: params}, numbers, bytes)
	if err != nil {
		log.Fatal(err)
	}
	// With 512 rows the second table would have 511, and answer for it.
	statement := stark.Statement{Forms: []stark.Form{{64, 256}}}
	traces := func(all ...uint64) []stark.Trace {
		return []stark.Trace{
			{Rows: 64, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
				for i, n := range all {
					cells.Set(i, 0, n)
					cells.Set(i, 1, 1)
				}
				return nil
			}},
			{Rows: 256, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
				var times [256]uint64
				for _, n := range all {
					times[n%256]++
				}
				for b, n := range times {
					cells.Set(b, 0, uint64(b))
					cells.Set(b, 1, n)
				}
				return nil
			}},
		}
	}
	proof, err := system.Prove(context.Background(), executor.Pool(), traces(7, 255, 7), statement, stark.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(system.Verify(proof, statement))
	_, err = system.Prove(context.Background(), executor.Pool(), traces(7, 1000), statement, stark.Options{})
	fmt.Println(err)
	// Output:
	// <nil>
	// unsatisfied circuit: bus "byte": the tuple of table "bytes", row 232 is answered 1 times more than it is asked for
}
