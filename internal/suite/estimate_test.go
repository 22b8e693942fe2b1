package suite_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/golden"
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
	golden.Equal(t, "remaining before", time.Minute, e.Remaining(0))
	e.Took(&all[0], 30*time.Second)
	for i, want := range []time.Duration{30 * time.Second, 30 * time.Second, 30 * time.Second} {
		golden.Equal(t, fmt.Sprintf("case %d", i), want, e.CaseTime(&all[i]))
	}
	e.Took(&all[1], 10*time.Second) // 40 s of the 20 expected
	golden.Equal(t, "remaining after two", (20+30+10+20)*time.Second, e.Remaining(2))
	golden.Equal(t, "remaining at the end", 0, e.Remaining(len(all)))
}
