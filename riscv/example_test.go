package riscv_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// A guest commits to its claim first and checks it then: that it is valid if its input is empty. The output counts if it
// ends with code 0, and Run gives none otherwise. The low byte of 256 is 0, and 256 is a failure all the same.
func ExampleRun_exit() {
	words := append(own(call.Input), rv.Addi(9, 11, 0)) // keeps the input's length
	words = append(words, append(number(10, dataAt), number(11, int64(len("valid")))...)...)
	words = append(words, own(call.Commit)...)
	words = append(words, rv.Addi(10, 9, 0)) // the length is the exit code
	words = append(words, system(93)...)
	program, err := riscv.Load(code(words, []byte("valid")), nil)
	if err != nil {
		panic(err)
	}
	for _, length := range []int{0, 1, 256} {
		r, err := riscv.Run(context.Background(), program, riscv.Options{Input: make([]byte, length)})
		fmt.Printf("input of %d: output %q, %v\n", length, r.Output, err)
		if exit, failed := errors.AsType[*riscv.ExitError](err); failed {
			fmt.Printf("it had committed to %q, and then failed with %d\n", exit.Output, exit.Code)
		}
	}
	// Output:
	// input of 0: output "valid", <nil>
	// input of 1: output "", guest: exit code 1
	// it had committed to "valid", and then failed with 1
	// input of 256: output "", guest: exit code 255
	// it had committed to "valid", and then failed with 255
}
