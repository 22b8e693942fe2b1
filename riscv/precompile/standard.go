package precompile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/riscv"
)

// Standard are all functions of the C interface for accelerators in eth-act/zkvm-standards: numbers are
// big-endian, points x before y and all zero at infinity, an element of Fp2 as the EIP of its curve has it. A
// guest is told of inputs that are not valid; an address that it may not access, and what is beyond a limit
// of this machine, end it.
func Standard() []riscv.Precompile {
	return slices.Concat(Hashes(), []riscv.Precompile{
		secp256k1Verify(), secp256k1Recover(), secp256r1Verify(), ripemd(), modExp(),
		bn254G1Add(), bn254G1Mul(), bn254Pairing(), blake2f(), kzgPointEval(),
		bls12G1Add(), bls12G1MSM(), bls12G2Add(), bls12G2MSM(), bls12Pairing(), bls12MapToG1(), bls12MapToG2(),
	})
}

// failed is ZKVM_EFAIL, -1.
const failed = ^uint64(0)

// errInvalid is what a guest is told of by failed: of what it has passed there is no result.
var errInvalid = errors.New("not valid")

// accelerator is a function of the interface.
func accelerator(name string, number uint64, do func(g riscv.Guest, args [6]uint64) error) riscv.Precompile {
	return riscv.Precompile{Name: name, Number: number, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		err := do(g, args)
		if errors.Is(err, errInvalid) {
			return failed, nil
		}
		return 0, err
	}}
}

// check is a function of the interface that verifies: the answer, a byte, goes to the address in register a0 + to.
// That is false of invalid inputs too, so that a guest which does not look at the status does not go on with what
// was there before.
func check(name string, number uint64, to int, do func(g riscv.Guest, args [6]uint64) (bool, error)) riscv.Precompile {
	return accelerator(name, number, func(g riscv.Guest, args [6]uint64) error {
		verified, err := do(g, args)
		if err != nil && !errors.Is(err, errInvalid) {
			return err
		}
		answer := byte(0)
		if verified && err == nil {
			answer = 1
		}
		return cmp.Or(g.Write(args[to], []byte{answer}), err)
	})
}

// mostTerms is how many pairs one call takes.
const mostTerms = 1 << 12

// read reads n bytes.
func read(g riscv.Guest, addr uint64, n int) ([]byte, error) {
	raw := make([]byte, n)
	return raw, g.Read(addr, raw)
}

// readAll reads what is at several addresses, n bytes each, one after the other.
func readAll(g riscv.Guest, n int, at ...uint64) (raw []byte, err error) {
	for _, addr := range at {
		part, err := read(g, addr, n)
		if err != nil {
			return nil, err
		}
		raw = append(raw, part...)
	}
	return raw, nil
}

// readTerms reads pairs, size bytes each, which are the call's units.
func readTerms(g riscv.Guest, addr, count uint64, size int) ([]byte, error) {
	if count > mostTerms {
		return nil, fmt.Errorf("%d pairs; accepted: %d", count, mostTerms)
	}
	g.Units(count)
	return read(g, addr, int(count)*size)
}
