package suite_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestSameCaseTwice: a case that comes twice is planned once, and told where its settings
// differ. Two open loops of the same rate are the same.
func TestSameCaseTwice(t *testing.T) {
	defs := []workload.Def{{Name: "Some", Axes: []workload.Axis{workload.BitsAxis()}}}
	for name, c := range map[string]struct {
		second string
		notes  []string
	}{
		"the same":      {"rate: 100", nil},
		"another queue": {"rate: 100\n    queue: 9", []string{"1 case left out: the same with other settings comes before"}},
	} {
		t.Run(name, func(t *testing.T) {
			file := must.Get(suite.Read("x", strings.NewReader("cases:\n  - run: some\n    bits: 8\n    rate: 100\n  - run: some\n    bits: 8\n    "+c.second+"\n")))(t)
			p := must.Get(suite.NewPlan(defs, file, "x", 2, suite.Options{}))(t)
			golden.Equal(t, "cases", 1, len(p.Header.Plan))
			golden.Equal(t, "notes", c.notes, p.Notes)
		})
	}
}
