// Package usage is what all rooms share that read what a user typed: the error for a value
// that is not accepted, ranges of numbers, and words as a shell takes them.
package usage

import (
	"fmt"

	"github.com/zkbench/zkbench"
)

// ValueError is a value that a field does not accept. It is an ErrParams; its
// text is one line.
type ValueError struct {
	Field    string // what the user typed it for, for example curves
	Value    string
	Accepted string
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("%s: %q is not accepted; accepted: %s", e.Field, e.Value, e.Accepted)
}

func (e *ValueError) Unwrap() error { return zkbench.ErrParams }

// AtMost is a *zkbench.LimitError where n is more than most: so many of what were asked for.
func AtMost(what string, n, most int64) error {
	if n <= most {
		return nil
	}
	return &zkbench.LimitError{What: what, Estimate: n, Max: most}
}
