// Package limbs has the code that the guest's implementations of the field share: integers of four
// 64-bit limbs, the least significant first, and sums modulo p, the modulus of BN254's base field.
//
// RISC-V has no carry flag, so a comparison computes each carry. An instruction that a branch
// skips costs nothing. Nothing here runs in constant time.
package limbs

import "math/bits"

// Limbs of p, 2²⁵³ < p < 2²⁵⁴.
const (
	P0 = 0x3c208c16d87cfd47
	P1 = 0x97816a916871ca8d
	P2 = 0xb85045b68181585d
	P3 = 0x30644e72e131a029
)

// P is the modulus p, the least significant limb first.
var P = [4]uint64{P0, P1, P2, P3}

// Add sets z to x + y modulo p, for x, y < p.
func Add(z, x, y *[4]uint64) {
	t0, t1, t2, t3 := sum(x, y)
	reduce(z, t0, t1, t2, t3)
}

// Add2 adds two pairs: z[i] = x[i] + y[i] modulo p, for values below p.
func Add2(z, x, y *[2][4]uint64) {
	t0, t1, t2, t3 := sum(&x[0], &y[0])
	reduce(&z[0], t0, t1, t2, t3)
	t0, t1, t2, t3 = sum(&x[1], &y[1])
	reduce(&z[1], t0, t1, t2, t3)
}

// Sub sets z to x - y modulo p, for x, y < p.
func Sub(z, x, y *[4]uint64) {
	t0, t1, t2, t3, b := difference(x, y)
	lift(z, t0, t1, t2, t3, b)
}

// Sub2 subtracts two pairs: z[i] = x[i] - y[i] modulo p, for values below p.
func Sub2(z, x, y *[2][4]uint64) {
	t0, t1, t2, t3, b := difference(&x[0], &y[0])
	lift(&z[0], t0, t1, t2, t3, b)
	t0, t1, t2, t3, b = difference(&x[1], &y[1])
	lift(&z[1], t0, t1, t2, t3, b)
}

// Complement sets z to p - x, for x <= p. It does not reduce z, so z may be p.
func Complement(z, x *[4]uint64) {
	t0, b := bits.Sub64(P0, x[0], 0)
	t1, b := bits.Sub64(P1, x[1], b)
	t2, b := bits.Sub64(P2, x[2], b)
	z[0], z[1], z[2], z[3] = t0, t1, t2, P3-x[3]-b
}

// Square2 sets s to x[0] + x[1] and t to 2x[0], and reduces neither. It sets d to x[0] - x[1]
// modulo p. The square of x in Fp2 is then (s·d, t·x[1]).
func Square2(s, d, t *[4]uint64, x *[2][4]uint64) {
	t0, t1, t2, t3 := sum(&x[0], &x[1])
	s[0], s[1], s[2], s[3] = t0, t1, t2, t3
	t0, t1, t2, t3 = sum(&x[0], &x[0])
	t[0], t[1], t[2], t[3] = t0, t1, t2, t3
	t0, t1, t2, t3, b := difference(&x[0], &x[1])
	lift(d, t0, t1, t2, t3, b)
}

// NinePlus sets z to 9x + y modulo p, for x < p and y <= p.
func NinePlus(z, x, y *[4]uint64) {
	t0, t4 := MulAdd(x[0], 9, y[0], 0)
	t1, t4 := MulAdd(x[1], 9, y[1], t4)
	t2, t4 := MulAdd(x[2], 9, y[2], t4)
	t3, t4 := MulAdd(x[3], 9, y[3], t4)
	// The index is ⌊t/p⌋ < 10, or one less: its relative error is below 2⁻⁵⁶.
	m := &multiples[(t4<<60|t3>>4)/(P3>>4+1)]
	t0, b := bits.Sub64(t0, m[0], 0)
	t1, b = bits.Sub64(t1, m[1], b)
	t2, b = bits.Sub64(t2, m[2], b)
	reduce(z, t0, t1, t2, t3-m[3]-b)
}

// MulXi sets z to (9x[0] - x[1], 9x[1] + x[0]) modulo p, which is x·(9 + u) in Fp2.
func MulXi(z, x *[2][4]uint64) {
	var minus [4]uint64
	Complement(&minus, &x[1])
	low := x[0]
	NinePlus(&z[0], &low, &minus)
	NinePlus(&z[1], &x[1], &low)
}

// multiples[i] is i·p modulo 2²⁵⁶.
var multiples = func() (m [10][4]uint64) {
	for i := 1; i < len(m); i++ {
		var c uint64
		for j := range m[i] {
			m[i][j], c = bits.Add64(m[i-1][j], P[j], c)
		}
	}
	return m
}()

// MulAdd returns the low and the high limb of x·y + t + c, which is below 2¹²⁸.
func MulAdd(x, y, t, c uint64) (lo, hi uint64) {
	hi, lo = bits.Mul64(x, y)
	lo, carry := bits.Add64(lo, t, 0)
	hi += carry
	lo, carry = bits.Add64(lo, c, 0)
	return lo, hi + carry
}

// sum returns x + y, which must be below 2²⁵⁶.
func sum(x, y *[4]uint64) (t0, t1, t2, t3 uint64) {
	t0, c := bits.Add64(x[0], y[0], 0)
	t1, c = bits.Add64(x[1], y[1], c)
	t2, c = bits.Add64(x[2], y[2], c)
	return t0, t1, t2, x[3] + y[3] + c
}

// reduce sets z to t modulo p, for t < 2p.
func reduce(z *[4]uint64, t0, t1, t2, t3 uint64) {
	if t3 > P3 || t3 == P3 && (t2 > P2 || t2 == P2 && (t1 > P1 || t1 == P1 && t0 >= P0)) {
		var b uint64
		t0, b = bits.Sub64(t0, P0, 0)
		t1, b = bits.Sub64(t1, P1, b)
		t2, b = bits.Sub64(t2, P2, b)
		t3 -= P3 + b
	}
	*z = [4]uint64{t0, t1, t2, t3}
}

// difference returns t = x - y + b·2²⁵⁶, where b is the borrow.
func difference(x, y *[4]uint64) (t0, t1, t2, t3, b uint64) {
	t0, b = bits.Sub64(x[0], y[0], 0)
	t1, b = bits.Sub64(x[1], y[1], b)
	t2, b = bits.Sub64(x[2], y[2], b)
	t3, b = bits.Sub64(x[3], y[3], b)
	return t0, t1, t2, t3, b
}

// lift sets z to t if b is zero, and to t + p otherwise.
func lift(z *[4]uint64, t0, t1, t2, t3, b uint64) {
	if b != 0 {
		t0, b = bits.Add64(t0, P0, 0)
		t1, b = bits.Add64(t1, P1, b)
		t2, b = bits.Add64(t2, P2, b)
		t3 += P3 + b
	}
	z[0], z[1], z[2], z[3] = t0, t1, t2, t3
}
