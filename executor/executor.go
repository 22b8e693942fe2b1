// Package executor schedules the independent pieces of one operation: serial,
// unbounded, or on a process-wide pool.
package executor

import (
	"context"
	"runtime"
)

// Executor runs the n tasks of one operation.
//
// Do calls task(ctx, i) for i in [0, n) and returns when all started calls have
// returned. The caller's goroutine takes part in the work, so a task may itself
// call Do without deadlock. The first error stops tasks that have not started
// and is returned (of several, the one with the lowest index that was seen);
// the context that tasks receive is cancelled then. A panic in a task becomes a
// *PanicError. When ctx is done, no further task starts and Do returns
// context.Cause(ctx).
type Executor interface {
	Name() string
	Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error
	// Width is the number of tasks that may run at once now: 1 for serial,
	// GOMAXPROCS for the pool, 0 for no bound.
	Width() int
}

// Tasks is the number of tasks into which an operation on ex is best cut: its
// Width, or GOMAXPROCS where that has no bound.
func Tasks(ex Executor) int {
	if w := ex.Width(); w > 0 {
		return w
	}
	return runtime.GOMAXPROCS(0)
}
