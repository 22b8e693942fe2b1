package page

import (
	"slices"

	"github.com/zkbench/zkbench/internal/record"
)

// figureView is a metric as the page shows it.
type figureView struct {
	Name    string       `json:"name"`
	Label   string       `json:"label"`
	Group   record.Group `json:"group"`
	Column  bool         `json:"column,omitempty"` // stands in the table
	Meaning string       `json:"meaning"`
	Unit    string       `json:"unit"`
	Exact   bool         `json:"exact,omitempty"` // repeats on every machine

	place int // in the order of all
}

// columns are the figures that stand in the table, in its order. Those that a workload
// reports of itself do so only where the record is one of stages.
var columns = [...]record.Quantity{
	record.Throughput, record.OfferedRate, record.LatencyP50, record.LatencyP95, record.LatencyP99, record.LatencyMean, record.ResponseP99,
	record.Allocs, record.AllocBytes, record.ProofSize, record.GCCPUShare, record.StagePeak, record.LeakT, record.Capacity,
}

// figureOf describes a metric.
func figureOf(m record.Metric, staged bool) figureView {
	f := figureView{
		Name: m.Name(), Label: m.Label(), Group: m.Group(), Meaning: m.Meaning(), Unit: m.Unit(), Exact: m.Kind == record.Exact,
		place: len(columns) + m.Place(),
	}
	if i := slices.IndexFunc(columns[:], func(q record.Quantity) bool { return q.Name() == m.Name() }); i >= 0 {
		f.Column, f.place = true, i
	} else {
		f.Column = m.Group() == record.Stages || m.Group() == record.Others && staged
	}
	return f
}
