// Package exectest has executors for tests that must hold on any of them and on any number of processors.
package exectest

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/executor"
)

// Wide returns an executor for which work is cut into as many tasks as its width says, whether or not processors
// have other work. The tasks run on the pool.
func Wide(width int) executor.Executor { return wide(width) }

type wide int

func (w wide) Name() string { return fmt.Sprintf("wide-%d", int(w)) }
func (w wide) Width() int   { return int(w) }
func (w wide) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	return executor.Pool().Do(ctx, n, task)
}

// processors are the numbers of processors of Each: fewer than, as many as and more than a machine has.
var processors = []int{1, 2, 3, 16, 64}

// Each runs a test with each executor: serial; pool and unbounded, and one that cuts for them, on several numbers of
// processors; and a Recorder that records. It must not run beside other tests, since it sets GOMAXPROCS.
func Each(t *testing.T, f func(t *testing.T, ex executor.Executor)) {
	t.Run("exec=serial", func(t *testing.T) { f(t, executor.Serial()) })
	for _, procs := range processors {
		for _, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), Wide(procs)} {
			t.Run(fmt.Sprintf("exec=%s/procs=%d", ex.Name(), procs), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				f(t, ex)
			})
		}
	}
	for _, width := range []int{2, 16} {
		t.Run(fmt.Sprintf("exec=recorder/width=%d", width), func(t *testing.T) {
			r := executor.NewRecorder(width)
			section := r.Begin()
			defer section.End()
			f(t, r)
		})
	}
}
