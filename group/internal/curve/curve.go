// Package curve holds what all implementations of one curve share.
package curve

// ClearBLS12381 is the factor by which Group.ClearTorsion multiplies on BLS12-381: 1 - z for the
// curve's parameter z = -0xd201000000010000. The group of curve points is Z_r times a group of
// exponent 1 - z, because #E(Fp) = r·(1-z)²/3 and E(Fp) has full (1-z)/3-torsion. Also, 1 - z and r
// have no common factor. See docs/token.md, section 8.
const ClearBLS12381 = 0xd201000000010001

// Flags describes the top bits of a compressed point's first byte. These bits say which of the two
// points with the same x is meant, and mark the identity.
type Flags struct {
	width                     int
	smaller, larger, identity byte // by the y that is meant
}

// BN254 returns the flags that gnark-crypto uses. There is no standard for them.
func BN254() Flags { return Flags{width: 2, smaller: 0b10, larger: 0b11, identity: 0b01} }

// BLS12381 returns the flags that all libraries of the curve use.
func BLS12381() Flags { return Flags{width: 3, smaller: 0b100, larger: 0b101, identity: 0b110} }

// Take clears the flags in x and decodes them. It reports whether the larger y is meant, or returns
// the reason why x encodes no point.
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

// Put sets the flags of the encoded point x, whose top bits must be zero. The parameter larger says
// whether the larger y is meant.
func (f Flags) Put(x []byte, larger bool) {
	flags := f.smaller
	if larger {
		flags = f.larger
	}
	x[0] |= flags << (8 - f.width)
}
