package executor

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// custom is an executor of another package.
type custom struct{ Executor }

func (custom) Width() int { return 6 }

func TestCut(t *testing.T) {
	for _, test := range []struct {
		ex                Executor
		size, least, want int
	}{
		{Serial(), 100, 1, 1},
		{NewRecorder(8), 100, 10, 8},
		{NewRecorder(8), 100, 30, 3},
		{NewRecorder(8), 59, 30, 1},
		{NewRecorder(8), 0, 30, 1},
		{NewRecorder(8), 5, 0, 5},
		{custom{Serial()}, 100, 1, 6},
	} {
		golden.Equal(t, fmt.Sprintf("%s: %d of at least %d", test.ex.Name(), test.size, test.least), test.want, Cut(test.ex, test.size, test.least))
	}
}

// TestCutInTasks: while a Recorder runs the tasks of one call, each has its share of the width.
func TestCutInTasks(t *testing.T) {
	r := NewRecorder(8)
	section := r.Begin()
	must.Do(t, r.Do(t.Context(), 3, func(ctx context.Context, _ int) error {
		golden.Equal(t, "of three tasks", 2, Cut(r, 100, 1))
		return r.Do(ctx, 5, func(context.Context, int) error {
			golden.Equal(t, "of fifteen tasks", 1, Cut(r, 100, 1))
			return nil
		})
	}))
	golden.Equal(t, "after them", 8, Cut(r, 100, 1))
	section.End()
}

// TestCutOnBusyProcessors: the pool and unbounded cut for processors without work only.
func TestCutOnBusyProcessors(t *testing.T) {
	const procs = 4
	setProcs(t, procs)
	for _, ex := range []Executor{Pool(), Unbounded()} {
		// Goroutines of the runtime may take a processor at any time, but not for long.
		eventually := func(want int) {
			t.Helper()
			for begun := time.Now(); Cut(ex, 100, 1) != want; runtime.Gosched() {
				if time.Since(begun) > 10*time.Second {
					t.Fatalf("%s: %d tasks, want %d", ex.Name(), Cut(ex, 100, 1), want)
				}
			}
		}
		eventually(procs)
		var stop atomic.Bool
		var busy, begun sync.WaitGroup
		for range procs - 2 {
			begun.Add(1)
			busy.Go(func() {
				begun.Done()
				for !stop.Load() {
				}
			})
		}
		begun.Wait()
		eventually(2)
		for range 2 {
			busy.Go(func() {
				for !stop.Load() {
				}
			})
		}
		eventually(1)
		stop.Store(true)
		busy.Wait()
		eventually(procs)
	}
	setProcs(t, 1)
	golden.Equal(t, "on one processor", 1, Cut(Pool(), 100, 1))
}

// TestCutAfterTasks: the runtime looks for work on the processors of tasks that have just ended, and they count as free.
func TestCutAfterTasks(t *testing.T) {
	golden.Equal(t, "before any", 0, new(releases).recently())
	r := new(releases)
	r.note(3)
	golden.Equal(t, "after three", 3, r.recently())
	r.at.Store(r.at.Load() - int64(lookingTime))
	golden.Equal(t, "some time later", 0, r.recently())
}

func TestCutAllocatesNothing(t *testing.T) {
	ex := Pool()
	Cut(ex, 100, 1)
	golden.Equal(t, "allocations of Cut", 0, testing.AllocsPerRun(100, func() { Cut(ex, 100, 1) }))
}

func TestRanges(t *testing.T) {
	forEach(t, func(t *testing.T, ex Executor) {
		for _, n := range []int{0, 1, 2, 7, 100} {
			counts := make([]atomic.Int32, n)
			must.Do(t, Ranges(t.Context(), ex, n, 3, func(_ context.Context, lo, hi int) error {
				if hi-lo < min(3, n) {
					t.Errorf("%d pieces from %d", hi-lo, lo)
				}
				for i := lo; i < hi; i++ {
					counts[i].Add(1)
				}
				return nil
			}))
			for i := range counts {
				golden.Equal(t, fmt.Sprintf("n=%d: runs of piece %d", n, i), 1, counts[i].Load())
			}
		}
	})
}

func BenchmarkCut(b *testing.B) {
	for b.Loop() {
		Cut(Pool(), 100, 1)
	}
}
