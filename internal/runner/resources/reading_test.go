package resources

import (
	"math"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

func TestLatencyQuantile(t *testing.T) {
	ms := 1e-3
	buckets := []float64{math.Inf(-1), 0, ms, 2 * ms, 4 * ms, math.Inf(1)}
	histogram := func(counts ...uint64) *metrics.Float64Histogram {
		return &metrics.Float64Histogram{Counts: counts, Buckets: buckets}
	}
	for _, test := range []struct {
		name          string
		before, after *metrics.Float64Histogram
		p50, p99      time.Duration
	}{
		{"what=nothing", histogram(0, 5, 0, 0, 0), histogram(0, 5, 0, 0, 0), 0, 0},
		{"what=one", histogram(0, 5, 0, 0, 0), histogram(0, 5, 1, 0, 0), 2 * time.Millisecond, 2 * time.Millisecond},
		{"what=delta only", histogram(0, 0, 0, 900, 0), histogram(0, 99, 0, 901, 0), time.Millisecond, time.Millisecond},
		{"what=two in a hundred", histogram(0, 0, 0, 0, 0), histogram(0, 98, 0, 2, 0), time.Millisecond, 4 * time.Millisecond},
		{"what=half and half", histogram(0, 0, 0, 0, 0), histogram(0, 1, 1, 0, 0), time.Millisecond, 2 * time.Millisecond},
		{"what=unbounded", histogram(0, 0, 0, 0, 0), histogram(0, 0, 0, 0, 3), 4 * time.Millisecond, 4 * time.Millisecond},
		{"what=not told", nil, histogram(0, 1, 0, 0, 0), 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden.Equal(t, "median", test.p50, latencyQuantile(0.5, test.before, test.after))
			golden.Equal(t, "99th percentile", test.p99, latencyQuantile(0.99, test.before, test.after))
		})
	}
}

// A metric that the runtime does not have would be 0 for ever without a word.
func TestRuntimeHasEachMetric(t *testing.T) {
	r := newReading()
	r.read()
	for _, m := range r.metrics {
		if m.Value.Kind() == metrics.KindBad {
			t.Errorf("the runtime has no %s", m.Name)
		}
	}
}
