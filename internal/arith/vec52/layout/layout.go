// Package layout says where kernels find the constants of a prime field: package lanes writes
// them, the generator of its kernels reads them.
package layout

// Limbs is a layout by the length of an element. What it returns are indices of words.
type Limbs int

// P is limb i of the modulus p.
func (l Limbs) P(i int) int { return i }

// Inverse is -1/p modulo 2^52.
func (l Limbs) Inverse() int { return int(l) }

// Mask is 2^52 - 1.
func (l Limbs) Mask() int { return int(l) + 1 }

// Quotient is a little less than 2^52 times the ratio of 2^(52 (limbs-1)) to p, which makes
// an element's last limb its quotient by p.
func (l Limbs) Quotient() int { return int(l) + 2 }

// Fraction is a little less than 2^FractionBits times R/p, for R of at most 2^12 p, which makes
// 2^FractionBits times the quotient by p of an element's last limb.
func (l Limbs) Fraction() int { return int(l) + 3 }

// FractionBits leave the fraction below 2^52.
const FractionBits = 40

// Negative is limb i of 2^(52 limbs) - p.
func (l Limbs) Negative(i int) int { return int(l) + 4 + i }

// One is limb i of 1 in Montgomery form.
func (l Limbs) One(i int) int { return int(l)*2 + 4 + i }

// ThriceB is limb i of 3b in Montgomery form, for a curve y² = x³ + b.
func (l Limbs) ThriceB(i int) int { return int(l)*3 + 4 + i }

// Multiples are limb i of 0, p, ..., 7p: eight words.
func (l Limbs) Multiples(i int) int { return (int(l)*4+4+7)&^7 + 8*i }

// Words is the number of them.
func (l Limbs) Words() int { return l.Multiples(int(l)) }
