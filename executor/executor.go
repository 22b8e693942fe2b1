// Package executor schedules the independent pieces of one operation: serial,
// unbounded, or on a process-wide pool.
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

// Executor runs the n tasks of one operation.
//
// Do calls task(ctx, i) for i in [0, n) and returns when all started calls have
// returned. The caller's goroutine takes part in the work, so a task may itself
// call Do without deadlock. The first error stops tasks that have not started
// and is returned (of several, the one with the lowest index that was seen);
// the context that tasks receive is cancelled then. A panic in a task becomes a
// *PanicError. When ctx is done, no further task starts and Do returns
// context.Cause(ctx).
type Executor interface {
	Name() string
	Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error
	// Width is the number of tasks that may run at once now: 1 for serial,
	// GOMAXPROCS for the pool, 0 for no bound.
	Width() int
}

// Tasks is the number of tasks into which an operation on ex is best cut: its
// Width, or GOMAXPROCS where that has no bound.
func Tasks(ex Executor) int {
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

// Names returns the names that ByName accepts, in the order of the
// documentation.
func Names() []string { return []string{serialName, unboundedName, poolName} }

// ByName returns the executor that users call name. Another name is an
// ErrParams that lists the accepted ones.
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

// PanicError is a task's panic as an error.
type PanicError struct {
	Value any    // what the task panicked with
	Stack []byte // of the panicking goroutine, as debug.Stack formats it
}

// Error gives the panic's value; the stack is left to those who print it.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the value if the task panicked with an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// ErrGoexit is the value of a PanicError where a task ended its goroutine without a panic, as
// FailNow of package testing does.
var ErrGoexit = errors.New("runtime.Goexit called by a task")

// caught makes an error of what recover returned while a task's call was being
// unwound. Since panic(nil) recovers as a *runtime.PanicNilError, nil means
// runtime.Goexit.
func caught(recovered any) error {
	if recovered == nil {
		recovered = ErrGoexit
	}
	return &PanicError{Value: recovered, Stack: debug.Stack()}
}
