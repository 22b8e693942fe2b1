package adapter

import (
	"cmp"
	"context"
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/group/internal/seal"
)

// These are the defaults of group.TableOptions for the adapter's groups. Their additions are slow,
// and building a table must take less than a fifth of a second.
const (
	defaultWindow  = 6
	defaultSpacing = 15
)

// table holds the multiples of its layout, point by point. After NewTable, the library only reads
// them.
type table[T any] struct {
	seal.Sealed
	integer.Layout
	g         *adapter[T]
	n         int
	multiples []T
}

func (g *adapter[T]) NewTable(points []Point, opts group.TableOptions) (group.Table[Scalar, Point], error) {
	layout, err := integer.NewLayout(g.orderBits, cmp.Or(opts.Window, defaultWindow), cmp.Or(opts.Spacing, defaultSpacing))
	if err != nil {
		return nil, err
	}
	t := &table[T]{Layout: layout, g: g, n: len(points)}
	l := g.access()
	var zero Point
	bases := make([]T, 0, t.n*t.Positions)
	for i := range points {
		if g.IsIdentity(&points[i]) {
			return nil, fmt.Errorf("%w: fixed point %d is the identity", zkbench.ErrParams, i)
		}
		base := l.load(&points[i])
		for p := range t.Positions {
			if p > 0 {
				for range t.Window * t.Spacing {
					l.Double(base)
				}
			}
			b := l.load(&zero)
			l.Set(b, base)
			bases = append(bases, b)
		}
	}
	t.multiples = g.multiples(l, bases, 1<<(t.Window-1))
	return t, nil
}

func (t *table[T]) Len() int { return t.n }

// Bytes counts three coordinates for each multiple and the pointers to them. It does not know what
// else the library's objects take.
func (t *table[T]) Bytes() int {
	var z T
	return len(t.multiples) * (int(unsafe.Sizeof(z)) + 3*len(t.g.Modulus))
}

func (t *table[T]) MSM(ctx context.Context, ex executor.Executor, dst []Point, scalars [][]Scalar) error {
	sameLength(len(dst), len(scalars))
	for _, v := range scalars {
		if len(v) > t.n {
			panic("group: Table.MSM: more scalars than points")
		}
	}
	// A task is one sum, or a piece of one if there are fewer sums than
	// workers.
	pieces, most := 1, max(1, t.n/minPiece)
	switch workers := executor.Cut(ex, len(dst)*most, 1); {
	case workers == 1:
		ex = executor.Serial()
	case len(dst) < workers:
		pieces = min((workers+len(dst)-1)/len(dst), most)
	}
	partial := make([]Point, len(dst)*pieces)
	err := ex.Do(ctx, len(partial), func(_ context.Context, k int) error {
		v, piece := scalars[k/pieces], k%pieces
		t.sum(&partial[k], v, piece*len(v)/pieces, (piece+1)*len(v)/pieces)
		return nil
	})
	if err != nil {
		return err
	}
	for j := range dst {
		dst[j] = partial[j*pieces]
		for k := 1; k < pieces; k++ {
			t.g.AddPoints(&dst[j], &dst[j], &partial[j*pieces+k])
		}
	}
	return nil
}

// sum sets dst to the part of the sum over the points from, .., to-1.
func (t *table[T]) sum(dst *Point, scalars []Scalar, from, to int) {
	l := t.g.access()
	acc := l.load(&Point{})
	digits := make([]int16, (to-from)*t.Digits)
	for i := from; i < to; i++ {
		k := t.g.canonical(&scalars[i])
		integer.Recode(digits[(i-from)*t.Digits:(i-from+1)*t.Digits], 1, &k, t.Window)
	}
	for s := t.Spacing - 1; s >= 0; s-- {
		if s < t.Spacing-1 {
			for range t.Window {
				l.Double(acc)
			}
		}
		for i := from; i < to; i++ {
			for w := s; w < t.Digits; w += t.Spacing {
				row := (i*t.Positions + w/t.Spacing) << (t.Window - 1)
				addDigit(l, acc, t.multiples[row:], digits[(i-from)*t.Digits+w])
			}
		}
	}
	l.store(dst, acc)
}

// MSMConstantTime always returns ErrParams: no underlying library has field arithmetic whose time
// is independent of its operands.
func (t *table[T]) MSMConstantTime(context.Context, []Point, [][]Scalar) error {
	return fmt.Errorf("%w: no constant-time sums on %s", zkbench.ErrParams, t.g.Name())
}
