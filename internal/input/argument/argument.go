// Package argument parses what users type on the command line. It has the type for the value of a flag, the
// error for a value that is not accepted, and functions that parse ranges of numbers and split a command into
// words.
package argument

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench"
)

// ValueError reports a value that a field does not accept. It wraps zkbench.ErrParams. Its text is one line.
type ValueError struct {
	Field    string // the flag or argument, for example curves; empty if Value itself is a name
	Value    string
	Near     []string // accepted names that are similar to Value, the most similar first
	Accepted string   // the accepted values, in words
}

func (e *ValueError) Error() string {
	field, near := "", ""
	if e.Field != "" {
		field = e.Field + ": "
	}
	if len(e.Near) > 0 {
		near = " did you mean " + strings.Join(e.Near, " or ") + "?"
	}
	return fmt.Sprintf("%s%q is not accepted;%s accepted: %s", field, e.Value, near, e.Accepted)
}

func (e *ValueError) Unwrap() error { return zkbench.ErrParams }

// AtMost returns a *zkbench.LimitError if n > most. The error's text contains the string what, which names the
// things that n counts, for example "cases".
func AtMost(what string, n, most int64) error {
	if n <= most {
		return nil
	}
	return &zkbench.LimitError{What: what, Estimate: n, Max: most}
}

// maxRange bounds the values that one range may expand to.
const maxRange = 4096

// Expand parses one item of a list and returns the numbers that the item stands for. An item is one number,
// such as "8", or a range of numbers from a to at most b. The range "a..b*k" stands for a, a·k, a·k^2, ...,
// and the range "a..b+k" stands for a, a+k, a+2k, .... Expand returns false for any other item. It also
// returns false for a range whose numbers do not grow, and for a range of more than 4,096 numbers.
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
