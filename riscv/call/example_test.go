package call_test

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// A precompile of one's own has a number from Own on. This one doubles a number, which the guest then ends with.
func Example() {
	const a0, a7, exit, ecall = 10, 17, 93, 0x73
	program, err := riscv.Load(rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(
		rv.Addi(a0, 0, 21), rv.Lui(a7, call.Own), ecall,
		rv.Addi(a0, a0, -42), rv.Addi(a7, 0, exit), ecall, // with code 0 if it was doubled
	)}), nil)
	if err != nil {
		panic(err)
	}
	double := riscv.Precompile{Name: "double", Number: call.Own, Do: func(_ riscv.Guest, args [6]uint64) (uint64, error) {
		return 2 * args[0], nil
	}}
	r, err := riscv.Run(context.Background(), program, riscv.Options{Precompiles: []riscv.Precompile{double}})
	fmt.Println(err)
	fmt.Println(r.Precompiles[0].Name, "was called", r.Precompiles[0].Calls, "time in", r.Cycles, "instructions")
	// Output:
	// <nil>
	// double was called 1 time in 6 instructions
}
