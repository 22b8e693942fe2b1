//go:build !riscv64

package guest

// MulMod is z = x·y mod m.
func MulMod(z, x, y, m *[4]uint64) { missing() }

// FpAdd is z = x + y in the base field of BN254.
func FpAdd(z, x, y *[4]uint64) { missing() }

// FpSub is z = x - y in the base field of BN254.
func FpSub(z, x, y *[4]uint64) { missing() }

// FpMul is z = x·y in the base field of BN254.
func FpMul(z, x, y *[4]uint64) { missing() }

// Fp2Add is z = x + y of a0 + a1·u, a0 first, where u² = -1.
func Fp2Add(z, x, y *[8]uint64) { missing() }

// Fp2Sub is z = x - y of a0 + a1·u.
func Fp2Sub(z, x, y *[8]uint64) { missing() }

// Fp2Mul is z = x·y of a0 + a1·u.
func Fp2Mul(z, x, y *[8]uint64) { missing() }

// G1Add is z = x + y of points of BN254, x before y, whose x differ. A point that is not on the curve ends the guest.
func G1Add(z, x, y *[8]uint64) { missing() }

// G1Double is z = 2x of a point of BN254. A point that is not on the curve ends the guest.
func G1Double(z, x *[8]uint64) { missing() }

// Keccak256 is the hash of p.
func Keccak256(p []byte) (sum [32]byte) { missing(); return sum }

// SHA256 is the hash of p.
func SHA256(p []byte) (sum [32]byte) { missing(); return sum }
