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
	if err := powers(ctx, ex, scalars[:size+Extra], &tau); err != nil {
		return nil, err
	}
	if err := lagrange(ctx, ex, scalars[size+Extra:], &tau); err != nil {
		return nil, err
	}
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

// inPieces calls do for ranges lo to hi-1 of n, in tasks.
func inPieces(ctx context.Context, ex executor.Executor, n int, do func(lo, hi int)) error {
	const piece = 1 << 11
	return ex.Do(ctx, (n+piece-1)/piece, func(_ context.Context, i int) error {
		do(i*piece, min((i+1)*piece, n))
		return nil
	})
}

// powers sets dst[i] = x^i.
func powers(ctx context.Context, ex executor.Executor, dst []fr.Element, x *fr.Element) error {
	return inPieces(ctx, ex, len(dst), func(lo, hi int) { powersFrom(dst[lo:hi], lo, x) })
}

// powersFrom sets dst[i] = x^(first+i).
func powersFrom(dst []fr.Element, first int, x *fr.Element) {
	dst[0].Exp(*x, big.NewInt(int64(first)))
	for i := 1; i < len(dst); i++ {
		dst[i].Mul(&dst[i-1], x)
	}
}

// lagrange sets dst[i] = L_i(τ) = ω^i (τ^n - 1) / (n (τ - ω^i)) for τ outside the
// domain of n = len(dst) points.
func lagrange(ctx context.Context, ex executor.Executor, dst []fr.Element, tau *fr.Element) error {
	n := len(dst)
	omega, err := fft.Generator(uint64(n))
	if err != nil {
		return err
	}
	var factor, size fr.Element
	factor.Exp(*tau, big.NewInt(int64(n)))
	factor.Sub(&factor, size.SetOne())
	size.SetUint64(uint64(n))
	factor.Div(&factor, &size)
	return inPieces(ctx, ex, n, func(lo, hi int) {
		roots, part := make(fr.Vector, hi-lo), fr.Vector(dst[lo:hi])
		powersFrom(roots, lo, &omega)
		for i := range part {
			part[i].Sub(tau, &roots[i])
		}
		part.Mul(fr.BatchInvert(part), roots)
		part.ScalarMul(part, &factor)
	})
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
