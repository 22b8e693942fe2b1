package srs

import (
	"context"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
)

// What is searched for in a string whose τ is not hidden: blunders, not every τ that somebody knows.
const (
	smallTau  = 1 << 16 // the largest k of τ = k, -k, 1/k, -1/k
	rootsMore = 1 << 8  // roots of unity are known up to this order times the size, and up to that of the field
	fieldLog  = 28      // the field has 2^28-th roots of unity
)

// weakness describes τ if the powers show that it is small, the inverse of a small number, or a root of unity
// whose order is at most the size or divides rootsMore times the size. It returns an empty text for any other
// τ. If τ is a root of unity of the domain, the polynomial by which Plonk divides vanishes there, so all
// proofs are accepted. The others can be found by trial.
func weakness(ctx context.Context, canonical []bn254.G1Affine) (string, error) {
	one, tau := &canonical[0], &canonical[1]
	if k := multiple(one, tau); k != 0 {
		return fmt.Sprintf("τ is %d", k), nil
	}
	if k := multiple(tau, one); k != 0 {
		return fmt.Sprintf("τ is 1/%d", k), nil
	}
	for i := 1; i < len(canonical); i++ {
		if canonical[i].Equal(one) {
			return fmt.Sprintf("τ is a root of unity: τ^%d = 1", i), nil
		}
	}
	size := len(canonical) - Extra
	order := min(rootsMore, 1<<fieldLog/size)
	omega := fft.NewDomain(uint64(order)).Generator // τ^size is one of its powers if τ^(size·order) = 1
	root := fr.One()
	for range order {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if isMultiple(&canonical[size], &root) {
			return fmt.Sprintf("τ is a root of unity: τ^%d = 1", size*order), nil
		}
		root.Mul(&root, &omega)
	}
	return "", nil
}

// multiple returns the k with q = k·p and 0 < |k| <= smallTau, or 0 if there is none. Points with the same x
// are each other's negatives, or equal.
func multiple(p, q *bn254.G1Affine) int {
	var sum bn254.G1Jac
	sum.FromAffine(p)
	for k := 1; k <= smallTau; k++ {
		var x fp.Element
		x.Square(&sum.Z).Mul(&x, &q.X) // sum has the x of q if its X is this
		if x.Equal(&sum.X) {
			var at bn254.G1Affine
			if at.FromJacobian(&sum); at.Equal(q) {
				return k
			}
			return -k
		}
		sum.AddMixed(p)
	}
	return 0
}

// isMultiple reports whether p is the generator times a scalar.
func isMultiple(p *bn254.G1Affine, scalar *fr.Element) bool {
	var e big.Int
	scalar.BigInt(&e)
	var want bn254.G1Affine
	want.ScalarMultiplicationBase(&e)
	return p.Equal(&want)
}
