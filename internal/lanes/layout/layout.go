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

// Multiple is limb i of 2p, for k = 2, and of 3p, for k = 3.
func (l Limbs) Multiple(k, i int) int { return int(l)*(k-1) + 3 + i }

// One is limb i of 1 in Montgomery form.
func (l Limbs) One(i int) int { return int(l)*3 + 3 + i }

// ThriceB is limb i of 3b in Montgomery form, for a curve y² = x³ + b.
func (l Limbs) ThriceB(i int) int { return int(l)*4 + 3 + i }

// Multiples are limb i of 0, p, ..., 7p: eight words.
func (l Limbs) Multiples(i int) int { return (int(l)*5+3+7)&^7 + 8*i }

// Words is the number of them.
func (l Limbs) Words() int { return l.Multiples(int(l)) }
