package zkbench_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// list is an error that joins several, like the error that a caller may pass to cancel a context.
type list []error

func (l list) Error() string   { return fmt.Sprintf("%d errors", len(l)) }
func (l list) Unwrap() []error { return l }

// TestCheckErrors: errors of single actions are told from those that concern a whole batch.
func TestCheckErrors(t *testing.T) {
	t.Parallel()
	one, two := &zkbench.CheckError{Action: 1, Err: zkbench.ErrProof}, &zkbench.CheckError{Action: 2, Err: zkbench.ErrProof}
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		err  error
		want []*zkbench.CheckError
	}{
		"none":                  {nil, nil},
		"one":                   {one, []*zkbench.CheckError{one}},
		"two":                   {errors.Join(one, two), []*zkbench.CheckError{one, two}},
		"two, joined again":     {errors.Join(errors.Join(one), errors.Join(two)), []*zkbench.CheckError{one, two}},
		"another":               {gone, nil},
		"one and another":       {errors.Join(one, gone), nil},
		"another and one":       {errors.Join(errors.Join(gone), one), nil},
		"a list of nothing":     {list{}, nil},
		"a list of nil":         {list{nil}, nil},
		"one, and a list":       {list{one, list{}}, nil},
		"one that is wrapped":   {fmt.Errorf("batch: %w", one), nil},
		"wrapped twice in text": {fmt.Errorf("%w, %w", one, two), []*zkbench.CheckError{one, two}},
	} {
		got, only := zkbench.CheckErrors(c.err)
		if only != (c.want != nil) || len(got) != len(c.want) {
			t.Errorf("%s: %v, only %t", name, got, only)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got, c.want)
			}
		}
	}
	golden.Equal(t, "an error by itself", true, errors.Is(one, zkbench.ErrProof))
}
