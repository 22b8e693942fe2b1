package goldilocks_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestExtend compares with interpolation and evaluation at each point.
func TestExtend(t *testing.T) {
	t.Parallel()
	goldilockstest.EachKernel(t, func(t *testing.T, k goldilocks.Kernel) {
		random := rand.New(rand.NewPCG(11, 12))
		for _, n := range []int{1, 2, 16, size(128, 32), size(256, 64)} {
			for _, blowup := range []int{1, 2, 8} {
				for _, in := range orders {
					for _, out := range orders {
						d, big := domain(t, n), domain(t, n*blowup)
						e := goldilocks.LDE{Blowup: blowup, Shift: shifts[random.IntN(len(shifts))], In: in, Out: out}
						var columns, want [][]goldilocks.Element
						for range 3 {
							f := goldilockstest.Elements(random, n)
							c := goldilockstest.Elements(random, n*blowup) // what stands behind the values is overwritten
							copy(c, inOrder(t, onCoset(d, f, 1), in))
							columns = append(columns, c)
							want = append(want, inOrder(t, onCoset(big, f, e.Shift), out))
						}
						ex := []executor.Executor{executor.Serial(), executor.Unbounded(), executor.Pool()}[random.IntN(3)]
						must.Do(t, d.Extend(context.Background(), ex, columns, e, k))
						for i := range columns {
							equal(t, fmt.Sprintf("n=%d %+v %s column %d", n, e, ex.Name(), i), columns[i], want[i])
						}
					}
				}
			}
		}
	})
}

func TestExtendRefused(t *testing.T) {
	t.Parallel()
	d := domain(t, 8)
	good := goldilocks.LDE{Blowup: 2, Shift: goldilocks.Generator}
	try := func(length int, change func(e *goldilocks.LDE)) error {
		e := good
		change(&e)
		columns := [][]goldilocks.Element{make([]goldilocks.Element, 16), make([]goldilocks.Element, length)}
		return d.Extend(context.Background(), executor.Serial(), columns, e, goldilocks.Portable())
	}
	must.Do(t, try(16, func(*goldilocks.LDE) {}))
	for what, err := range map[string]error{
		"length":  try(8, func(*goldilocks.LDE) {}),
		"blowup":  try(16, func(e *goldilocks.LDE) { e.Blowup = 3 }),
		"none":    try(16, func(e *goldilocks.LDE) { e.Blowup = 0 }),
		"huge":    try(16, func(e *goldilocks.LDE) { e.Blowup = 1 << 30 }),
		"larger":  try(16, func(e *goldilocks.LDE) { e.Blowup = math.MaxInt/2 + 1 }),
		"shift":   try(16, func(e *goldilocks.LDE) { e.Shift = 0 }),
		"order":   try(16, func(e *goldilocks.LDE) { e.In = -1 }),
		"outwith": try(16, func(e *goldilocks.LDE) { e.Out = 2 }),
		"domain":  new(goldilocks.Domain).Extend(context.Background(), executor.Serial(), nil, good, goldilocks.Portable()),
	} {
		must.Fail(t, err, zkbench.ErrParams, "%s", what)
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	must.Fail(t, d.Extend(done, executor.Pool(), [][]goldilocks.Element{make([]goldilocks.Element, 16)}, good, goldilocks.Portable()), context.Canceled, "done context")
}

// TestExtendNothing: no columns take no memory, and a context that is done is told of.
func TestExtendNothing(t *testing.T) {
	d := domain(t, 1)
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		ctx  context.Context
		want error
	}{{context.Background(), nil}, {done, context.Canceled}} {
		var err error
		taken := allocated(func() {
			err = d.Extend(c.ctx, executor.Serial(), nil, goldilocks.LDE{Blowup: 1 << 26, Shift: 7}, goldilocks.Portable())
		})
		if taken > 1<<20 || !errors.Is(err, c.want) {
			t.Errorf("%d bytes and %v, want %v", taken, err, c.want)
		}
	}
}

// outerOnly is an executor that does not run tasks of tasks.
type outerOnly struct {
	executor.Executor
	inside bool
	err    error
}

func (o *outerOnly) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	if o.inside {
		return o.err
	}
	o.inside = true
	return o.Executor.Do(ctx, n, task)
}

// TestExtendCosetFails: the error of a column's cosets is the extension's.
func TestExtendCosetFails(t *testing.T) {
	t.Parallel()
	ex := &outerOnly{Executor: executor.Serial(), err: errors.New("no cosets")}
	columns := [][]goldilocks.Element{make([]goldilocks.Element, 32)}
	err := domain(t, 8).Extend(context.Background(), ex, columns, goldilocks.LDE{Blowup: 4, Shift: 7}, goldilocks.Portable())
	if !errors.Is(err, ex.err) {
		t.Errorf("%v, want %v", err, ex.err)
	}
}
