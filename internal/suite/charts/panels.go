package charts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stat"
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
	cells []*cell
}

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

// panels divides the cases of a workload. Executors share a chart before workers, proofs
// and bits do, and these before others, as long as it can be read.
func panels(cells []*cell) []panel {
	if len(cells) == 0 {
		return nil
	}
	cells = ownWorkers(cells)
	differ, same := keys(cells)
	order := []string{execKey, workersKey, proofKey, bitsKey}
	rank := func(key string) int {
		if i := slices.Index(order, key); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(differ, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	var inLine, inTitle []string
	for _, key := range differ {
		if longer := append(slices.Clone(inLine), key); readable(divide(cells, longer)) {
			inLine = longer
		}
	}
	all := divide(cells, inLine)
	if len(inLine) == 0 { // one line a chart is named all the same
		inLine = []string{execKey}
	}
	same = slices.DeleteFunc(same, func(key string) bool { return slices.Contains(inLine, key) })
	for _, key := range []string{curveKey, bitsKey, inKey, outKey, proofKey} {
		if slices.Contains(differ, key) && !slices.Contains(inLine, key) {
			inTitle = append(inTitle, key)
		}
	}
	for _, key := range differ {
		if !slices.Contains(inLine, key) && !slices.Contains(inTitle, key) {
			inTitle = append(inTitle, key)
		}
	}
	for i := range all {
		first := all[i].lines[0].cells[0].axes
		all[i].title, all[i].common = only(first, inTitle...), only(first, same...)
		for k := range all[i].lines {
			l := &all[i].lines[k]
			l.name = cmp.Or(words(only(l.cells[0].axes, inLine...)), "measured")
		}
	}
	return all
}

// scaled are the cases that were measured with several numbers of CPUs; all where none
// was. The others of a suite are those that show what inputs and outputs cost, which have
// a heat map.
func scaled(cells []*cell) []*cell {
	numbers := make(map[string]map[int]bool)
	name := func(c *cell) string { return quoted(without(c.axes, workersKey)) }
	for _, c := range cells {
		if numbers[name(c)] == nil {
			numbers[name(c)] = make(map[int]bool)
		}
		numbers[name(c)][c.cpus] = true
	}
	some := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return len(numbers[name(c)]) < 2 })
	if len(some) == 0 {
		return cells
	}
	return some
}

// divide returns a panel for all values of the axes that are not in the lines' names, each
// with a line for all values of those that are.
func divide(cells []*cell, inLine []string) []panel {
	var all []panel
	panels, lines := make(map[string]int), make(map[string]int)
	for _, c := range cells {
		apart := quoted(without(c.axes, inLine...))
		i, ok := panels[apart]
		if !ok {
			i = len(all)
			panels[apart] = i
			all = append(all, panel{})
		}
		name := apart + quoted(only(c.axes, inLine...))
		k, ok := lines[name]
		if !ok {
			k = len(all[i].lines)
			lines[name] = k
			all[i].lines = append(all[i].lines, line{})
		}
		all[i].lines[k].cells = append(all[i].lines[k].cells, c)
	}
	for _, p := range all {
		for _, l := range p.lines {
			slices.SortStableFunc(l.cells, func(a, b *cell) int { return cmp.Compare(a.cpus, b.cpus) })
		}
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

// sameAsCPUs is the value of the axis of workers where there are as many as CPUs.
const sameAsCPUs = "as many workers as CPUs"

// ownWorkers returns the cells with those of as many workers as CPUs as cases that differ
// in their CPUs only. Which were meant so is seen where a number of workers occurs at its
// own number of CPUs alone.
func ownWorkers(cells []*cell) []*cell {
	workersOf := func(c *cell) string { v, _ := c.axes.Get(workersKey); return v }
	own := func(c *cell) bool { return workersOf(c) == strconv.Itoa(c.cpus) }
	fixed := make(map[string]bool) // numbers of workers that occur elsewhere too
	counts := make(map[int]bool)
	for _, c := range cells {
		counts[c.cpus] = true
		if !own(c) {
			fixed[workersOf(c)] = true
		}
	}
	if len(counts) < 2 || !slices.ContainsFunc(cells, func(c *cell) bool { return own(c) && !fixed[workersOf(c)] }) {
		return cells
	}
	var all []*cell
	for _, c := range cells {
		if fixed[workersOf(c)] {
			all = append(all, c)
		}
		if own(c) {
			renamed := *c
			renamed.axes = slices.Clone(c.axes)
			renamed.axes[slices.IndexFunc(c.axes, func(a record.Axis) bool { return a.Key == workersKey })].Value = sameAsCPUs
			all = append(all, &renamed)
		}
	}
	return all
}
