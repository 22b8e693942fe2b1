// Package division implements BN254's base field on plain integers: it computes a whole product and
// divides it by p, as a library for big integers does.
package division

import (
	"math/bits"

	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"
)

// Element is an integer below p, the modulus of BN254's base field. The least significant limb comes
// first. The zero value is zero. Results may alias operands.
type Element [4]uint64

// FromLimbs sets z to x, which must be below p.
func (z *Element) FromLimbs(x *[4]uint64) { *z = *x }

// Limbs returns x as an integer below p.
func (x *Element) Limbs() [4]uint64 { return *x }

// Add sets z to x + y.
func (z *Element) Add(x, y *Element) {
	limbs.Add((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}

// Sub sets z to x - y.
func (z *Element) Sub(x, y *Element) {
	limbs.Sub((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}

// Mul sets z to x·y.
func (z *Element) Mul(x, y *Element) {
	var product [8]uint64
	multiply(&product, (*[4]uint64)(x), (*[4]uint64)(y))
	var quotient [5]uint64
	divide(&quotient, (*[4]uint64)(z), &product, &limbs.P)
}

// multiply sets z to x·y. z must be zero.
func multiply(z *[8]uint64, x, y *[4]uint64) {
	for i, yi := range y {
		var carry uint64
		z[i], carry = limbs.MulAdd(x[0], yi, z[i], 0)
		z[i+1], carry = limbs.MulAdd(x[1], yi, z[i+1], carry)
		z[i+2], carry = limbs.MulAdd(x[2], yi, z[i+2], carry)
		z[i+3], z[i+4] = limbs.MulAdd(x[3], yi, z[i+3], carry)
	}
}

// divide sets q and r to the quotient and the remainder of u divided by v. The highest limb of v
// must not be zero. Names and steps are those of Algorithm D (Knuth: The Art of Computer
// Programming, volume 2, 4.3.1).
func divide(q *[5]uint64, r *[4]uint64, u *[8]uint64, v *[4]uint64) {
	// D1: normalize, so that v's highest bit is 1. The other part of a limb is shifted by 64 - left.
	left := bits.LeadingZeros64(v[3]) & 63
	right := (63 - left) & 63
	var w [9]uint64
	w[8] = u[7] >> 1 >> right
	for i := 7; i > 0; i-- {
		w[i] = u[i]<<left | u[i-1]>>1>>right
	}
	w[0] = u[0] << left
	d := [4]uint64{v[0] << left}
	for i := 3; i > 0; i-- {
		d[i] = v[i]<<left | v[i-1]>>1>>right
	}
	for j := 4; j >= 0; j-- {
		part := (*[5]uint64)(w[j : j+5])
		digit := estimate(part, &d)
		// D4 to D6: the digit is at most one too large.
		if subtractMultiple(part, &d, digit) {
			digit--
			addBack(part, &d)
		}
		q[j] = digit
	}
	// D8.
	for i := range r {
		r[i] = w[i]>>left | w[i+1]<<1<<right
	}
}

// estimate is step D3, for u < 2⁶⁴·v. It returns the digit of u/v, or one more.
func estimate(u *[5]uint64, v *[4]uint64) uint64 {
	digit, rest, over := ^uint64(0), u[3], uint64(0)
	if u[4] < v[3] {
		digit, rest = bits.Div64(u[4], u[3], v[3])
	} else { // u[4] = v[3]
		rest, over = bits.Add64(rest, v[3], 0)
	}
	for over == 0 {
		hi, lo := bits.Mul64(digit, v[2])
		if hi < rest || hi == rest && lo <= u[2] {
			break
		}
		digit--
		rest, over = bits.Add64(rest, v[3], 0)
	}
	return digit
}

// subtractMultiple subtracts digit·v from u, modulo 2³²⁰, and reports whether the difference is
// negative.
func subtractMultiple(u *[5]uint64, v *[4]uint64, digit uint64) bool {
	m0, carry := limbs.MulAdd(digit, v[0], 0, 0)
	m1, carry := limbs.MulAdd(digit, v[1], carry, 0)
	m2, carry := limbs.MulAdd(digit, v[2], carry, 0)
	m3, carry := limbs.MulAdd(digit, v[3], carry, 0)
	var b uint64
	u[0], b = bits.Sub64(u[0], m0, 0)
	u[1], b = bits.Sub64(u[1], m1, b)
	u[2], b = bits.Sub64(u[2], m2, b)
	u[3], b = bits.Sub64(u[3], m3, b)
	u[4], b = bits.Sub64(u[4], carry, b)
	return b != 0
}

// addBack adds v to u, modulo 2³²⁰.
func addBack(u *[5]uint64, v *[4]uint64) {
	var c uint64
	for i, vi := range v {
		u[i], c = bits.Add64(u[i], vi, c)
	}
	u[4] += c
}
