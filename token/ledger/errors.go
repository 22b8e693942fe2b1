package ledger

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/zkbench/zkbench"
)

var (
	// ErrNotFound: an id that the ledger never had. It is a zkbench.ErrPolicy.
	ErrNotFound = fmt.Errorf("%w: token is not on the ledger", zkbench.ErrPolicy)
	// ErrExists: a new token under an id that a token has or had.
	ErrExists = errors.New("token is on the ledger already")
	// ErrLocked: a store that another ledger has open. It is a zkbench.ErrEnv.
	ErrLocked = fmt.Errorf("%w: ledger is open elsewhere", zkbench.ErrEnv)
	// ErrClosed: a call after Close. It is an fs.ErrClosed.
	ErrClosed = fmt.Errorf("ledger: %w", fs.ErrClosed)
)

// CorruptError says where a store contradicts itself. It is a
// zkbench.ErrMalformed.
type CorruptError struct {
	Place  string // for example "page 17" or "request 3: spend 1"
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt ledger: %s: %s", e.Place, e.Reason)
}

func (e *CorruptError) Unwrap() error { return zkbench.ErrMalformed }

// Corruptf returns a CorruptError.
func Corruptf(place, format string, args ...any) *CorruptError {
	return &CorruptError{Place: place, Reason: fmt.Sprintf(format, args...)}
}
