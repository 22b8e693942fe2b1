package executor

import (
	"context"
	"sync"
	"sync/atomic"
)

// run is one call of Do. Several goroutines claim its tasks one by one.
type run struct {
	ctx    context.Context // what tasks receive; cancelled by the first error
	cancel context.CancelCauseFunc
	task   func(ctx context.Context, i int) error
	n      int64
	next   atomic.Int64 // lowest index not claimed yet

	mu          sync.Mutex
	err         error // of the lowest index seen
	index       int   // of err
	interrupted bool  // a task returned because ctx was done
}

func newRun(ctx context.Context, n int, task func(ctx context.Context, i int) error) *run {
	r := &run{task: task, n: int64(n)}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// exhausted reports whether no further task may start.
func (r *run) exhausted() bool { return r.next.Load() >= r.n || r.ctx.Err() != nil }

// work claims and runs tasks until none may start.
func (r *run) work() {
	for r.step() {
	}
}

// step claims and runs one task and reports whether there was one.
func (r *run) step() bool {
	if r.exhausted() {
		return false
	}
	// Claims past n are possible and harmless: goroutines that pass the test
	// above together raise next by at most their number.
	i := r.next.Add(1) - 1
	if i >= r.n {
		return false
	}
	returned := false
	defer func() {
		if !returned {
			r.fail(int(i), caught(recover()))
		}
	}()
	err := r.task(r.ctx, int(i))
	returned = true
	if err != nil {
		r.fail(int(i), err)
	}
	return true
}

// fail records the error of task i and cancels the others. It does not record an error that only
// repeats the cancellation: the cause is then the caller's context, or it is recorded already,
// because recording and cancelling happen under one lock.
func (r *run) fail(i int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if echoes(err, r.ctx) {
		r.interrupted = true
		return
	}
	if r.err == nil || i < r.index {
		r.err, r.index = err, i
	}
	r.cancel(err)
}

// result returns what Do returns after every started task has returned. parent is the caller's
// context.
func (r *run) result(parent context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.err != nil:
		return r.err
	case r.interrupted || r.next.Load() < r.n:
		return context.Cause(parent)
	}
	return nil
}
