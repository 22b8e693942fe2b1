package group

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Defaults of TableOptions on the adapter's groups, whose additions are slow:
// table building has to stay below a fifth of a second.
const (
	adapterWindow  = 6
	adapterSpacing = 15
)

// adapterTable is laid out like table: for every point and position the
// multiples 1..2^(c-1) of 2^(c·s·position) times the point. After NewTable they
// are only read, by library methods that do not change what they read.
type adapterTable[T any] struct {
	g                 *adapter[T]
	n                 int
	window, spacing   int
	digits, positions int
	multiples         []T
}

func (g *adapter[T]) NewTable(points []AdapterPoint, opts TableOptions) (Table[AdapterScalar, AdapterPoint], error) {
	t := &adapterTable[T]{g: g, n: len(points), window: opts.Window, spacing: opts.Spacing}
	if t.window == 0 {
		t.window = adapterWindow
	}
	if t.spacing == 0 {
		t.spacing = adapterSpacing
	}
	if t.window < 2 || t.window > 12 {
		return nil, fmt.Errorf("%w: table window %d, accepted are 2 to 12", zkbench.ErrParams, opts.Window)
	}
	t.digits = windows(g.orderBits, t.window)
	if t.spacing < 1 || t.spacing > t.digits {
		return nil, fmt.Errorf("%w: table spacing %d, accepted are 1 to %d", zkbench.ErrParams, opts.Spacing, t.digits)
	}
	t.positions = (t.digits + t.spacing - 1) / t.spacing
	l := g.open()
	var zero AdapterPoint
	bases := make([]T, 0, t.n*t.positions)
	for i := range points {
		if g.IsIdentity(&points[i]) {
			return nil, fmt.Errorf("%w: fixed point %d is the identity", zkbench.ErrParams, i)
		}
		base := l.load(&points[i])
		for p := range t.positions {
			if p > 0 {
				for range t.window * t.spacing {
					l.double(base)
				}
			}
			b := l.load(&zero)
			l.set(b, base)
			bases = append(bases, b)
		}
	}
	t.multiples = g.multiples(l, bases, 1<<(t.window-1))
	return t, nil
}

func (t *adapterTable[T]) Len() int { return t.n }

// Bytes counts three coordinates a point, and the pointers to them; what the
// library's objects take beyond that is not known here.
func (t *adapterTable[T]) Bytes() int {
	var z T
	return len(t.multiples) * (int(unsafe.Sizeof(z)) + 3*len(t.g.modulus))
}

func (t *adapterTable[T]) MSM(ctx context.Context, ex executor.Executor, dst []AdapterPoint, scalars [][]AdapterScalar) error {
	sameLength(len(dst), len(scalars))
	for _, v := range scalars {
		if len(v) > t.n {
			panic("group: Table.MSM: more scalars than points")
		}
	}
	// A task is one sum, or a piece of one where there are fewer sums than
	// workers.
	pieces := 1
	if workers := taskCount(ex); len(dst) < workers && len(dst) > 0 {
		pieces = min((workers+len(dst)-1)/len(dst), max(1, t.n/adapterPiece))
	}
	partial := make([]AdapterPoint, len(dst)*pieces)
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

// sum sets dst to the part of the sum over points from..to-1.
func (t *adapterTable[T]) sum(dst *AdapterPoint, scalars []AdapterScalar, from, to int) {
	l := t.g.open()
	acc := l.load(&AdapterPoint{})
	digits := make([]int16, (to-from)*t.digits)
	for i := from; i < to; i++ {
		k := t.g.canonical(&scalars[i])
		recode(digits[(i-from)*t.digits:(i-from+1)*t.digits], &k, t.window)
	}
	for s := t.spacing - 1; s >= 0; s-- {
		if s < t.spacing-1 {
			for range t.window {
				l.double(acc)
			}
		}
		for i := from; i < to; i++ {
			for w := s; w < t.digits; w += t.spacing {
				row := (i*t.positions + w/t.spacing) << (t.window - 1)
				addDigit(l, acc, t.multiples[row:], digits[(i-from)*t.digits+w])
			}
		}
	}
	l.store(dst, acc)
}

// MSMConstantTime is not available: no library underneath has field arithmetic
// that does not depend on its operands. It always returns an ErrParams.
func (t *adapterTable[T]) MSMConstantTime(context.Context, []AdapterPoint, [][]AdapterScalar) error {
	return fmt.Errorf("%w: no constant-time sums on %s", zkbench.ErrParams, t.g.name)
}
