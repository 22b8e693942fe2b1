package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"pgregory.net/rapid"
)

// forEach runs a test on every executor, at several widths of the pool.
func forEach(t *testing.T, f func(t *testing.T, ex Executor)) {
	for _, name := range Names() {
		for _, procs := range []int{1, 2, 5} {
			t.Run(fmt.Sprintf("exec=%s/procs=%d", name, procs), func(t *testing.T) {
				setProcs(t, procs)
				f(t, must.Get(ByName(name))(t))
			})
		}
	}
}

// setProcs sets GOMAXPROCS for the test.
func setProcs(t *testing.T, n int) {
	before := runtime.GOMAXPROCS(n)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
}

func TestByName(t *testing.T) {
	for _, name := range Names() {
		golden.Equal(t, "name", name, must.Get(ByName(name))(t).Name())
	}
	_, err := ByName("poool")
	must.Fail(t, err, zkbench.ErrParams, "unknown name")
	golden.Contains(t, fmt.Sprint(err), Names()...)
}

func TestEveryTaskRunsOnce(t *testing.T) {
	forEach(t, func(t *testing.T, ex Executor) {
		for _, n := range []int{0, 1, 2, 3, 100} {
			counts := make([]atomic.Int32, n)
			must.Do(t, ex.Do(t.Context(), n, func(_ context.Context, i int) error {
				counts[i].Add(1)
				return nil
			}))
			for i := range counts {
				golden.Equal(t, fmt.Sprintf("n=%d: runs of task %d", n, i), 1, counts[i].Load())
			}
		}
	})
}

func TestErrorStopsFurtherTasks(t *testing.T) {
	cause := errors.New("task 3 failed")
	forEach(t, func(t *testing.T, ex Executor) {
		var started atomic.Int32
		const n = 10_000
		err := ex.Do(t.Context(), n, func(ctx context.Context, i int) error {
			started.Add(1)
			if i == 3 {
				return cause
			}
			if i > 3 && ex.Name() != "serial" {
				<-ctx.Done() // only the failure of task 3 lets this one return
				return ctx.Err()
			}
			return nil
		})
		must.Fail(t, err, cause, "Do")
		switch s := int(started.Load()); {
		case ex.Name() == "serial" && s != 4:
			t.Errorf("%d tasks started, want 4", s)
		case ex.Name() == "pool" && s > 4+ex.Width():
			t.Errorf("%d tasks started by %d workers", s, ex.Width())
		}
	})
}

func TestLowestErrorOfSeveral(t *testing.T) {
	forEach(t, func(t *testing.T, ex Executor) {
		n := max(ex.Width(), 3)
		if ex.Name() == "pool" && ex.Width() > 1 {
			n = ex.Width() // all tasks are inside when the first one fails
		}
		together := barrier(n)
		err := ex.Do(t.Context(), n, func(_ context.Context, i int) error {
			if ex.Width() != 1 {
				together()
			}
			return fmt.Errorf("task %d", i)
		})
		golden.Equal(t, "error", "task 0", fmt.Sprint(err))
	})
}

func TestCancel(t *testing.T) {
	cause := errors.New("the caller has seen enough")
	for _, alreadyDone := range []bool{true, false} {
		t.Run(fmt.Sprintf("before=%v", alreadyDone), func(t *testing.T) {
			forEach(t, func(t *testing.T, ex Executor) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if alreadyDone {
					cancel(cause)
				}
				var started atomic.Int32
				err := ex.Do(ctx, 1000, func(ctx context.Context, i int) error {
					started.Add(1)
					cancel(cause)
					<-ctx.Done()
					return ctx.Err()
				})
				must.Fail(t, err, cause, "Do")
				switch s := int(started.Load()); {
				case alreadyDone && s != 0:
					t.Errorf("%d tasks started under a done context", s)
				case ex.Width() > 0 && s > 2*ex.Width():
					t.Errorf("%d tasks started after cancellation, width %d", s, ex.Width())
				}
			})
		})
	}
}

// A cancellation that comes when all tasks are done changes nothing.
func TestCancelInLastTask(t *testing.T) {
	forEach(t, func(t *testing.T, ex Executor) {
		ctx, cancel := context.WithCancel(t.Context())
		var done atomic.Int32
		must.Do(t, ex.Do(ctx, 1, func(context.Context, int) error { done.Add(1); cancel(); return nil }))
		golden.Equal(t, "tasks done", 1, done.Load())
	})
}

func TestPanicBecomesError(t *testing.T) {
	inner := errors.New("an error that was thrown")
	forEach(t, func(t *testing.T, ex Executor) {
		for _, value := range []any{"a string", 42, inner} {
			for _, n := range []int{1, 20} {
				err := ex.Do(t.Context(), n, func(_ context.Context, i int) error {
					if i == n-1 {
						explode(value)
					}
					return nil
				})
				var pe *PanicError
				if !errors.As(err, &pe) || pe.Value != value {
					t.Fatalf("n=%d: Do = %v, want a PanicError of %v", n, err, value)
				}
				golden.Contains(t, string(pe.Stack), "explode")
				golden.Contains(t, err.Error(), fmt.Sprint(value))
				golden.Equal(t, "errors.Is the error that was thrown", value == inner, errors.Is(err, inner))
			}
		}
	})
}

//go:noinline
func explode(v any) { panic(v) }

// A task that ends its goroutine is an error, and neither Do nor the pool loses
// count of its goroutines.
func TestGoexit(t *testing.T) {
	for _, name := range []string{"unbounded", "pool"} {
		t.Run("exec="+name, func(t *testing.T) {
			setProcs(t, 3)
			ex, _ := ByName(name)
			for range 20 {
				result := make(chan error, 1)
				exited := make(chan struct{})
				go func() {
					defer close(exited)
					result <- ex.Do(t.Context(), 8, func(_ context.Context, i int) error {
						if i == 5 {
							runtime.Goexit()
						}
						return nil
					})
				}()
				<-exited
				select {
				case err := <-result:
					var pe *PanicError
					if !errors.As(err, &pe) {
						t.Errorf("Do = %v, want a PanicError", err)
					}
				default: // task 5 ended the caller's own goroutine
				}
			}
			// The full width is still there.
			together := barrier(3)
			must.Do(t, ex.Do(t.Context(), 3, func(context.Context, int) error { together(); return nil }))
		})
	}
}

func TestNesting(t *testing.T) {
	forEach(t, func(t *testing.T, ex Executor) {
		var leaves atomic.Int32
		var nest func(depth int) func(context.Context, int) error
		nest = func(depth int) func(context.Context, int) error {
			return func(ctx context.Context, i int) error {
				if depth == 0 {
					leaves.Add(1)
					return nil
				}
				return ex.Do(ctx, 4, nest(depth-1))
			}
		}
		// Several operations at once, as under load.
		var callers sync.WaitGroup
		for range 3 {
			callers.Go(func() {
				if err := ex.Do(t.Context(), 4, nest(4)); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		golden.Equal(t, "leaves that ran", 3*1024, leaves.Load())
	})
}

func TestNestedErrorReachesTheTop(t *testing.T) {
	cause := errors.New("deep")
	forEach(t, func(t *testing.T, ex Executor) {
		err := ex.Do(t.Context(), 6, func(ctx context.Context, i int) error {
			return ex.Do(ctx, 6, func(ctx context.Context, j int) error {
				if i == 2 && j == 4 {
					return cause
				}
				return ctx.Err()
			})
		})
		must.Fail(t, err, cause, "Do")
	})
}

// The result does not depend on the executor: for any set of failing tasks Do
// fails exactly if the set is not empty, with the error of one of them.
func TestResultProperty(t *testing.T) {
	setProcs(t, 4)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "n")
		failing := rapid.SliceOfDistinct(rapid.IntRange(0, 60), rapid.ID[int]).Draw(t, "failing")
		lowest := n
		for _, i := range failing {
			lowest = min(lowest, i)
		}
		for _, name := range Names() {
			ex, _ := ByName(name)
			err := ex.Do(context.Background(), n, func(_ context.Context, i int) error {
				if slices.Contains(failing, i) {
					return indexError(i)
				}
				return nil
			})
			var got indexError
			switch {
			case lowest >= n:
				if err != nil {
					t.Fatalf("%s: %v, want no error", name, err)
				}
			case !errors.As(err, &got) || !slices.Contains(failing, int(got)):
				t.Fatalf("%s: %v, want the error of one of %v", name, err, failing)
			case name == "serial" && int(got) != lowest:
				t.Fatalf("serial: error of task %d, want %d", got, lowest)
			}
		}
	})
}

type indexError int

func (e indexError) Error() string { return fmt.Sprintf("task %d", int(e)) }

func TestWidth(t *testing.T) {
	for _, procs := range []int{1, 2, 3} {
		setProcs(t, procs)
		for ex, want := range map[Executor]int{Serial(): 1, Unbounded(): 0, Pool(): procs} {
			golden.Equal(t, fmt.Sprintf("procs=%d: width of %s", procs, ex.Name()), want, ex.Width())
		}
	}
}

// Run with -cpu=1,2 this sees the pool at both widths; the loop changes the
// width under a pool that has parked workers of another width.
func TestPoolConcurrencyFollowsGOMAXPROCS(t *testing.T) {
	for _, procs := range []int{runtime.GOMAXPROCS(0), 4, 2, 1, 3} {
		t.Run(fmt.Sprintf("procs=%d", procs), func(t *testing.T) {
			setProcs(t, procs)
			// At least procs at once: each waits for all the others.
			together := barrier(procs)
			must.Do(t, Pool().Do(t.Context(), procs, func(context.Context, int) error { together(); return nil }))
			// At most procs at once, in one flat operation.
			var now, most atomic.Int32
			must.Do(t, Pool().Do(t.Context(), 200, func(context.Context, int) error {
				for c := now.Add(1); ; {
					m := most.Load()
					if c <= m || most.CompareAndSwap(m, c) {
						break
					}
				}
				runtime.Gosched()
				now.Add(-1)
				return nil
			}))
			if m := int(most.Load()); m > procs {
				t.Errorf("%d tasks at once, width %d", m, procs)
			}
		})
	}
}

func TestUnboundedRunsAllAtOnce(t *testing.T) {
	setProcs(t, 1)
	const n = 50
	together := barrier(n)
	must.Do(t, Unbounded().Do(t.Context(), n, func(context.Context, int) error { together(); return nil }))
}

// A processor that a blocked caller leaves is used: whichever goroutine runs
// the second outer task, the other one is done, and the two inner tasks wait
// for each other.
func TestBlockedCallerFreesItsProcessor(t *testing.T) {
	setProcs(t, 2)
	outerDone := make(chan struct{})
	together := barrier(2)
	must.Do(t, Pool().Do(t.Context(), 2, func(ctx context.Context, i int) error {
		if i == 0 {
			close(outerDone)
			return nil
		}
		<-outerDone
		return Pool().Do(ctx, 2, func(context.Context, int) error { together(); return nil })
	}))
}

// barrier returns a function that returns once n goroutines have called it.
func barrier(n int) func() {
	var arrived sync.WaitGroup
	arrived.Add(n)
	return func() {
		arrived.Done()
		arrived.Wait()
	}
}

func BenchmarkDo(b *testing.B) {
	for _, name := range Names() {
		b.Run("exec="+name, func(b *testing.B) {
			ex, _ := ByName(name)
			b.ReportAllocs()
			for b.Loop() {
				_ = ex.Do(b.Context(), 16, func(context.Context, int) error { return nil })
			}
		})
	}
}
