package executor

import (
	"context"
	"errors"
)

// Serial returns the executor that runs all tasks in order on the caller's goroutine. It starts no
// goroutine and allocates nothing. Tasks receive the caller's own context. When a task fails, no
// other task is running, so there is none to cancel.
func Serial() Executor { return serial{} }

type serial struct{}

func (serial) Name() string { return serialName }

func (serial) Width() int { return 1 }

func (serial) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	for i := range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := call(ctx, i, task); err != nil {
			if echoes(err, ctx) {
				return context.Cause(ctx)
			}
			return err
		}
	}
	return nil
}

func call(ctx context.Context, i int, task func(ctx context.Context, i int) error) (err error) {
	returned := false
	defer func() {
		if !returned {
			err = caught(recover())
		}
	}()
	err = task(ctx, i)
	returned = true
	return err
}

// echoes reports whether err only says that ctx is done.
func echoes(err error, ctx context.Context) bool {
	done := ctx.Err()
	return done != nil && errors.Is(err, done)
}
