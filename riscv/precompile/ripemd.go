package precompile

import (
	"golang.org/x/crypto/ripemd160" //lint:ignore SA1019 the interface has it, for the EVM's precompile 3

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// ripemd is RIPEMD-160, to 32 bytes, the first twelve zero.
func ripemd() riscv.Precompile {
	return accelerator("ripemd160", call.RIPEMD160, func(g riscv.Guest, args [6]uint64) error {
		sum, err := digest(g, ripemd160.New(), paddingWithLength, args[0], args[1])
		if err != nil {
			return err
		}
		return g.Write(args[2], append(make([]byte, 32-len(sum)), sum...))
	})
}
