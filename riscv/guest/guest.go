// Package guest is what a program in Go calls when it is a guest of package riscv:
//
//	input := guest.Input()
//	guest.Begin("hash")
//	sum := sha256.Sum256(input)
//	guest.End()
//	guest.Commit(sum[:])
//
// Built for another system, or under Linux for RISC-V, the same program reads its input from standard
// input and writes its output to standard output; sections are not counted there, and precompiles panic.
package guest

import (
	"io"
	"os"
)

// Input is the whole input. It is not written to.
func Input() []byte {
	if input, ok := machineInput(); ok {
		return input
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	return input
}

// Commit appends to the output, what is public of a run. What is committed in parts has no borders between
// them: a guest that commits to what others chose says its length too, or commits to a hash, or two claims have
// one output. The output counts if the guest ends with code 0.
func Commit(p []byte) {
	if machineCommit(p) {
		return
	}
	if _, err := os.Stdout.Write(p); err != nil {
		panic(err)
	}
}

// missing is where a precompile ends that the machine does not have.
//
//lint:ignore U1000 the assembly jumps there
func missing() { panic("guest: a precompile that this machine does not have") }
