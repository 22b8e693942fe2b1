//go:build !purego

package goldilocks

import gnark "github.com/consensys/gnark-crypto/field/goldilocks"

func (k Kernel) toMontgomeryWide(dst []gnark.Element, src []Element) int {
	switch {
	case k.name == portable || len(dst) == 0:
		return 0
	case k.name == sve:
		toMontgomerySVE(&dst[0][0], (*uint64)(&src[0]), len(dst))
	default:
		toMontgomerySVE2(&dst[0][0], (*uint64)(&src[0]), len(dst))
	}
	return len(dst)
}

func (k Kernel) fromMontgomeryWide(dst []Element, src []gnark.Element) int {
	switch {
	case k.name == portable || len(dst) == 0:
		return 0
	case k.name == sve:
		fromMontgomerySVE((*uint64)(&dst[0]), &src[0][0], len(dst))
	default:
		fromMontgomerySVE2((*uint64)(&dst[0]), &src[0][0], len(dst))
	}
	return len(dst)
}

//go:noescape
func toMontgomerySVE(dst, src *uint64, n int)

//go:noescape
func toMontgomerySVE2(dst, src *uint64, n int)

//go:noescape
func fromMontgomerySVE(dst, src *uint64, n int)

//go:noescape
func fromMontgomerySVE2(dst, src *uint64, n int)
