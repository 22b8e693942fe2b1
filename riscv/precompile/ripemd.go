package precompile

import (
	"golang.org/x/crypto/ripemd160" //lint:ignore SA1019 the interface has it, for the EVM's precompile 3

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// ripemd returns the precompile for RIPEMD-160. Its result has 32 bytes; the first twelve are zero.
func ripemd() riscv.Precompile {
	return accelerator("ripemd160", call.RIPEMD160, func(g riscv.Guest, args [6]uint64) error {
		sum, err := digest(g, ripemd160.New(), paddingWithLength, args[0], args[1])
		if err != nil {
			return err
		}
		return g.Write(args[2], append(make([]byte, 32-len(sum)), sum...))
	})
}
