package golden_test

import (
	"math"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// failures counts what a test reports.
type failures int

func (*failures) Helper()                 {}
func (n *failures) Errorf(string, ...any) { *n++ }

// TestReports: each way of comparing reports what differs, and nothing else.
func TestReports(t *testing.T) {
	for name, test := range map[string]struct {
		call func(t golden.TB)
		want failures
	}{
		"equal":      {func(t golden.TB) { golden.Equal(t, "", []int{1, 2}, []int{1, 2}) }, 0},
		"unequal":    {func(t golden.TB) { golden.Equal(t, "", []int{1, 2}, []int{2, 1}) }, 1},
		"near":       {func(t golden.TB) { golden.Near(t, "", -100, -101, 0.011) }, 0},
		"far":        {func(t golden.TB) { golden.Near(t, "", -100, -101, 0.009) }, 1},
		"no number":  {func(t golden.TB) { golden.Near(t, "", 1, math.NaN(), 9) }, 1},
		"within":     {func(t golden.TB) { golden.Within(t, "", 1, 1, 1) }, 0},
		"below":      {func(t golden.TB) { golden.Within(t, "", 1, 0, 2) }, 1},
		"above":      {func(t golden.TB) { golden.Within(t, "", 1, 3, 2) }, 1},
		"contains":   {func(t golden.TB) { golden.Contains(t, "abc", "a", "bc") }, 0},
		"lacks both": {func(t golden.TB) { golden.Contains(t, "abc", "ac", "b", "d") }, 2},
	} {
		var got failures
		if test.call(&got); got != test.want {
			t.Errorf("%s: %d reports, want %d", name, got, test.want)
		}
	}
}
