// Package limbs is what the fields of the guest have in common: integers of four 64-bit limbs, the
// least first, and sums modulo p, the modulus of BN254's base field.
//
// RISC-V has no carry flag: a carry is a comparison, and an instruction that is branched over costs
// nothing. Nothing here takes constant time.
package limbs

import "math/bits"

// Limbs of p, 2²⁵³ < p < 2²⁵⁴.
const (
	P0 = 0x3c208c16d87cfd47
	P1 = 0x97816a916871ca8d
	P2 = 0xb85045b68181585d
	P3 = 0x30644e72e131a029
)

// P is the modulus.
var P = [4]uint64{P0, P1, P2, P3}

// Reduce returns t modulo p, for t < 2p.
func Reduce(t0, t1, t2, t3 uint64) (uint64, uint64, uint64, uint64) {
	r0, b := bits.Sub64(t0, P0, 0)
	r1, b := bits.Sub64(t1, P1, b)
	r2, b := bits.Sub64(t2, P2, b)
	r3, b := bits.Sub64(t3, P3, b)
	if b != 0 {
		return t0, t1, t2, t3
	}
	return r0, r1, r2, r3
}

// Add sets z to x + y modulo p, for x, y < p.
func Add(z, x, y *[4]uint64) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c := bits.Add64(x[1], y[1], c)
	t2, c := bits.Add64(x[2], y[2], c)
	t3 := x[3] + y[3] + c // 2p < 2²⁵⁶
	if t3 >= P3 {
		t0, t1, t2, t3 = Reduce(t0, t1, t2, t3)
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}

// Sub sets z to x - y modulo p, for x, y < p.
func Sub(z, x, y *[4]uint64) {
	t0, b := bits.Sub64(x[0], y[0], 0)
	t1, b := bits.Sub64(x[1], y[1], b)
	t2, b := bits.Sub64(x[2], y[2], b)
	t3, b := bits.Sub64(x[3], y[3], b)
	if b != 0 {
		var c uint64
		t0, c = bits.Add64(t0, P0, 0)
		t1, c = bits.Add64(t1, P1, c)
		t2, c = bits.Add64(t2, P2, c)
		t3 += P3 + c
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}
