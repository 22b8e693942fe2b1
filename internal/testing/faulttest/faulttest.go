// Package faulttest tests operations with an executor that fails: in the first run at its first
// call, in the second run at its second call, and so on.
package faulttest

import (
	"context"
	"errors"
	"testing"

	"github.com/zkbench/zkbench/executor"
)

var errBroken = errors.New("broken by the test")

type breaking struct {
	executor.Executor
	left *int
}

func (b breaking) Do(ctx context.Context, n int, task func(context.Context, int) error) error {
	if *b.left--; *b.left == 0 {
		return errBroken
	}
	return b.Executor.Do(ctx, n, task)
}

// Each runs the operation several times with ex, which must be a serial executor. In the first run the
// executor's first call fails, in the second run its second call fails, and so on. The function Each
// fails the test if the operation does not return the executor's error. When the operation ends before
// the failing call, Each returns the operation's error.
func Each(t testing.TB, ex executor.Executor, operation func(executor.Executor) error) error {
	t.Helper()
	for n := 1; ; n++ {
		left := n
		err := operation(breaking{ex, &left})
		if left > 0 {
			return err
		}
		if !errors.Is(err, errBroken) {
			t.Errorf("the executor's call %d fails, the operation says: %v", n, err)
		}
	}
}
