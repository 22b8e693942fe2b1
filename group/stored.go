package group

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/group/internal/seal"
	"github.com/zkbench/zkbench/internal/sys/mapped"
	"github.com/zkbench/zkbench/internal/sys/memory"
)

// Stored holds points and some of their multiples, for a prover that computes many sums over the
// same points. It is immutable and, until Close, safe for concurrent use. Store makes one. Other
// packages cannot implement Stored.
type Stored[S, P any] interface {
	sealed

	Len() int   // number of points
	Bytes() int // memory of the multiples
	// MSM returns Σ scalars[i]·points[i], with len(scalars) <= Len.
	MSM(ctx context.Context, ex executor.Executor, scalars []S) (P, error)
	// Close frees the memory that a file was copied to. Do not call MSM after it.
	Close() error
}

// StoreOptions say how many multiples to store, and in which file.
type StoreOptions struct {
	// Spacing is the number of bits from one multiple to the next: 64 stores four multiples of each
	// point, 128 stores two. If it is 0, a default applies that was chosen by measurement
	// (docs/arithmetic.md).
	Spacing int
	// File names a file that keeps the multiples; "" means none. If the file is whole and its
	// digest matches these points, Store copies it to read-only memory. Otherwise Store computes
	// the multiples and writes the file. Anyone who can write to the file before Store runs decides
	// the results of all sums. Groups that are not on gnark-crypto keep the points as they are, and
	// use no file.
	File string
	// Warn, if it is set, is called with the reason why the file was not used or not written. The
	// sums are correct either way.
	Warn func(reason string)
}

const defaultStored = 128

// Store precomputes multiples of points for sums over many of them. Store accepts any points on the
// curve except the identity. They need not be in the subgroup of prime order (see Group.MSM). Store
// returns ErrParams if opts.Spacing is not 0, 64 or 128, or if a point is the identity. If the
// multiples do not fit in memory, the error is of type *zkbench.LimitError.
func Store[S, P any](ctx context.Context, ex executor.Executor, g Group[S, P], points []P, opts StoreOptions) (Stored[S, P], error) {
	opts.Spacing = cmp.Or(opts.Spacing, defaultStored)
	if !slices.Contains([]int{64, 128}, opts.Spacing) {
		return nil, fmt.Errorf("%w: spacing %d of stored points, accepted are 64 and 128", zkbench.ErrParams, opts.Spacing)
	}
	for i := range points {
		if g.IsIdentity(&points[i]) {
			return nil, fmt.Errorf("%w: stored point %d is the identity", zkbench.ErrParams, i)
		}
	}
	if own, ok := g.(interface {
		store(ctx context.Context, ex executor.Executor, points []P, opts StoreOptions) (Stored[S, P], error)
	}); ok {
		return own.store(ctx, ex, points, opts)
	}
	return &asTheyAre[S, P]{group: g, points: slices.Clone(points)}, nil
}

// asTheyAre implements Stored for groups that keep no multiples.
type asTheyAre[S, P any] struct {
	seal.Sealed
	group  Group[S, P]
	points []P
}

func (s *asTheyAre[S, P]) Len() int   { return len(s.points) }
func (s *asTheyAre[S, P]) Bytes() int { return len(mapped.Bytes(s.points)) }

func (s *asTheyAre[S, P]) MSM(ctx context.Context, ex executor.Executor, scalars []S) (P, error) {
	mayTake(len(scalars), len(s.points))
	return s.group.MSM(ctx, ex, s.points[:len(scalars)], scalars)
}

func (s *asTheyAre[S, P]) Close() error {
	s.points = nil
	return nil
}

// mayTake panics if a caller breaks the contract of Stored.
func mayTake(scalars, points int) {
	if scalars > points {
		panic("group: more scalars than stored points")
	}
}

// stored holds the multiples of n points: entry p·n + i is 2^(spacing·p) times point i.
type stored[E comparable] struct {
	entries            []affine[E]
	n                  int
	spacing, positions int
}

// part returns the bits of k that belong to position p.
func (s *stored[E]) part(k *integer.Limbs, p int) (part integer.Limbs) {
	words := s.spacing / 64
	copy(part[:words], k[p*words:])
	return part
}

// multiply computes the entries of all positions.
func (s *sums[E, PE]) multiply(ctx context.Context, ex executor.Executor, st *stored[E], points []affine[E]) error {
	const piece = 2048 // points that are doubled together
	sc := s.ofSums.Get().(*scratch[E, PE])
	defer s.ofSums.Put(sc)
	return s.each(ctx, ex, sc, (st.n+piece-1)/piece, func(task *scratch[E, PE], i int) {
		lo, hi := i*piece, min((i+1)*piece, st.n)
		t := &task.tree
		t.rows.enter(st.entries[lo:hi], points[lo:hi], nil)
		t.load(st.entries[lo:hi])
		for p := 1; p < st.positions; p++ {
			additions(st.spacing * (hi - lo))
			for range st.spacing {
				t.rows.double(hi - lo)
			}
			t.rows.pack(st.entries[p*st.n+lo:p*st.n+hi], 0)
		}
	})
}

// storedPoints implements Stored.
type storedPoints[S scalarElement, E comparable, P affinePoint[E], J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	seal.Sealed
	g *native[S, E, P, J, PS, PE, PP, PJ]
	stored[E]
	closing func() error
}

func (s *storedPoints[S, E, P, J, PS, PE, PP, PJ]) Len() int   { return s.n }
func (s *storedPoints[S, E, P, J, PS, PE, PP, PJ]) Bytes() int { return len(mapped.Bytes(s.entries)) }

func (s *storedPoints[S, E, P, J, PS, PE, PP, PJ]) MSM(ctx context.Context, ex executor.Executor, scalars []S) (P, error) {
	mayTake(len(scalars), s.n)
	return s.g.sum(ctx, ex, nil, &s.stored, scalars)
}

func (s *storedPoints[S, E, P, J, PS, PE, PP, PJ]) Close() error {
	closing := s.closing
	s.stored, s.closing = stored[E]{}, nil
	if closing == nil {
		return nil
	}
	return closing()
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) store(ctx context.Context, ex executor.Executor, points []P, opts StoreOptions) (Stored[S, P], error) {
	s := &storedPoints[S, E, P, J, PS, PE, PP, PJ]{g: g}
	s.stored = stored[E]{n: len(points), spacing: opts.Spacing, positions: 256 / opts.Spacing}
	if most := math.MaxInt32 / s.positions; s.n > most {
		return nil, &zkbench.LimitError{What: "stored points", Estimate: int64(s.n), Max: int64(most)}
	}
	description, own := g.description(&s.stored), mapped.Bytes(points)
	size := s.n * s.positions * int(unsafe.Sizeof(affine[E]{}))
	file := storedFile(opts, description, own, size)
	if data, closing := file.Read(); data != nil {
		s.take(data, closing)
		return s, nil
	}
	if err := memory.Fits("stored points", uint64(size)); err != nil {
		return nil, err
	}
	s.entries = make([]affine[E], s.n*s.positions)
	if err := g.sums.multiply(ctx, ex, &s.stored, affines[E](points)); err != nil {
		return nil, err
	}
	entries := mapped.Bytes(s.entries)
	if data, closing := file.Write(storedHeaderOf(description, own, entries), entries); data != nil {
		s.take(data, closing)
	}
	return s, nil
}

// take uses the multiples in data, the memory that a file was copied to. They follow its header.
func (s *storedPoints[S, E, P, J, PS, PE, PP, PJ]) take(data []byte, closing func() error) {
	s.entries, s.closing = mapped.Values[affine[E]](data[storedHeader:]), closing
}
