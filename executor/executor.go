// Package executor runs the independent tasks of one operation: in order, each on its own
// goroutine, or on a pool that the whole process shares.
package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/zkbench/zkbench"
)

// Executor runs the tasks of one operation.
//
// The method Do calls task(ctx, i) for each i in [0, n) and returns when all calls that it started
// have returned. The caller's goroutine runs tasks too, so a task may itself call Do without
// deadlock.
//
// After the first error no further task starts, and the context that tasks receive is cancelled. If
// several tasks fail, Do returns one of the errors that it saw: that of the task with the lowest
// index. A panic in a task becomes a *PanicError. When ctx is done, no further task starts. Do then
// returns nil if all tasks succeeded, and a task's error if the task failed for another reason.
// Otherwise it returns context.Cause(ctx).
//
// Other packages can implement Executor.
type Executor interface {
	Name() string
	Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error
	// Width returns how many tasks may run at once now: 1 for serial, GOMAXPROCS for the pool, 0
	// for no bound.
	Width() int
}

// atOnce returns how many tasks of ex may run at once: ex.Width(), or GOMAXPROCS if there is no bound.
func atOnce(ex Executor) int {
	if w := ex.Width(); w > 0 {
		return w
	}
	return runtime.GOMAXPROCS(0)
}

const (
	serialName    = "serial"
	unboundedName = "unbounded"
	poolName      = "pool"
)

// Names returns the names that ByName accepts, in the order in which the documentation lists them.
func Names() []string { return []string{serialName, unboundedName, poolName} }

// ByName returns the executor with the given name: "serial", "unbounded" or "pool". For any other
// name it returns ErrParams, and the error lists the accepted names.
func ByName(name string) (Executor, error) {
	switch name {
	case serialName:
		return Serial(), nil
	case unboundedName:
		return Unbounded(), nil
	case poolName:
		return Pool(), nil
	}
	return nil, fmt.Errorf("%w: executor %q, accepted are %s", zkbench.ErrParams, name, strings.Join(Names(), ", "))
}

// PanicError reports a panic in a task.
type PanicError struct {
	Value any    // argument of panic, or ErrGoexit
	Stack []byte // of the panicking goroutine, as debug.Stack formats it
}

// Error returns the panic's value as text. It leaves out the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns Value if the task panicked with an error, else nil.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrGoexit is the Value of a PanicError if a task ended its goroutine without a panic, for example
// by calling FailNow of package testing.
var ErrGoexit = errors.New("runtime.Goexit called by a task")

// caught turns the result of recover into an error, while a task's call unwinds. Since panic(nil)
// recovers as a *runtime.PanicNilError, nil means runtime.Goexit.
func caught(recovered any) error {
	if recovered == nil {
		recovered = ErrGoexit
	}
	return &PanicError{Value: recovered, Stack: debug.Stack()}
}
