package stark_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// One system that proves what any program of a small machine computes. The program is an image: each row adds a number
// to the accumulator, or multiplies the accumulator by it. The verifier needs 513 bytes of the program.
func Example_image() {
	const rows = 64
	machine := &air.Table{Name: "machine", Columns: 1, Image: 2, State: func(t *air.Builder) {
		multiplies, number, accumulator := t.Fixed(0), t.Fixed(1), t.Here(0)
		sum, product := accumulator.Add(number), accumulator.Mul(number)
		t.Zero(air.Everywhere, "one of two operations", multiplies.Bool()) // an image may be anything
		t.Zero(air.First, "begins", accumulator.Sub(t.Public(0)))
		t.Zero(air.Transition, "computes", t.Next(0).Sub(sum).Sub(multiplies.Mul(product.Sub(sum))))
		t.Zero(air.Last, "ends", accumulator.Sub(t.Public(1)))
	}}
	params, err := stark.Secure100(stark.Goldilocks, 3)
	if err != nil {
		log.Fatal(err)
	}
	system, err := stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: params}, machine)
	if err != nil {
		log.Fatal(err)
	}
	// The program that adds or multiplies by the given number in its first row, and adds 0 in all others.
	program := func(multiplies, number uint64) *stark.Image {
		contents := [][]uint64{make([]uint64, rows), make([]uint64, rows)}
		contents[0][0], contents[1][0] = multiplies, number
		image, err := system.Image(context.Background(), executor.Pool(), contents)
		if err != nil {
			log.Fatal(err)
		}
		return image
	}
	run := func(image *stark.Image, input, output uint64) (proof []byte, err error) {
		trace := stark.Trace{Rows: rows, Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
			cells.Set(0, 0, input)
			for row := 1; row < rows; row++ {
				cells.Set(row, 0, output)
			}
			return nil
		}}
		about := stark.Statement{Forms: []stark.Form{{rows}}, Publics: []uint64{input, output}, Image: image}
		return system.Prove(context.Background(), executor.Pool(), []stark.Trace{trace}, about, stark.Options{})
	}
	plus7, times7 := program(0, 7), program(1, 7)
	proof, err := run(plus7, 5, 12)
	if err != nil {
		log.Fatal(err)
	}
	commitment := plus7.Bytes()
	known, err := system.DecodeImage(commitment)
	if err != nil {
		log.Fatal(err)
	}
	statement := stark.Statement{Forms: []stark.Form{{rows}}, Publics: []uint64{5, 12}, Image: known}
	fmt.Println(len(commitment), system.Verify(proof, statement))
	statement.Image = times7
	fmt.Println(system.Verify(proof, statement))
	_, err = run(times7, 5, 12)
	fmt.Println(err)
	// Output:
	// 513 <nil>
	// proof rejected: table "machine": its constraints do not hold
	// unsatisfied circuit: table "machine", row 0: computes
}
