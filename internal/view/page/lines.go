package page

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
)

// lines says which cases of a load share a line of a plot. The script draws those that the
// reader has chosen, and makes no such decision itself.
type lines struct {
	Throughput []lineView `json:"throughput"` // cases that differ in CPUs and workers
	CPUs       []lineView `json:"cpus"`       // cases that differ only in CPUs; only if there are several values
	Load       []lineView `json:"load"`       // cases that differ in workers and rate
}

// lineView is one line of a plot.
type lineView struct {
	Fields []pair   `json:"fields"` // what its cases have in common
	Cases  []string `json:"cases"`  // their ids, by CPUs, workers and rate
}

// linesOf puts groups into lines. A line has one workload and one environment.
func linesOf(groups []*group) lines {
	all := lines{[]lineView{}, []lineView{}, []lineView{}} // an empty list is [] in JSON, not null
	place := func(g *group) record.Axes {
		return record.Axes{{Key: "environment", Value: letters(g.env)}, {Key: "workload", Value: g.first().Workload}}
	}
	axes := func(g *group) record.Axes { return g.first().Coordinates() }
	withCPUs := func(g *group) record.Axes {
		return append(axes(g), record.Axis{Key: record.CPUsKey, Value: strconv.Itoa(g.cpus)})
	}
	for _, w := range record.Lines(groups, place) {
		add := func(to *[]lineView, some []record.Line[*group]) {
			for _, l := range some {
				*to = append(*to, newLineView(slices.Concat(w.Axes, l.Axes), l.Cases))
			}
		}
		add(&all.Throughput, record.Lines(w.Cases, axes, record.WorkersKey))
		add(&all.CPUs, record.LinesByCPUs(record.OnSeveralCPUs(w.Cases, (*group).first), (*group).first))
		add(&all.Load, record.Lines(w.Cases, withCPUs, record.WorkersKey, record.RateKey))
	}
	return all
}

func newLineView(axes record.Axes, groups []*group) lineView {
	load := func(g *group, key string) float64 {
		text, _ := g.first().Axes.Get(key)
		n, _ := strconv.ParseFloat(text, 64) // 0 if the axis is missing
		return n
	}
	slices.SortStableFunc(groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.cpus, b.cpus), cmp.Compare(load(a, record.WorkersKey), load(b, record.WorkersKey)), cmp.Compare(load(a, record.RateKey), load(b, record.RateKey)))
	})
	l := lineView{Fields: []pair{}} // an empty list is [] in JSON, not null
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
	Column  bool         `json:"column,omitempty"` // the table has a column for it
	Meaning string       `json:"meaning"`
	Unit    string       `json:"unit"`
	Exact   bool         `json:"exact,omitempty"` // the same on every machine

	place int // in the order of all figures
}

// figureOf describes a metric. Figures that a workload reports itself have a column only if the record is one of stages.
func figureOf(m record.Metric, staged bool) figureView {
	columns := record.TableColumns(record.PageTable)
	f := figureView{
		Name: m.Name(), Label: m.Label(), Group: m.Group(), Meaning: m.Meaning(), Unit: m.Unit(), Exact: m.Kind == record.Exact,
		place: len(columns) + m.Position(),
	}
	if i := slices.IndexFunc(columns, func(q record.Quantity) bool { return q.Name() == m.Name() }); i >= 0 {
		f.Column, f.place = true, i
	} else {
		f.Column = m.Group() == record.Stages || m.Group() == record.Others && staged
	}
	return f
}
