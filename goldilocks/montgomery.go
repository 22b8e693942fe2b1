package goldilocks

import gnark "github.com/consensys/gnark-crypto/field/goldilocks"

// The elements of gnark-crypto are in Montgomery form: x is x R modulo p, with R = 2^64. To
// take them over is a pass over the vector of its own, in either direction.

// ToMontgomery sets dst[i] to src[i], in gnark-crypto's form. The lengths are equal, or it
// panics.
func ToMontgomery(dst []gnark.Element, src []Element, on ...Kernel) {
	sameLength(len(dst), len(src), len(src))
	for i := chosen(on).toMontgomeryWide(dst, src); i < len(dst); i++ {
		dst[i][0] = uint64(Reduce128(uint64(src[i]), 0))
	}
}

// FromMontgomery sets dst[i] to src[i], of gnark-crypto's form or any number below 2^64
// that stands for one. The lengths are equal, or it panics.
func FromMontgomery(dst []Element, src []gnark.Element, on ...Kernel) {
	sameLength(len(dst), len(src), len(src))
	for i := chosen(on).fromMontgomeryWide(dst, src); i < len(dst); i++ {
		// 1/R is -2^32, by 2^96 = -1.
		x := src[i][0]
		dst[i] = Reduce128(x>>32, x<<32).Neg()
	}
}
