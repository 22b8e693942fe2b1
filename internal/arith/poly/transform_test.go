package poly

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestInTurn: the second phase begins when all of the first is done, every piece is done once,
// and a piece that fails or panics ends those that wait for it.
func TestInTurn(t *testing.T) {
	t.Parallel()
	for _, ex := range []executor.Executor{executor.Serial(), executor.Unbounded(), executor.Pool()} {
		for range 50 {
			var first, second, early atomic.Int64
			err := inTurn(t.Context(), ex,
				phase{9, func(context.Context, int) error { first.Add(1); return nil }},
				phase{5, func(context.Context, int) error {
					if second.Add(1); first.Load() != 9 {
						early.Add(1)
					}
					return nil
				}})
			golden.Equal(t, ex.Name()+": pieces, early ones", [3]int64{9, 5, 0}, [3]int64{first.Load(), second.Load(), early.Load()})
			golden.Equal(t, "error", nil, err)
		}
		wrong := errors.New("wrong")
		for _, fail := range []func() error{func() error { return wrong }, func() error { panic(wrong) }} {
			err := inTurn(t.Context(), ex,
				phase{9, func(_ context.Context, i int) error {
					if i == 3 {
						return fail()
					}
					return nil
				}},
				phase{5, func(context.Context, int) error { t.Error("the second phase began"); return nil }})
			golden.Equal(t, ex.Name()+": fails", true, errors.Is(err, wrong))
		}
	}
}
