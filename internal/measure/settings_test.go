package measure_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestSettingsNameTheCase: workers, and in an open loop rate and arrivals, end its name.
func TestSettingsNameTheCase(t *testing.T) {
	c := workload.NewCase(record.Axis{Key: "bits", Value: "8"})
	s := measure.DefaultSettings(3, 0)
	if got := s.Of(c).String(); got != "bits=8/workers=3" {
		t.Error(got)
	}
	s.Arrivals = &runner.Arrivals{Shape: runner.Ramp, Rates: []float64{50, 200.5}}
	if got := s.Of(c).String(); got != "bits=8/workers=3/rate=50..200.5/arrivals=ramp" {
		t.Error(got)
	}
}
