package group

import (
	"context"
	"errors"
	"iter"

	"github.com/zkbench/zkbench/executor"
)

// Together calls the function do once for each i in [0, n), runs these calls as coroutines, and
// merges the sums that they compute. Each call gets a Table of its own, with the same points as
// the Table given to Together. The MSM of such a Table waits for the other calls, until each of
// them either has returned or waits in MSM too. Then one MSM of the Table given to Together
// computes all their sums, which costs less than an MSM for each call. The function do must call
// MSM in the goroutine in which it runs itself.
//
// If several calls fail, Together returns the error of the one with the lowest index.
func Together[S, P any](ctx context.Context, ex executor.Executor, table Table[S, P], n int, do func(i int, table Table[S, P]) error) error {
	if n == 1 {
		return do(0, table)
	}
	failed := make([]error, n)
	next := make([]func() (*waiting[S, P], bool), n)
	for i := range next {
		var stop func()
		next[i], stop = iter.Pull(func(yield func(*waiting[S, P]) bool) {
			failed[i] = do(i, &inStep[S, P]{Table: table, yield: yield})
		})
		defer stop()
	}
	for {
		var all []*waiting[S, P]
		var dst []P
		var scalars [][]S
		for _, step := range next {
			if w, ok := step(); ok {
				all = append(all, w)
				dst, scalars = append(dst, w.dst...), append(scalars, w.scalars...)
			}
		}
		if len(all) == 0 {
			break
		}
		err := table.MSM(ctx, ex, dst, scalars)
		for _, w := range all {
			w.err = err
			dst = dst[copy(w.dst, dst):]
		}
	}
	for _, err := range failed {
		if err != nil {
			return err
		}
	}
	return nil
}

// waiting holds the sums that one call waits for.
type waiting[S, P any] struct {
	dst     []P
	scalars [][]S
	err     error
}

// inStep is a table whose sums are computed together with those of other calls.
type inStep[S, P any] struct {
	Table[S, P]
	yield func(*waiting[S, P]) bool
}

var errStopped = errors.New("group: Together has returned: its tables compute no more sums")

func (t *inStep[S, P]) MSM(_ context.Context, _ executor.Executor, dst []P, scalars [][]S) error {
	if len(dst) != len(scalars) {
		panic("group: sums and destinations of a table differ in number")
	}
	w := &waiting[S, P]{dst: dst, scalars: scalars, err: errStopped}
	t.yield(w)
	return w.err
}
