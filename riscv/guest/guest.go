// Package guest is for programs in Go that run as guests of package riscv. It reads the input, writes
// the output, and marks sections: named regions whose instructions are counted separately.
//
//	input := guest.Input()
//	guest.Begin("hash")
//	sum := sha256.Sum256(input)
//	guest.End()
//	guest.Commit(sum[:])
//
// If the same program is built for another system, or runs under Linux on RISC-V, it reads its input
// from standard input and writes its output to standard output. Sections then have no effect, and
// precompiles panic.
package guest

import (
	"io"
	"os"
)

// Input returns the whole input. The caller must not change it.
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

// Commit appends p to the output, which would be the public part of a proof. The output has no
// separators between commits, so Commit("ab") followed by Commit("c") gives the same output as
// Commit("a") followed by Commit("bc"). If others choose what is committed, commit to its length too, or
// to a hash: otherwise two different claims can have the same output. The output counts only if the
// guest ends with code 0.
func Commit(p []byte) {
	if machineCommit(p) {
		return
	}
	if _, err := os.Stdout.Write(p); err != nil {
		panic(err)
	}
}

// missing is called by a precompile that the machine does not have. It panics.
//
//lint:ignore U1000 the assembly jumps there
func missing() { panic("guest: a precompile that this machine does not have") }
