// Package pedersen computes the Pedersen hash of hash/pedersen in circuits of package plonkish.
package pedersen

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/plonkish"
)

// input is a value to hash, and the integer whose digits are computed with.
type input struct {
	value   plonkish.Var
	integer *big.Int
}

// inputs returns values with their own integers; a forger uses other integers.
func inputs(b *plonkish.Builder, x, y plonkish.Var) (all [pedersen.Inputs]input) {
	for i, v := range []plonkish.Var{x, y} {
		e := b.Value(v)
		all[i] = input{v, e.BigInt(new(big.Int))}
	}
	return all
}

// partialSums returns start plus the first term, plus the first two, and so on. It needs one inversion.
func partialSums(start *grumpkin.G1Affine, terms []grumpkin.G1Affine) []grumpkin.G1Affine {
	sums := make([]grumpkin.G1Jac, len(terms))
	var sum grumpkin.G1Jac
	sum.FromAffine(start)
	for i := range terms {
		sum.AddMixed(&terms[i])
		sums[i] = sum
	}
	return grumpkin.BatchJacobianToAffineG1(sums)
}

// below returns what shows that an integer x is less than the order r. high is the high half of r, hi that of
// x; lo and r_lo are the low halves. With e = r_hi - hi and a bit f, f e = 0, the value
//
//	v = f (r_lo - lo) + e - 1 = -f x + e - 1
//
// is small. If f is 0, e must be positive. If f is 1, e is 0 and lo is less than r_lo, as r_lo - lo is then r
// - x. If x is not less than r, v is negative.
func below(high *fr.Element, hi *big.Int, x fr.Element) (f, v fr.Element) {
	var e fr.Element
	e.Sub(high, e.SetBigInt(hi))
	one := fr.One()
	v.Sub(&e, &one)
	if e.IsZero() {
		f.SetOne()
		v.Sub(&v, &x)
	}
	return f, v
}

func element(i int64) (e fr.Element) { return *e.SetInt64(i) }
