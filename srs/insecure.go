package srs

import (
	"context"
	"encoding/binary"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr/fft"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/transcript"
)

// Insecure makes a reference string from a seed, which is not secret. It computes both forms of the string,
// the powers of τ and the Lagrange form, directly from τ by a fixed-base comb, with 22 additions per point.
// It returns zkbench.ErrParams if size is not a power of two from MinSize to MaxSize. It returns a
// *zkbench.LimitError if points and scalars do not fit in memory. It returns the context's cause if ctx
// ends.
func Insecure(ctx context.Context, ex executor.Executor, size int, seed uint64) (*SRS, error) {
	if err := checkSize(size); err != nil {
		return nil, err
	}
	if err := memory.Fits("the reference string", uint64(2*size+Extra)*(pointBytes+fr.Bytes)); err != nil {
		return nil, err
	}
	tau := tauOf(size, seed)
	points := make([]bn254.G1Affine, 2*size+Extra)
	scalars := make([]fr.Element, len(points))
	powers(scalars[:size+Extra], &tau)
	lagrange(scalars[size+Extra:], &tau)
	if err := comb(ctx, ex, points, scalars); err != nil {
		return nil, err
	}
	return ofTau(points, size, &tau, nil), nil
}

// ofTau returns the string of τ with the given points: the canonical ones, then the Lagrange form.
func ofTau(points []bn254.G1Affine, size int, tau *fr.Element, unmap func() error) *SRS {
	var e big.Int
	var tauG2 bn254.G2Affine
	tauG2.ScalarMultiplicationBase(tau.BigInt(&e))
	return assemble(points[:size+Extra:size+Extra], points[size+Extra:], verifyingKey(&tauG2), unmap)
}

// tauOf derives τ. It skips points of the domain, where all Lagrange polynomials but one are zero.
func tauOf(size int, seed uint64) fr.Element {
	xof := transcript.XOF("zkbench/v1/insecure-srs", binary.LittleEndian.AppendUint64(nil, seed))
	var wide [64]byte
	for {
		_, _ = xof.Read(wide[:]) // which never fails
		var tau, power fr.Element
		tau.SetBytes(wide[:])
		if power.Exp(tau, big.NewInt(int64(size))); !power.IsOne() {
			return tau
		}
	}
}

func powers(dst []fr.Element, x *fr.Element) {
	dst[0].SetOne()
	for i := 1; i < len(dst); i++ {
		dst[i].Mul(&dst[i-1], x)
	}
}

// lagrange sets dst[i] = L_i(τ) = ω^i (τ^n - 1) / (n (τ - ω^i)) for τ outside the
// domain of n = len(dst) points.
func lagrange(dst []fr.Element, tau *fr.Element) {
	n := len(dst)
	omega := fft.NewDomain(uint64(n)).Generator
	roots := make([]fr.Element, n)
	powers(roots, &omega)
	for i := range dst {
		dst[i].Sub(tau, &roots[i])
	}
	inverses := fr.BatchInvert(dst)
	var factor, size fr.Element
	factor.Exp(*tau, big.NewInt(int64(n)))
	factor.Sub(&factor, size.SetOne())
	size.SetUint64(uint64(n))
	factor.Div(&factor, &size)
	vec := fr.Vector(dst)
	vec.Mul(inverses, roots)
	vec.ScalarMul(vec, &factor)
}

const (
	combWindow = 12   // the widest that tables have: 3 MiB
	combChunk  = 2048 // points of one task
)

// comb sets points[i] = scalars[i]·G1.
func comb(ctx context.Context, ex executor.Executor, points []bn254.G1Affine, scalars []fr.Element) error {
	_, _, g1, _ := bn254.Generators()
	table, err := group.BN254().NewTable([]bn254.G1Affine{g1}, group.TableOptions{Window: combWindow, Spacing: 1})
	if err != nil {
		return err
	}
	chunks := (len(points) + combChunk - 1) / combChunk
	return ex.Do(ctx, chunks, func(ctx context.Context, k int) error {
		lo, hi := k*combChunk, min((k+1)*combChunk, len(points))
		sums := make([][]fr.Element, hi-lo)
		for i := range sums {
			sums[i] = scalars[lo+i : lo+i+1]
		}
		return table.MSM(ctx, executor.Serial(), points[lo:hi], sums)
	})
}
