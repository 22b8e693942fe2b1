package srs

import (
	"context"
	"crypto/rand"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"
	"github.com/consensys/gnark-crypto/utils"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
)

// The checks of points that somebody else has made. Both use weights of 128 random bits, drawn when the points
// are fixed: wrong points pass with probability 2^-128.

// weights draws n scalars below 2^128.
func weights(n int) ([]fr.Element, error) {
	random := make([]byte, 16*n)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	w := make([]fr.Element, n)
	for i := range w {
		w[i].SetBytes(random[16*i : 16*(i+1)])
	}
	return w, nil
}

// arePowers reports whether points[i+1] = τ·points[i] for all i, for the τ of
// [τ]G2:
//
//	e(Σ w_i points[i+1], G2) = e(Σ w_i points[i], [τ]G2)
func arePowers(ctx context.Context, ex executor.Executor, points []bn254.G1Affine, tauG2 *bn254.G2Affine) (bool, error) {
	n := len(points) - 1
	w, err := weights(n)
	if err != nil {
		return false, err
	}
	g := group.BN254()
	upper, err := g.MSM(ctx, ex, points[1:], w)
	if err != nil {
		return false, err
	}
	lower, err := g.MSM(ctx, ex, points[:n], w)
	if err != nil {
		return false, err
	}
	lower.Neg(&lower)
	_, _, _, g2 := bn254.Generators()
	return bn254.PairingCheck([]bn254.G1Affine{upper, lower}, []bn254.G2Affine{g2, *tauG2})
}

// isLagrange reports whether lagrange is the Lagrange form of the canonical points: a random polynomial must
// have the same commitment in both.
func isLagrange(ctx context.Context, ex executor.Executor, canonical, lagrange []bn254.G1Affine) (bool, error) {
	n := len(lagrange)
	values, err := weights(n)
	if err != nil {
		return false, err
	}
	g := group.BN254()
	a, err := g.MSM(ctx, ex, lagrange, values)
	if err != nil {
		return false, err
	}
	fft.NewDomain(uint64(n)).FFTInverse(values, fft.DIF, fft.WithNbTasks(1))
	utils.BitReverse(values)
	b, err := g.MSM(ctx, ex, canonical[:n], values)
	if err != nil {
		return false, err
	}
	return a.Equal(&b), nil
}

// spotCheck reports whether a few points of a string are those of τ. It shows that an intact cached string
// belongs to the seed.
func spotCheck(s *SRS, tau *fr.Element) bool {
	n := s.Size()
	omega := fft.NewDomain(uint64(n)).Generator
	for _, i := range []int{0, 1, n / 2, n - 1} {
		var scalar, root, factor fr.Element
		scalar.Exp(*tau, big.NewInt(int64(i)))
		if !isMultiple(&s.Canonical.Pk.G1[i], &scalar) {
			return false
		}
		// L_i(τ) as in lagrange.
		root.Exp(omega, big.NewInt(int64(i)))
		factor.Exp(*tau, big.NewInt(int64(n)))
		one := fr.One()
		factor.Sub(&factor, &one).Mul(&factor, &root)
		scalar.Sub(tau, &root).Mul(&scalar, new(fr.Element).SetUint64(uint64(n)))
		factor.Div(&factor, &scalar)
		if !isMultiple(&s.Lagrange.Pk.G1[i], &factor) {
			return false
		}
	}
	return true
}
