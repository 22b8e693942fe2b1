package token

import (
	"slices"
	"strings"
)

// curves lists the names of curves, in the order of the documentation. The second name of a pair, if any, is
// the one that papers use for the curve.
func curves() [][2]string {
	return [][2]string{
		{"BN254"},
		{"BLS12_381_BBS_GURVY", "BLS12-381"},
		{fastRNG},
		{"BLS12_381_BBS"},
		{"FP256BN_AMCL", "FP256BN"},
		{"FP256BN_AMCL_MIRACL"},
	}
}

// fastRNG names BLS12_381_BBS_GURVY with another source of randomness for provers: a deterministic generator
// that is seeded from the system.
const fastRNG = "BLS12_381_BBS_GURVY_FAST_RNG"

// Curves lists the names of curves, in the order in which the documentation lists them. The names are the same
// as in the public benchmark study of Panurus, another implementation of confidential tokens.
// BLS12_381_BBS_GURVY_FAST_RNG is the group of BLS12_381_BBS_GURVY with another source of randomness,
// group.NewDRBG.
func Curves() (names []string) {
	for _, c := range curves() {
		names = append(names, c[0])
	}
	return names
}

// Curve returns the full name of a curve, as Curves lists it. The case of the given name does not matter.
// BLS12-381 stands for BLS12_381_BBS_GURVY, and FP256BN for FP256BN_AMCL. If Curve does not know a name, it
// returns the name unchanged.
func Curve(name string) string {
	for _, c := range curves() {
		if name != "" && slices.ContainsFunc(c[:], func(other string) bool { return strings.EqualFold(name, other) }) {
			return c[0]
		}
	}
	return name
}

// AcceptedCurves returns a text for help and error messages: the names of the given curves. If Curve also knows
// a short name of a curve, that name follows in parentheses. AcceptedCurves leaves out names that are not in
// Curves.
func AcceptedCurves(among ...string) string {
	var names []string
	for _, c := range curves() {
		switch {
		case !slices.Contains(among, c[0]):
		case c[1] == "":
			names = append(names, c[0])
		default:
			names = append(names, c[0]+" (or "+c[1]+")")
		}
	}
	return strings.Join(names, ", ")
}
