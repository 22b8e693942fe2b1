package exectest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench/executor"
)

// ErrRefused is the error of the calls that Refusing lets fail.
var ErrRefused = errors.New("refused")

// Refusing returns an executor of which one call of Do fails: after as many calls as left says, which run on ex, it runs
// the first of the tasks, as many as runs says, and returns ErrRefused. Later calls run on ex again. Each call takes
// one from left, so that left is below zero if the call that fails has come.
func Refusing(ex executor.Executor, left *atomic.Int64, runs int) executor.Executor {
	return refusing{ex, left, runs}
}

type refusing struct {
	executor.Executor
	left *atomic.Int64
	runs int
}

func (r refusing) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	if r.left.Add(-1) != -1 {
		return r.Executor.Do(ctx, n, task)
	}
	if err := executor.Serial().Do(ctx, min(n, r.runs), task); err != nil {
		return err
	}
	return ErrRefused
}

// EachRefused runs an operation on executors made by Refusing over ex: the first call fails, then the second, and so on,
// once after none of its tasks and once after the first. It fails the test if the operation does not return ErrRefused.
// It returns the error of the operation without a call that fails, and how many calls the operation has.
func EachRefused(t testing.TB, ex executor.Executor, operation func(ex executor.Executor) error) (calls int, err error) {
	t.Helper()
	for runs := range 2 {
		for calls = 0; ; calls++ {
			var left atomic.Int64
			left.Store(int64(calls))
			err = operation(Refusing(ex, &left, runs))
			if left.Load() >= 0 {
				break
			}
			if !errors.Is(err, ErrRefused) {
				t.Errorf("%s: call %d fails with %d tasks run, the operation says: %v", ex.Name(), calls, runs, err)
			}
		}
	}
	return calls, err
}

// EachEnded runs an operation under contexts that end: the first time that something asks whether they have, then the
// second time, and so on. In some runs the operation's own context ends, which executors that derive others from it do not
// notice. In the others only the context ends that ex, like an executor that is being shut down, gives to tasks. EachEnded fails the
// test if the operation does not return context.Canceled. It returns the error of the operation under contexts that do not
// end, and how often that asked.
func EachEnded(t testing.TB, ex executor.Executor, operation func(ctx context.Context, ex executor.Executor) error) (asked int, err error) {
	t.Helper()
	for _, tasksOnly := range []bool{false, true} {
		for asked = 0; ; asked++ {
			var left atomic.Int64
			left.Store(int64(asked))
			if tasksOnly {
				err = operation(t.Context(), ending{ex, &left})
			} else {
				err = operation(countdown{t.Context(), &left}, ex)
			}
			if left.Load() >= 0 {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s, only of tasks %v: the context ends after %d questions, the operation says: %v", ex.Name(), tasksOnly, asked, err)
			}
		}
	}
	return asked, err
}

// countdown is a context that ends, for good, once it was asked a number of times whether it has.
type countdown struct {
	context.Context
	left *atomic.Int64
}

func (c countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return c.Context.Err()
}

// ending is an executor that gives countdowns to its tasks.
type ending struct {
	executor.Executor
	left *atomic.Int64
}

func (e ending) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	return e.Executor.Do(ctx, n, func(ctx context.Context, i int) error { return task(countdown{ctx, e.left}, i) })
}
