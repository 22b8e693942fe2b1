package rangeproof

import (
	"context"
	"crypto/rand"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// Replayed is a proof whose transcript has been replayed to its end.
type Replayed[S, P any] struct {
	Equations Equations[S, P]
	// State is the transcript's final state. It depends on every byte of statement and proof.
	State [transcript.StateLen]byte
	// Points is the maximum number of points that Equations adds.
	Points int
	// Err is the error of a check that needed no group operation, or nil.
	Err error
}

// VerifyBatch merges the equations of all items into one, with an independent weight for each
// equation. It checks the result with one multi-scalar multiplication. Each weight is a number of 512
// bits, reduced modulo the group's order. The weights are drawn from the final transcript states of
// all items and 32 local random bytes, so no prover knows them.
//
// If the merged equation does not hold, bisection with fresh weights finds the items whose equations
// do not hold. The error joins one *zkbench.CheckError for each such item. The caller passes the name
// of the check that these errors contain. VerifyBatch returns ErrParams if there are no items.
func VerifyBatch[S, P any](ctx context.Context, ex executor.Executor, basis *group.Basis[S, P], check string, items []Replayed[S, P]) error {
	if len(items) == 0 {
		return fmt.Errorf("%w: no %s to verify, accepted are 1 or more", zkbench.ErrParams, check)
	}
	b := batch[S, P]{basis: basis, ex: ex, items: items}
	if _, err := rand.Read(b.local[:]); err != nil {
		return err
	}
	h := sha512.New()
	var bad []int
	causes := make(map[int]error)
	good := make([]int, 0, len(items))
	for i := range items {
		h.Write(items[i].State[:])
		if items[i].Err != nil {
			bad, causes[i] = append(bad, i), items[i].Err
		} else {
			good = append(good, i)
		}
	}
	h.Sum(b.states[:0])
	more, err := b.find(ctx, good)
	if err != nil {
		return err
	}
	var errs []error
	for _, i := range append(bad, more...) {
		cause := causes[i]
		if cause == nil {
			cause = zkbench.ErrProof
		}
		errs = append(errs, &zkbench.CheckError{Check: check, Action: i, Index: -1, Err: cause})
	}
	return errors.Join(errs...)
}

// batch checks subsets of items.
type batch[S, P any] struct {
	basis  *group.Basis[S, P]
	ex     executor.Executor
	items  []Replayed[S, P]
	states [sha512.Size]byte
	local  [transcript.SeedLen]byte
	drawn  uint64 // weight streams used
}

// find returns the indices that do not hold.
func (b *batch[S, P]) find(ctx context.Context, indices []int) ([]int, error) {
	if len(indices) == 0 {
		return nil, nil
	}
	ok, err := b.holds(ctx, indices)
	if err != nil || ok {
		return nil, err
	}
	if len(indices) == 1 {
		return indices, nil
	}
	half := len(indices) / 2
	left, err := b.find(ctx, indices[:half])
	if err != nil {
		return nil, err
	}
	right, err := b.find(ctx, indices[half:])
	if err == nil && len(left)+len(right) == 0 {
		// The sum of all fails and no part does. Honest arithmetic comes here
		// with probability 2^-250; a fault must not turn into acceptance.
		return indices, nil
	}
	return append(left[:len(left):len(left)], right...), err
}

// leastItems is the least number of proofs that a task replays, or whose equations it collects. Fewer take no longer than waking a processor.
const leastItems = 4

// holds reports whether the equations of indices sum to zero.
func (b *batch[S, P]) holds(ctx context.Context, indices []int) (bool, error) {
	tasks := executor.Cut(b.ex, len(indices), leastItems)
	parts := make([]*group.Accumulator[S, P], tasks)
	first := b.drawn
	b.drawn += uint64(tasks)
	err := b.ex.Do(ctx, tasks, func(_ context.Context, k int) error {
		mine := indices[k*len(indices)/tasks : (k+1)*len(indices)/tasks]
		points := 0
		for _, i := range mine {
			points += b.items[i].Points
		}
		acc := group.NewAccumulator(b.basis, points)
		stream := binary.LittleEndian.AppendUint64(nil, first+uint64(k))
		weights := group.NewWeights(b.basis.Group, transcript.XOF("zkbench/v1/weights", b.states[:], b.local[:], stream))
		for _, i := range mine {
			b.items[i].Equations.Accumulate(acc, weights)
		}
		parts[k] = acc
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, part := range parts[1:] {
		parts[0].Merge(part)
	}
	return parts[0].IsZero(ctx, b.ex)
}

// within applies DecodeError.Within to err if a group returned it for a list. It replaces the
// group's name for the whole list by path. It returns other errors as they are.
func within(err error, path string, offset int) error {
	d, ok := errors.AsType[*zkbench.DecodeError](err)
	if !ok {
		return err
	}
	if placed := *d; !strings.HasPrefix(d.Path, "[") {
		placed.Path = ""
		d = &placed
	}
	return d.Within(path, offset)
}

// DecodeProof decodes a proof of shape s: the points, then the scalars, and nothing else. It checks
// that points are on the curve; docs/token.md, section 8 says why that is enough inside a proof. Every
// error is of type *zkbench.DecodeError.
func DecodeProof[S, P any](g group.Group[S, P], s Shape, raw []byte) (*Proof[S, P], error) {
	split := s.Points * g.PointLen()
	if want := split + s.Scalars*g.ScalarLen(); len(raw) != want {
		return nil, &zkbench.DecodeError{Path: "proof", Reason: fmt.Sprintf("%d bytes, want %d", len(raw), want)}
	}
	p := &Proof[S, P]{Points: make([]P, s.Points), Scalars: make([]S, s.Scalars)}
	if err := g.DecodePoints(p.Points, raw[:split], group.OnCurve); err != nil {
		return nil, within(err, "proof.points", 0)
	}
	if err := g.DecodeScalars(p.Scalars, raw[split:]); err != nil {
		return nil, within(err, "proof.scalars", split)
	}
	return p, nil
}

// AppendProof appends the encoding that DecodeProof reads.
func AppendProof[S, P any](g group.Group[S, P], dst []byte, p *Proof[S, P]) []byte {
	return g.AppendScalars(g.AppendPoints(dst, p.Points...), p.Scalars...)
}
