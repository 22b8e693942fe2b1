package group

// Names returns the curve names that users type, in the order of the
// documentation. Two of them are one group with another random source:
// BLS12_381_BBS_GURVY_FAST_RNG is BLS12381 with NewDRBG.
func Names() []string {
	return []string{
		"BN254",
		"BLS12_381_BBS_GURVY",
		"BLS12_381_BBS_GURVY_FAST_RNG",
		"BLS12_381_BBS",
		"FP256BN_AMCL",
		"FP256BN_AMCL_MIRACL",
	}
}
