package executor

import (
	"context"
	"runtime"
	"sync"
)

// Unbounded returns the executor that may run all tasks of an operation at once. Each task runs on
// a goroutine of its own; one of these is the caller's.
func Unbounded() Executor { return unbounded{} }

type unbounded struct{}

func (unbounded) Name() string { return unboundedName }

func (unbounded) Width() int { return 0 }

func (unbounded) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	if n <= 1 {
		return serial{}.Do(ctx, n, task)
	}
	r := newRun(ctx, n, task)
	defer r.cancel(nil)
	func() {
		var helpers sync.WaitGroup
		started := 0
		defer func() { // also when a task ends the caller's goroutine
			helpers.Wait()
			released.note(min(started, runtime.GOMAXPROCS(0)-1))
		}()
		for ; started < n-1 && !r.exhausted(); started++ {
			helpers.Go(func() { r.step() })
		}
		r.work()
	}()
	return r.result(ctx)
}
