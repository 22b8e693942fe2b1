package cli

import (
	"context"
	"math"
	"testing"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestHighestRate checks what a search prints, also if its estimate is below 0.
func TestHighestRate(t *testing.T) {
	slo := must.Get(runner.ParseSLO("p99=50ms"))(t)
	for _, test := range []struct {
		found stat.Estimate
		want  string
	}{
		{stat.Estimate{Value: 120, Low: 100, High: 140}, "120/s is the highest rate that holds p99=50ms: 100 to 140/s with 95 % confidence"},
		{stat.Estimate{Value: 120, Low: 100, High: math.Inf(1)}, "120/s is the highest rate that holds p99=50ms: 100/s at least"},
		{stat.Estimate{Value: -700.3, Low: math.Inf(-1), High: 12}, "0/s is the highest rate that holds p99=50ms: 0 to 12/s with 95 % confidence"},
		{stat.Estimate{Value: -700.3, Low: math.Inf(-1), High: math.Inf(1)}, "0/s is the highest rate that holds p99=50ms: the trials do not show how sure that is"},
	} {
		golden.Equal(t, "sentence", test.want, highestRate(atLeastZero(test.found), slo))
	}
}

// TestEstimateBelowZero checks that a search on a machine that is busy for all but its first trial estimates a rate below 0.
func TestEstimateBelowZero(t *testing.T) {
	trials := 0
	found := must.Get(runner.Capacity(t.Context(), 100, 0.01, func() bool { return trials >= 24 }, func(_ context.Context, rate float64) (late, offered uint64, err error) {
		if trials++; trials == 1 {
			return 0, 10000, nil
		}
		return 300 + uint64(rate/10), 10000, nil
	}))(t)
	t.Log(found)
	if found.Value >= 0 {
		t.Errorf("estimate %v, want one below 0", found)
	}
	if rate := atLeastZero(found); rate.Value != 0 || rate.Low != 0 {
		t.Errorf("%v becomes %v, want 0", found, rate)
	}
}
