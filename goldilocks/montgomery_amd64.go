//go:build !purego

package goldilocks

import gnark "github.com/consensys/gnark-crypto/field/goldilocks"

func (k Kernel) toMontgomeryWide(dst []gnark.Element, src []Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		toMontgomeryAVX512(&dst[0][0], (*uint64)(&src[0]), n)
	default:
		toMontgomeryAVX2(&dst[0][0], (*uint64)(&src[0]), n)
	}
	return n
}

func (k Kernel) fromMontgomeryWide(dst []Element, src []gnark.Element) int {
	n := k.whole(len(dst))
	switch {
	case n == 0:
	case k.name == avx512:
		fromMontgomeryAVX512((*uint64)(&dst[0]), &src[0][0], n)
	default:
		fromMontgomeryAVX2((*uint64)(&dst[0]), &src[0][0], n)
	}
	return n
}

//go:noescape
func toMontgomeryAVX512(dst, src *uint64, n int)

//go:noescape
func toMontgomeryAVX2(dst, src *uint64, n int)

//go:noescape
func fromMontgomeryAVX512(dst, src *uint64, n int)

//go:noescape
func fromMontgomeryAVX2(dst, src *uint64, n int)
