package page

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
)

// lines are which cases of a load share a line of a plot. The script draws of these what
// the reader has chosen, and decides nothing of it anew.
type lines struct {
	Throughput []lineView `json:"throughput"` // cases that differ in CPUs and workers
	CPUs       []lineView `json:"cpus"`       // in their CPUs only, of those that were measured with several
	Load       []lineView `json:"load"`       // in workers and rate
}

// lineView is a line.
type lineView struct {
	Fields []pair   `json:"fields"` // which its cases share
	Cases  []string `json:"cases"`  // their ids, by CPUs, workers and rate
}

const rateKey = "rate"

// linesOf puts groups into lines; none joins workloads or environments.
func linesOf(groups []*group) lines {
	all := lines{[]lineView{}, []lineView{}, []lineView{}} // none is [] in JSON
	place := func(g *group) record.Axes {
		return record.Axes{{Key: "environment", Value: letters(g.env)}, {Key: "workload", Value: g.first().Workload}}
	}
	axes := func(g *group) record.Axes { return g.first().Coordinates() }
	withCPUs := func(g *group) record.Axes {
		return append(axes(g), record.Axis{Key: cpusKey, Value: strconv.Itoa(g.cpus)})
	}
	for _, w := range record.Lines(groups, place) {
		add := func(to *[]lineView, some []record.Line[*group]) {
			for _, l := range some {
				*to = append(*to, newLineView(slices.Concat(w.Axes, l.Axes), l.Cases))
			}
		}
		add(&all.Throughput, record.Lines(w.Cases, axes, workersKey))
		add(&all.CPUs, record.LinesByCPUs(record.OnSeveralCPUs(w.Cases, (*group).first), (*group).first))
		add(&all.Load, record.Lines(w.Cases, withCPUs, workersKey, rateKey))
	}
	return all
}

func newLineView(axes record.Axes, groups []*group) lineView {
	load := func(g *group, key string) float64 {
		text, _ := g.first().Axes.Get(key)
		n, _ := strconv.ParseFloat(text, 64) // none is 0
		return n
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.cpus, b.cpus), cmp.Compare(load(a, workersKey), load(b, workersKey)), cmp.Compare(load(a, rateKey), load(b, rateKey)))
	})
	var l lineView
	for _, x := range axes {
		l.Fields = append(l.Fields, pair{x.Key, x.Value})
	}
	for _, g := range groups {
		l.Cases = append(l.Cases, g.id)
	}
	return l
}

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
	record.PeakRSS, record.Allocs, record.AllocBytes, record.ProofSize, record.GCCPUShare, record.LeakT, record.Capacity,
}

// figureOf describes a metric.
func figureOf(m record.Metric, staged bool) figureView {
	f := figureView{
		Name: m.Name(), Label: m.Label(), Group: m.Group(), Meaning: m.Meaning(), Unit: m.Unit(), Exact: m.Kind == record.Exact,
		place: len(columns) + m.Position(),
	}
	if i := slices.IndexFunc(columns[:], func(q record.Quantity) bool { return q.Name() == m.Name() }); i >= 0 {
		f.Column, f.place = true, i
	} else {
		f.Column = m.Group() == record.Stages || m.Group() == record.Others && staged
	}
	return f
}
