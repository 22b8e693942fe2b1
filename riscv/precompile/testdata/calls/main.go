// Command calls executes the operations in its input with precompiles, and commits to the results. An
// operation is a byte that selects it, a byte with the length of its arguments, and the arguments.
package main

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/guest"
)

// four copies a number of 256 bits.
func four(p []byte) *[4]uint64 {
	v := new([4]uint64)
	copy((*[32]byte)(unsafe.Pointer(v))[:], p)
	return v
}

// eight copies a pair of numbers of 256 bits.
func eight(p []byte) *[8]uint64 {
	v := new([8]uint64)
	copy((*[64]byte)(unsafe.Pointer(v))[:], p)
	return v
}

func main() {
	input := guest.Input()
	for len(input) > 0 {
		op, args := input[0], input[2:][:input[1]]
		input = input[2+len(args):]
		var z [8]uint64
		z4 := (*[4]uint64)(z[:4])
		n := 4
		guest.Begin("work")
		switch op {
		case 0:
			guest.MulMod(z4, four(args), four(args[32:]), four(args[64:]))
		case 1:
			guest.FpAdd(z4, four(args), four(args[32:]))
		case 2:
			guest.FpSub(z4, four(args), four(args[32:]))
		case 3:
			guest.FpMul(z4, four(args), four(args[32:]))
		case 4:
			n = 8
			guest.Fp2Add(&z, eight(args), eight(args[64:]))
		case 5:
			n = 8
			guest.Fp2Sub(&z, eight(args), eight(args[64:]))
		case 6:
			n = 8
			guest.Fp2Mul(&z, eight(args), eight(args[64:]))
		case 7:
			n = 8
			guest.G1Add(&z, eight(args), eight(args[64:]))
		case 8:
			n = 8
			guest.G1Double(&z, eight(args))
		case 9:
			sum := guest.Keccak256(args)
			z4 = four(sum[:])
			copy(z[:], z4[:])
		case 10:
			sum := guest.SHA256(args)
			z4 = four(sum[:])
			copy(z[:], z4[:])
		}
		guest.End()
		guest.Commit((*[64]byte)(unsafe.Pointer(&z))[:8*n])
	}
}
