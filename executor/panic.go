package executor

import (
	"errors"
	"fmt"
	"runtime/debug"
)

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

// errGoexit is the value where a task ended its goroutine without a panic.
var errGoexit = errors.New("runtime.Goexit called by a task")

// caught makes an error of what recover returned while a task's call was being
// unwound. Since panic(nil) recovers as a *runtime.PanicNilError, nil means
// runtime.Goexit.
func caught(recovered any) error {
	if recovered == nil {
		recovered = errGoexit
	}
	return &PanicError{Value: recovered, Stack: debug.Stack()}
}
