package guest

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/call"
)

//lint:file-ignore U1000 the assembly uses them

// The numbers of the precompiles, for the assembly.
const (
	mulMod        = call.MulMod
	fpAdd         = call.FpAdd
	fpSub         = call.FpSub
	fpMul         = call.FpMul
	fp2Add        = call.Fp2Add
	fp2Sub        = call.Fp2Sub
	fp2Mul        = call.Fp2Mul
	g1Add         = call.G1Add
	g1Double      = call.G1Double
	hashKeccak256 = call.Keccak256
	hashSHA256    = call.SHA256
)

// Numbers have 256 bits, the least significant word first, and must be below their modulus. z may be x or y.

// MulMod sets z = x·y mod m. It ends the guest with a fault if x or y is not below m.
//
//go:noescape
func MulMod(z, x, y, m *[4]uint64)

// FpAdd sets z = x + y in Fp, the base field of BN254.
//
//go:noescape
func FpAdd(z, x, y *[4]uint64)

// FpSub sets z = x - y in Fp, the base field of BN254.
//
//go:noescape
func FpSub(z, x, y *[4]uint64)

// FpMul sets z = x·y in Fp, the base field of BN254.
//
//go:noescape
func FpMul(z, x, y *[4]uint64)

// Fp2Add sets z = x + y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
//
//go:noescape
func Fp2Add(z, x, y *[8]uint64)

// Fp2Sub sets z = x - y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
//
//go:noescape
func Fp2Sub(z, x, y *[8]uint64)

// Fp2Mul sets z = x·y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
//
//go:noescape
func Fp2Mul(z, x, y *[8]uint64)

// G1Add sets z = x + y in G1 of BN254. A point is given by its affine coordinates, first the x-coordinate.
// G1Add ends the guest with a fault if the x-coordinates of the two points are equal, or if one of the
// points is not on the curve.
//
//go:noescape
func G1Add(z, x, y *[8]uint64)

// G1Double sets z = 2x in G1 of BN254. A point is given by its affine coordinates, first the x-coordinate.
// G1Double ends the guest with a fault if x is not on the curve.
//
//go:noescape
func G1Double(z, x *[8]uint64)

// Keccak256 returns the Keccak-256 hash of p. It uses the padding of the original Keccak, and not that of
// SHA-3.
func Keccak256(p []byte) (sum [32]byte) {
	keccak256(&sum, unsafe.SliceData(p), len(p))
	return sum
}

//go:noescape
func keccak256(z *[32]byte, x *byte, n int)

// SHA256 returns the SHA-256 hash of p.
func SHA256(p []byte) (sum [32]byte) {
	sha256(&sum, unsafe.SliceData(p), len(p))
	return sum
}

//go:noescape
func sha256(z *[32]byte, x *byte, n int)
