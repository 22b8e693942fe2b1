package workload_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestDistinctAxes: one key with two meanings has a row for each, which
// names its workloads.
func TestDistinctAxes(t *testing.T) {
	defs := []workload.Def{
		{Name: "Sender", Axes: []workload.Axis{workload.BitsAxis(), workload.InputsAxis(8)}},
		{Name: "Issuer", Axes: []workload.Axis{workload.BitsAxis()}},
		{Name: "Gates", Axes: []workload.Axis{workload.InputsAxis(4)}},
	}
	var got []string
	for _, a := range workload.DistinctAxes(defs) {
		got = append(got, a.Key+" "+a.Accepted)
	}
	want := []string{
		"bits 1 to 64, ranges a..b*k and a..b+k",
		"in 1 to 8, ranges a..b*k and a..b+k (of sender)",
		"in 1 to 4, ranges a..b*k and a..b+k (of gates)",
	}
	golden.Equal(t, "axes", want, got)
}
