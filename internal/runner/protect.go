package runner

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/zkbench/zkbench/executor"
)

// Recover calls f and returns its results. If f panics, or if the Error method of f's error
// panics, Recover returns an *executor.PanicError.
func Recover[T any](f func() (T, error)) (result T, err error) {
	defer func() {
		if v := recover(); v != nil {
			var none T
			result, err = none, panicked(v)
		}
	}()
	if result, err = f(); err != nil {
		_ = err.Error() // if Error panics, it does so here and not where errors are counted
	}
	return result, err
}

// panicked returns the error for a panic with value v, or for a goroutine that ended
// (executor.ErrGoexit). It must be called while the stack is unwound.
func panicked(v any) error { return &executor.PanicError{Value: v, Stack: debug.Stack()} }

// Protect runs f on a goroutine of its own and waits for it. It returns an *executor.PanicError
// if f panics or calls runtime.Goexit, for example through FailNow of package testing.
func Protect[T any](f func() (T, error)) (T, error) {
	o := <-begin(f)
	return o.result, o.err
}

// outcome holds what a function returned.
type outcome[T any] struct {
	result T
	err    error
}

// begin starts f as Protect does. The channel delivers its outcome once.
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

// interruptible runs f as Protect does, but stops waiting if ctx ends and f does not end soon
// after. Then ended is false and f's goroutine keeps running.
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
