// Package layout defines the indices of the constants of a prime field, in a table of 64-bit words. Package vec52
// fills the table. The generator of its kernels emits code that reads the table.
package layout

// Limbs is the number of limbs of a field's elements. The layout of the constants depends on this number. The
// methods return indices of 64-bit words in the table of constants.
type Limbs int

// P returns the index of limb i of the modulus p.
func (l Limbs) P(i int) int { return i }

// Inverse returns the index of -1/p modulo 2^52.
func (l Limbs) Inverse() int { return int(l) }

// Mask returns the index of 2^52 - 1.
func (l Limbs) Mask() int { return int(l) + 1 }

// Quotient returns the index of a constant that is a little below 2^(52 l) / p, where l is the number of limbs. When
// an element's last limb is multiplied by this constant, the high half of the product estimates the quotient of the
// element and p.
func (l Limbs) Quotient() int { return int(l) + 2 }

// Fraction returns the index of a constant that is a little below 2^40 R / p. Here R is 2^(52 l), where l is the
// number of limbs. The constant can be used if R is at most 2^12 p. When an element's last limb is multiplied by
// this constant, the high half of the product estimates 2^40 times the quotient of the element and p.
func (l Limbs) Fraction() int { return int(l) + 3 }

// FractionBits is the exponent 40 in the constant 2^40 R / p (see Limbs.Fraction). With this exponent the constant
// is below 2^52.
const FractionBits = 40

// Negative returns the index of limb i of 2^(52 l) - p, where l is the number of limbs.
func (l Limbs) Negative(i int) int { return int(l) + 4 + i }

// One returns the index of limb i of 1 in Montgomery form.
func (l Limbs) One(i int) int { return int(l)*2 + 4 + i }

// ThriceB returns the index of limb i of 3b in Montgomery form, for the curve y² = x³ + b.
func (l Limbs) ThriceB(i int) int { return int(l)*3 + 4 + i }

// Multiples returns the index of the first of eight consecutive words. They hold limb i of 0, of p, and so on, up
// to limb i of 7p.
func (l Limbs) Multiples(i int) int { return (int(l)*4+4+7)&^7 + 8*i }

// Words returns the number of words that all constants take together.
func (l Limbs) Words() int { return l.Multiples(int(l)) }
