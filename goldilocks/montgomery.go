package goldilocks

import gnark "github.com/consensys/gnark-crypto/field/goldilocks"

// gnark-crypto stores elements in Montgomery form: x R modulo p for x, with R = 2^64. A
// conversion takes a separate pass over the vector, in either direction.

// ToMontgomery sets dst[i] to src[i] in the Montgomery form that gnark-crypto uses. It panics if
// the lengths differ.
func ToMontgomery(dst []gnark.Element, src []Element, on ...Kernel) {
	sameLength(len(dst), len(src), len(src))
	for i := chosen(on).toMontgomeryWide(dst, src); i < len(dst); i++ {
		dst[i][0] = uint64(Reduce128(uint64(src[i]), 0))
	}
}

// FromMontgomery sets dst[i] to the element that src[i] represents in the Montgomery form of
// gnark-crypto. The number src[i] may be any number below 2^64 that is equal to this form
// modulo p. FromMontgomery panics if the lengths differ.
func FromMontgomery(dst []Element, src []gnark.Element, on ...Kernel) {
	sameLength(len(dst), len(src), len(src))
	for i := chosen(on).fromMontgomeryWide(dst, src); i < len(dst); i++ {
		// 1/R is -2^32, by 2^96 = -1.
		x := src[i][0]
		dst[i] = Reduce128(x>>32, x<<32).Neg()
	}
}
