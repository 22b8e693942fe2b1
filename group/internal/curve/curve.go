// Package curve holds what all implementations of one curve share.
package curve

// ClearBLS12381 is 1 - z for BLS12-381's parameter z = -0xd201000000010000: the
// factor by which Group.ClearTorsion multiplies. The group of curve points is
// Z_r times a group of exponent 1 - z, because #E(Fp) = r·(1-z)²/3 and E(Fp) has
// full (1-z)/3-torsion; and 1 - z is prime to r. See docs/token.md, section 8.
const ClearBLS12381 = 0xd201000000010001

// Flags is how the top bits of a compressed point's first byte tell the two
// points of one x apart, and mark the identity.
type Flags struct {
	width                     int
	smaller, larger, identity byte // by the y that is meant
}

// BN254 is gnark-crypto's form, which has no standard.
func BN254() Flags { return Flags{width: 2, smaller: 0b10, larger: 0b11, identity: 0b01} }

// BLS12381 is the form that all libraries of the curve share.
func BLS12381() Flags { return Flags{width: 3, smaller: 0b100, larger: 0b101, identity: 0b110} }

// Take clears the flags of x and returns what they say: whether the larger y is
// meant, or why there is no point.
func (f Flags) Take(x []byte) (larger bool, reason string) {
	shift := 8 - f.width
	switch x[0] >> shift {
	case f.smaller:
	case f.larger:
		larger = true
	case f.identity:
		return false, "identity not allowed"
	default:
		return false, "not a compressed point"
	}
	x[0] &= 1<<shift - 1
	return larger, ""
}

// Put sets the flags of x, whose top bits are zero.
func (f Flags) Put(x []byte, larger bool) {
	flags := f.smaller
	if larger {
		flags = f.larger
	}
	x[0] |= flags << (8 - f.width)
}
