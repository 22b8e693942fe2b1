package group

import (
	"context"

	"github.com/zkbench/zkbench/executor"
)

// Accumulator collects the terms of verification equations, each multiplied by the weight of its
// equation. An equation holds if its terms sum to the identity. The Accumulator has one scalar
// for each generator of a basis, and one for each point that arrived with a proof. One call of
// IsZero then verifies one proof or a whole batch.
type Accumulator[S, P any] struct {
	Basis   *Basis[S, P]
	Fixed   []S // by position in the basis
	Points  []P
	Scalars []S // of Points
}

// NewAccumulator returns an empty accumulator. The parameter dynamic is the expected number of
// points from proofs: the accumulator has room for this many, and grows if there are more.
func NewAccumulator[S, P any](b *Basis[S, P], dynamic int) *Accumulator[S, P] {
	return &Accumulator[S, P]{
		Basis:   b,
		Fixed:   make([]S, b.Len()),
		Points:  make([]P, 0, dynamic),
		Scalars: make([]S, 0, dynamic),
	}
}

// AddFixed adds s times the generator at position i.
func (a *Accumulator[S, P]) AddFixed(i int, s *S) {
	a.Basis.Group.Add(&a.Fixed[i], &a.Fixed[i], s)
}

// AddPoint adds s·p.
func (a *Accumulator[S, P]) AddPoint(p *P, s *S) {
	a.Points = append(a.Points, *p)
	a.Scalars = append(a.Scalars, *s)
}

// Merge adds all terms of b, which must have the same basis.
func (a *Accumulator[S, P]) Merge(b *Accumulator[S, P]) {
	a.Basis.Group.AddVec(a.Fixed, a.Fixed, b.Fixed)
	a.Points = append(a.Points, b.Points...)
	a.Scalars = append(a.Scalars, b.Scalars...)
}

// asFixed is the number of terms over generators that take as long as one term over a point of a proof.
const asFixed = 3

// IsZero reports whether the collected terms sum to the identity. It first removes components
// of the sum outside the prime-order subgroup (Group.ClearTorsion).
func (a *Accumulator[S, P]) IsZero(ctx context.Context, ex executor.Executor) (bool, error) {
	g := a.Basis.Group
	var fixed, sum P
	var err error
	if executor.Cut(ex, len(a.Fixed)+asFixed*len(a.Points), leastFixed) > 1 {
		fixed, sum, err = a.apart(ctx, ex)
	} else if fixed, err = a.fixed(ctx, ex); err == nil {
		sum, err = g.MSM(ctx, ex, a.Points, a.Scalars)
	}
	if err != nil {
		return false, err
	}
	g.AddPoints(&sum, &sum, &fixed)
	g.ClearTorsion(&sum)
	return g.IsIdentity(&sum), nil
}

// fixed returns the sum over the generators.
func (a *Accumulator[S, P]) fixed(ctx context.Context, ex executor.Executor) (P, error) {
	var sum [1]P
	err := a.Basis.Table.MSM(ctx, ex, sum[:], [][]S{a.Fixed})
	return sum[0], err
}

// apart computes the sum over the generators and the one over the points in two tasks.
func (a *Accumulator[S, P]) apart(ctx context.Context, ex executor.Executor) (fixed, sum P, err error) {
	err = ex.Do(ctx, 2, func(ctx context.Context, i int) (err error) {
		if i == 0 { // the longer one
			sum, err = a.Basis.Group.MSM(ctx, ex, a.Points, a.Scalars)
		} else {
			fixed, err = a.fixed(ctx, ex)
		}
		return err
	})
	return fixed, sum, err
}
