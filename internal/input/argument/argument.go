// Package argument is what all rooms share that read what a user typed: the error for a value
// that is not accepted, ranges of numbers, and words as a shell takes them.
package argument

import (
	"fmt"
	"math"
	"strconv"
	"strings"

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

// maxRange bounds the values that one range may expand to.
const maxRange = 4096

// Expand returns the values of one number, a..b*k (a, ak, ak^2, ...) or a..b+k
// (a, a+k, a+2k, ...), up to b. It returns false for anything else, a step that
// does not grow and a range of more than maxRange values included.
func Expand(item string) ([]int, bool) {
	first, rest, isRange := strings.Cut(item, "..")
	a, err := strconv.Atoi(first)
	if err != nil {
		return nil, false
	}
	if !isRange {
		return []int{a}, true
	}
	i := strings.IndexAny(rest, "*+")
	if i < 0 {
		return nil, false
	}
	b, errB := strconv.Atoi(rest[:i])
	k, errK := strconv.Atoi(rest[i+1:])
	if errB != nil || errK != nil || b < a || a < 1 {
		return nil, false
	}
	geometric := rest[i] == '*'
	if geometric && k < 2 || k < 1 {
		return nil, false
	}
	var values []int
	for v := a; v <= b; {
		if len(values) == maxRange {
			return nil, false
		}
		values = append(values, v)
		switch {
		case geometric && v > math.MaxInt/k, !geometric && v > math.MaxInt-k:
			return values, true
		case geometric:
			v *= k
		default:
			v += k
		}
	}
	return values, true
}
