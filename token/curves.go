package token

import (
	"slices"
	"strings"
)

// curves are the names of curves, in the order of the documentation, each with the name that papers have
// for it, if it is the one that is meant by it.
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

// fastRNG is the curve name that stands for BLS12_381_BBS_GURVY with a
// deterministic generator, seeded from the system, as provers' randomness.
const fastRNG = "BLS12_381_BBS_GURVY_FAST_RNG"

// Curves lists the names of curves, in the order of the documentation. They are those of the public study
// of Panurus. Two are one group with another random source: BLS12_381_BBS_GURVY_FAST_RNG is
// BLS12_381_BBS_GURVY with group.NewDRBG.
func Curves() (names []string) {
	for _, c := range curves() {
		names = append(names, c[0])
	}
	return names
}

// Curve returns which of Curves a name stands for, without regard to case: each for itself, BLS12-381 for
// BLS12_381_BBS_GURVY, and FP256BN for FP256BN_AMCL. Another name stands for itself, and is none of Curves.
func Curve(name string) string {
	for _, c := range curves() {
		if name != "" && slices.ContainsFunc(c[:], func(other string) bool { return strings.EqualFold(name, other) }) {
			return c[0]
		}
	}
	return name
}

// AcceptedCurves says in words which names of curves are accepted where those among Curves are, for help and
// errors.
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
