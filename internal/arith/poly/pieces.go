package poly

import (
	"context"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
)

// Piece is the number of elements that a task of InPieces gets. One operation on this many takes 5 to 30
// microseconds, which is worth a task but hardly a call of Do.
const Piece = 1 << 12

// InPieces calls do for ranges lo to hi-1 of n elements, which ex may run at once. All but the last one have Piece
// elements, so the ranges do not depend on the number of processors. It returns the context's cause if ctx ends.
func InPieces(ctx context.Context, ex executor.Executor, n int, do func(lo, hi int)) error {
	return ex.Do(ctx, (n+Piece-1)/Piece, func(_ context.Context, i int) error {
		do(i*Piece, min((i+1)*Piece, n))
		return nil
	})
}

// SetOn does what Set does, in pieces that ex may run at once.
func (v Vector) SetOn(ctx context.Context, ex executor.Executor, elements []fr.Element) error {
	v.checkLen(len(elements))
	return InPieces(ctx, ex, v.n, func(lo, hi int) { v.Slice(lo, hi).Set(elements[lo:hi]) })
}

// GetOn does what Get does, in pieces that ex may run at once.
func (v Vector) GetOn(ctx context.Context, ex executor.Executor, elements []fr.Element) error {
	v.checkLen(len(elements))
	return InPieces(ctx, ex, v.n, func(lo, hi int) { v.Slice(lo, hi).Get(elements[lo:hi]) })
}

// SetPowersOn does what SetPowers does, in pieces that ex may run at once.
func (v Vector) SetPowersOn(ctx context.Context, ex executor.Executor, c, s *fr.Element) error {
	first := v.Slice(0, min(Piece, v.n))
	first.SetPowers(c, s)
	return InPieces(ctx, ex, v.n, func(lo, hi int) {
		if lo > 0 {
			part := v.Slice(lo, hi)
			part.Copy(first.Slice(0, hi-lo))
			part.Scale(power(s, lo))
		}
	})
}

// ScaleOn does what Scale does, in pieces that ex may run at once.
func (v Vector) ScaleOn(ctx context.Context, ex executor.Executor, c *fr.Element) error {
	return InPieces(ctx, ex, v.n, func(lo, hi int) { v.Slice(lo, hi).Scale(c) })
}
