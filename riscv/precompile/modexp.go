package precompile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"

	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
)

// mostPower is the maximum number of bytes of the base, the exponent and the modulus, as in EIP-7823.
const mostPower = 1024

// modExp returns the precompile for modular exponentiation (EIP-198). A result modulo 0 is 0, and 0 to the
// power 0 is 1. There are not enough registers for the seven arguments, so a0 is their address.
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
		if modulus.Sign() > 0 { // Exp with modulus 0 does not reduce
			power.Exp(base, exponent, modulus)
		}
		return g.Write(word(6), power.FillBytes(make([]byte, word(5))))
	})
}
