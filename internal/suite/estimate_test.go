package suite_test

import (
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/suite"
)

// TestEstimate: before anything was measured what is expected counts; then a case takes as
// long as it took, and others as much longer than expected as those that were measured.
func TestEstimate(t *testing.T) {
	all := suite.Interleave(cases(3), 2)
	for i := range all {
		all[i].Expected = 10 * time.Second
	}
	e := suite.NewEstimate(all)
	if got := e.Remaining(0); got != time.Minute {
		t.Errorf("before: %v", got)
	}
	e.Took(&all[0], 30*time.Second)
	for i, want := range []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second} {
		if got := e.CaseTime(&all[i]); got != want {
			t.Errorf("case %d: %v, want %v", i, got, want)
		}
	}
	e.Took(&all[1], 10*time.Second) // 40 s of the 20 expected
	if got, want := e.Remaining(2), (20+30+10+20)*time.Second; got != want {
		t.Errorf("after two: %v, want %v", got, want)
	}
	if got := e.Remaining(len(all)); got != 0 {
		t.Errorf("at the end: %v", got)
	}
}
