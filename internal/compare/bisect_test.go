package compare

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestNext: the commit nearest to the middle that was not skipped, and none where all were.
func TestNext(t *testing.T) {
	for _, test := range []struct {
		good, bad int
		skipped   []int
		want      int
		ok        bool
	}{
		{-1, 7, nil, 3, true},
		{-1, 7, []int{3}, 2, true},
		{-1, 7, []int{3, 2}, 4, true},
		{-1, 1, nil, 0, true},
		{-1, 1, []int{0}, 0, false},
		{2, 3, nil, 0, false},
		{2, 5, []int{3}, 4, true},
		{-1, 3, []int{0, 1, 2}, 0, false},
	} {
		skipped := make(map[int]bool)
		for _, at := range test.skipped {
			skipped[at] = true
		}
		at, ok := next(test.good, test.bad, skipped)
		golden.Equal(t, "next", [2]any{test.want, test.ok}, [2]any{at, ok})
	}
}
