package precompile_test

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/riscv/precompile"
)

// A guest has the machine hash its input, and commits to the hash. In Go the guest would call guest.SHA256 and
// guest.Commit; here its instructions are written out. Without the precompile, the call is a fault.
func Example() {
	const a0, a1, a2, a7, result, exit, ecall = 10, 11, 12, 17, 0x20000, 93, 0x73
	number := func(n uint32) (lui, addi uint32) { return rv.Lui(a7, n), rv.Addi(a7, a7, int32(n&0xfff)) }
	input, low0 := number(call.Input)
	hash, low1 := number(call.SHA256)
	commit, low2 := number(call.Commit)
	program, err := riscv.Load(rv.ELF(64, 0x10000, rv.Segment{At: 0x10000, Flags: 5, Data: rv.Text(
		input, low0, ecall, // a0 is its address, a1 its length
		rv.Addi(a2, a1, 0), rv.Addi(a1, a0, 0), rv.Lui(a0, result), hash, low1, ecall,
		rv.Lui(a0, result), rv.Addi(a1, 0, sha256.Size), commit, low2, ecall,
		rv.Addi(a0, 0, 0), rv.Addi(a7, 0, exit), ecall,
	)}, rv.Segment{At: result, Flags: 6, Data: make([]byte, sha256.Size)}), nil)
	if err != nil {
		panic(err)
	}
	for _, precompiles := range [][]riscv.Precompile{precompile.Hashes(), nil} {
		r, err := riscv.Run(context.Background(), program, riscv.Options{Input: []byte("abc"), Precompiles: precompiles})
		fmt.Println(len(precompiles) > 0, err == nil, fmt.Sprintf("%x", r.Output) == fmt.Sprintf("%x", sha256.Sum256([]byte("abc"))))
	}
	// Output:
	// true true true
	// false false false
}
