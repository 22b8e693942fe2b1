package runner

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/zkbench/zkbench/executor"
)

// Recover calls f and turns a panic of it into its error.
func Recover[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			var none T
			result, err = none, panicked(v)
		}
	}()
	if result, err = f(); err != nil {
		_ = err.Error() // one that panics does so here, not where it is counted
	}
	return result, err
}

// panicked is the error of what panicked with v, or ended its goroutine (executor.ErrGoexit).
// It is called while the stack is unwound.
func panicked(v any) error { return &executor.PanicError{Value: v, Stack: debug.Stack()} }

// Protect runs f on a goroutine of its own and waits for it. A panic of f is its error, and so
// is runtime.Goexit, which FailNow of package testing calls.
func Protect[T any](f func() (T, error)) (T, error) {
	o := <-begin(f)
	return o.result, o.err
}

// outcome is what a function returned.
type outcome[T any] struct {
	result T
	err    error
}

// begin starts f under the protection of Protect. The channel gives its outcome once.
func begin[T any](f func() (T, error)) <-chan outcome[T] {
	done := make(chan outcome[T], 1)
	go func() {
		var o outcome[T]
		returned := false
		defer func() {
			if !returned {
				o.err = panicked(executor.ErrGoexit)
			}
			done <- o
		}()
		o.result, o.err = Recover(f)
		returned = true
	}()
	return done
}

// interruptible is Protect that gives f up when ctx ends and f does not end soon after: its
// goroutine is left behind then, with what it has, and ended is false.
func interruptible[T any](ctx context.Context, f func() (T, error)) (result T, err error, ended bool) {
	done := begin(f)
	select {
	case o := <-done:
		return o.result, o.err, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(abandon)
	defer timer.Stop()
	select {
	case o := <-done:
		return o.result, o.err, true
	case <-timer.C:
		return result, nil, false
	}
}
