// Package pedersen is circuits of package plonkish for the Pedersen hash of hash/pedersen.
package pedersen

import (
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/plonkish"
)

// input is a value that is hashed, and the integer whose digits are worked on.
type input struct {
	value   plonkish.Var
	integer *big.Int
}

// inputs are of values as they are; a forger takes another integer.
func inputs(b *plonkish.Builder, x, y plonkish.Var) (all [pedersen.Inputs]input) {
	for i, v := range []plonkish.Var{x, y} {
		e := b.Value(v)
		all[i] = input{v, e.BigInt(new(big.Int))}
	}
	return all
}

// partialSums are start plus the first term, the first two, and so on, by one inversion.
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

// below are what shows an integer x to be less than the order r, of which high is the high half and
// hi the integer's. With e = r_hi - hi and a bit f, f e = 0, the value
//
//	v = f (r_lo - lo) + e - 1 = -f x + e - 1
//
// is small: where f is 0, e is positive; and where it is 1, e is 0 and lo less than r_lo, as
// r_lo - lo is r - x then. Of an integer that is not less, v is negative.
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
