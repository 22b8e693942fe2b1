package charts

import (
	"cmp"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// panel is what stands on one chart.
type panel struct {
	title  record.Axes // in what it differs from the workload's other panels
	common record.Axes // what is neither in the title nor in the lines' names
	lines  []line
}

// line is a case by its numbers of CPUs, in their order.
type line struct {
	name  string
	axes  record.Axes
	cells []*cell
}

func (l line) coordinates() record.Axes { return l.axes }

func (p *panel) cells() (all []*cell) {
	for _, l := range p.lines {
		all = append(all, l.cells...)
	}
	return all
}

// A chart has so many lines at most, since more cannot be followed, with so many points
// where there are several, since these have names, and none whose greatest throughput is
// so many times another's, which would lie on the axis.
const (
	maxLines  = 6
	maxPoints = 30
	maxRatio  = 8
)

// panels divides the cases of a workload. Executors share a chart before workers do, and these before other axes, the last axis
// of the case first, as long as the chart can be read.
func panels(cells []*cell) []panel {
	lines := caseLines(cells)
	differ, same := keys(lines, line.coordinates)
	order := []string{record.ExecutorKey, record.WorkersKey}
	for _, key := range slices.Backward(differ) {
		if !slices.Contains(order, key) {
			order = append(order, key)
		}
	}
	order = slices.DeleteFunc(order, func(key string) bool { return !slices.Contains(differ, key) })
	var inLine, inTitle []string
	for _, key := range order {
		if longer := append(slices.Clone(inLine), key); readable(divide(lines, longer)) {
			inLine = longer
		}
	}
	all := divide(lines, inLine)
	if len(inLine) == 0 { // one line a chart is named all the same
		inLine = []string{record.ExecutorKey}
	}
	same = slices.DeleteFunc(same, func(key string) bool { return slices.Contains(inLine, key) })
	for _, key := range differ {
		if !slices.Contains(inLine, key) {
			inTitle = append(inTitle, key)
		}
	}
	for i := range all {
		first := all[i].lines[0].axes
		all[i].title, all[i].common = only(first, inTitle...), only(first, same...)
		for k := range all[i].lines {
			l := &all[i].lines[k]
			l.name = cmp.Or(words(only(l.axes, inLine...)), "measured")
		}
	}
	return all
}

// caseLines are the lines of the cases that were measured with several numbers of CPUs; of
// all where none was. The others of a suite are those that show what inputs and outputs
// cost, which have a heat map.
func caseLines(cells []*cell) (lines []line) {
	some := record.OnSeveralCPUs(cells, (*cell).first)
	if len(some) == 0 {
		some = cells
	}
	for _, l := range record.LinesByCPUs(some, (*cell).first) {
		lines = append(lines, line{axes: l.Axes, cells: l.Cases})
	}
	return lines
}

// divide returns a panel for all values of the axes that are not in the lines' names.
func divide(lines []line, inLine []string) (all []panel) {
	for _, p := range record.Lines(lines, line.coordinates, inLine...) {
		all = append(all, panel{lines: p.Cases})
	}
	return all
}

// readable tells whether the panels keep to what a chart takes.
func readable(all []panel) bool {
	for _, p := range all {
		var greatest []float64
		for _, l := range p.lines {
			most := 0.0
			for _, c := range l.cells {
				most = max(most, stat.Median(c.values(record.Throughput, 1)))
			}
			if most > 0 {
				greatest = append(greatest, most)
			}
		}
		if len(p.lines) > maxLines || len(p.lines) > 1 && len(p.cells()) > maxPoints || len(greatest) > 1 && slices.Max(greatest) > maxRatio*slices.Min(greatest) {
			return false
		}
	}
	return true
}
