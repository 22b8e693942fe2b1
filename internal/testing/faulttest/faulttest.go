// Package faulttest lets an operation's executor fail at every step.
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

// Each runs the operation with ex, a serial executor, whose first call fails, then with one whose
// second does, and so on: the operation must end with the executor's error each time. It returns
// what the operation says where none fails.
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
