package guest

import (
	"unsafe"

	"github.com/zkbench/zkbench/riscv/call"
)

//lint:file-ignore U1000 the assembly uses them

// The numbers of the calls.
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

// Numbers are of 256 bits, the least word first, and canonical: below their modulus. z may be x or y.

// MulMod is z = x·y mod m.
//
//go:noescape
func MulMod(z, x, y, m *[4]uint64)

// FpAdd is z = x + y in the base field of BN254.
//
//go:noescape
func FpAdd(z, x, y *[4]uint64)

// FpSub is z = x - y in the base field of BN254.
//
//go:noescape
func FpSub(z, x, y *[4]uint64)

// FpMul is z = x·y in the base field of BN254.
//
//go:noescape
func FpMul(z, x, y *[4]uint64)

// Fp2Add is z = x + y of a0 + a1·u, a0 first, where u² = -1.
//
//go:noescape
func Fp2Add(z, x, y *[8]uint64)

// Fp2Sub is z = x - y of a0 + a1·u.
//
//go:noescape
func Fp2Sub(z, x, y *[8]uint64)

// Fp2Mul is z = x·y of a0 + a1·u.
//
//go:noescape
func Fp2Mul(z, x, y *[8]uint64)

// G1Add is z = x + y of points of BN254, x before y, whose x differ. A point that is not on the curve ends the guest.
//
//go:noescape
func G1Add(z, x, y *[8]uint64)

// G1Double is z = 2x of a point of BN254. A point that is not on the curve ends the guest.
//
//go:noescape
func G1Double(z, x *[8]uint64)

// Keccak256 is the hash of p.
func Keccak256(p []byte) (sum [32]byte) {
	keccak256(&sum, unsafe.SliceData(p), len(p))
	return sum
}

//go:noescape
func keccak256(z *[32]byte, x *byte, n int)

// SHA256 is the hash of p.
func SHA256(p []byte) (sum [32]byte) {
	sha256(&sum, unsafe.SliceData(p), len(p))
	return sum
}

//go:noescape
func sha256(z *[32]byte, x *byte, n int)
