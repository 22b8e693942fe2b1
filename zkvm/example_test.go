package zkvm_test

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/zkvm"
)

// echo is a program that commits to its input. Others are made from C, C++ and Rust, as riscv/c and examples/guest show.
func echo() []byte {
	const a0, a7, exit, ecall = 10, 17, 93, 0x73
	return rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(
		rv.Lui(a7, call.Input), ecall, // its address and length are in a0 and a1 then
		rv.Addi(a7, a7, call.Commit-call.Input), ecall,
		rv.Addi(a7, 0, exit), ecall, // with the code in a0, which is 0
	)})
}

func Example() {
	ctx, ex := context.Background(), executor.Pool()
	program, err := zkvm.Load(echo())
	if err != nil {
		panic(err)
	}
	proof, _, err := program.Prove(ctx, ex, []byte("a message"), zkvm.About{}, zkvm.Options{})
	if err != nil {
		panic(err)
	}

	// Who verifies has the key from somebody who has the program, and not from the prover.
	key, err := program.Key(ctx, ex, "")
	if err != nil {
		panic(err)
	}
	run, err := zkvm.Verify(key, proof, zkvm.About{})
	fmt.Println(err)
	fmt.Printf("%s, after %d instructions\n", run.Output, run.Cycles)
	fmt.Println("of this input:", run.Input == zkvm.DigestOf([]byte("a message")))
	// Output:
	// <nil>
	// a message, after 6 instructions
	// of this input: true
}
