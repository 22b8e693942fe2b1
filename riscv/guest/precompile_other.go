//go:build !riscv64

package guest

// MulMod sets z = x·y mod m. It ends the guest with a fault if x or y is not below m.
func MulMod(z, x, y, m *[4]uint64) { missing() }

// FpAdd sets z = x + y in Fp, the base field of BN254.
func FpAdd(z, x, y *[4]uint64) { missing() }

// FpSub sets z = x - y in Fp, the base field of BN254.
func FpSub(z, x, y *[4]uint64) { missing() }

// FpMul sets z = x·y in Fp, the base field of BN254.
func FpMul(z, x, y *[4]uint64) { missing() }

// Fp2Add sets z = x + y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
func Fp2Add(z, x, y *[8]uint64) { missing() }

// Fp2Sub sets z = x - y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
func Fp2Sub(z, x, y *[8]uint64) { missing() }

// Fp2Mul sets z = x·y in Fp2 of BN254. Elements are a0 + a1·u with u² = -1, a0 first.
func Fp2Mul(z, x, y *[8]uint64) { missing() }

// G1Add sets z = x + y in G1 of BN254. A point is given by its affine coordinates, first the x-coordinate.
// G1Add ends the guest with a fault if the x-coordinates of the two points are equal, or if one of the
// points is not on the curve.
func G1Add(z, x, y *[8]uint64) { missing() }

// G1Double sets z = 2x in G1 of BN254. A point is given by its affine coordinates, first the x-coordinate.
// G1Double ends the guest with a fault if x is not on the curve.
func G1Double(z, x *[8]uint64) { missing() }

// Keccak256 returns the Keccak-256 hash of p. It uses the padding of the original Keccak, and not that of
// SHA-3.
func Keccak256(p []byte) (sum [32]byte) { missing(); return sum }

// SHA256 returns the SHA-256 hash of p.
func SHA256(p []byte) (sum [32]byte) { missing(); return sum }
