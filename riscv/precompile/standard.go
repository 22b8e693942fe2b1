package precompile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/riscv"
)

// Standard returns a precompile for each function of the C interface for accelerators in
// eth-act/zkvm-standards. Numbers are big-endian. A point is x and then y; for the point at infinity, both
// are zero. Elements of Fp2 are encoded as in the EIP of their curve. If inputs are not valid, the call
// returns a status and the guest continues. If the guest may not access an address, or if the call exceeds a
// limit of this machine, the guest ends with a fault.
func Standard() []riscv.Precompile {
	return slices.Concat(Hashes(), []riscv.Precompile{
		secp256k1Verify(), secp256k1Recover(), secp256r1Verify(), ripemd(), modExp(),
		bn254G1Add(), bn254G1Mul(), bn254Pairing(), blake2f(), kzgPointEval(),
		bls12G1Add(), bls12G1MSM(), bls12G2Add(), bls12G2MSM(), bls12Pairing(), bls12MapToG1(), bls12MapToG2(),
	})
}

// failed is the status ZKVM_EFAIL, -1.
const failed = ^uint64(0)

// errInvalid means that there is no result for the guest's inputs. The guest gets the status failed.
var errInvalid = errors.New("not valid")

// accelerator returns a function of the interface as a precompile.
func accelerator(name string, number uint64, do func(g riscv.Guest, args [6]uint64) error) riscv.Precompile {
	return riscv.Precompile{Name: name, Number: number, Do: func(g riscv.Guest, args [6]uint64) (uint64, error) {
		err := do(g, args)
		if errors.Is(err, errInvalid) {
			return failed, nil
		}
		return 0, err
	}}
}

// check returns a function of the interface that verifies. The answer is one byte, at the address in register
// a0 + to. It is false for invalid inputs too, so that a guest that ignores the status does not continue with
// what was there before.
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

// mostTerms is the maximum number of pairs in one call.
const mostTerms = 1 << 12

// read reads n bytes at an address.
func read(g riscv.Guest, addr uint64, n int) ([]byte, error) {
	raw := make([]byte, n)
	return raw, g.Read(addr, raw)
}

// readAll reads n bytes at each address and concatenates them.
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

// readTerms reads count pairs of size bytes each. The units of the call are the pairs.
func readTerms(g riscv.Guest, addr, count uint64, size int) ([]byte, error) {
	if count > mostTerms {
		return nil, fmt.Errorf("%d pairs; accepted: %d", count, mostTerms)
	}
	g.Units(count)
	return read(g, addr, int(count)*size)
}
