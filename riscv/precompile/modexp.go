package precompile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// mostPower is how many bytes each number of a power has, as in EIP-7823.
const mostPower = 1024

// modExp is base to the exponent modulo a number (EIP-198): 0 modulo 0, and the power of 0 to 0 is 1. Seven
// arguments are more than registers, so a0 has where they are.
func modExp() riscv.Precompile {
	return accelerator("modexp", call.ModExp, func(g riscv.Guest, args [6]uint64) error {
		raw, err := read(g, args[0], 7*8)
		if err != nil {
			return err
		}
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8*i:]) }
		var numbers [3]*big.Int
		for i := range numbers {
			n := word(2*i + 1)
			if n > mostPower {
				return fmt.Errorf("a number of %d bytes; accepted: %d", n, mostPower)
			}
			digits, errRead := read(g, word(2*i), int(n))
			numbers[i], err = new(big.Int).SetBytes(digits), errors.Join(err, errRead)
		}
		if err != nil {
			return err
		}
		base, exponent, modulus := numbers[0], numbers[1], numbers[2]
		power := new(big.Int)
		if modulus.Sign() > 0 { // for Exp, modulo 0 is modulo nothing
			power.Exp(base, exponent, modulus)
		}
		return g.Write(word(6), power.FillBytes(make([]byte, word(5))))
	})
}
