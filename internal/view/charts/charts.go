// Package charts draws the records of a suite. Charts of a workload show throughput by CPUs, latency by throughput,
// how well the workload scales, what inputs and outputs cost, and the times of stages. Other charts show the sizes of
// proofs of all workloads. A point is the median of a case's repetitions, the same median that suite.Results writes.
// The cases that a line connects differ only in what the chart's axes show. Different machines or builds are never on
// one line.
package charts

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// Chart is a figure, together with the name of its file without the extension. No other
// chart of the suite has the same file name.
type Chart struct {
	File, Title string
	Figure      plot.Figure
}

// All returns the charts for which the records have values, including a chart for each of the grids. Records of cases
// that did not run to their end are not drawn, but a note on the charts gives their number. All returns ErrParams if
// a record is nil.
func All(recs []*record.Record, grids ...Grid) ([]Chart, error) {
	for i, r := range recs {
		if r == nil {
			return nil, fmt.Errorf("%w: record %d is nil", zkbench.ErrParams, i)
		}
	}
	groups := gather(recs)
	a := &album{files: make(map[string]bool)}
	for _, g := range groups { // two a page: a case's two plots stand on one
		for _, p := range panels(g.loads) {
			a.throughput(g, p)
			a.latency(g, p)
		}
	}
	for _, g := range groups {
		for _, p := range panels(g.loads) {
			a.efficiency(g, p)
		}
	}
	for _, g := range groups {
		for _, grid := range grids {
			a.costs(g, grid)
		}
	}
	a.sizes(groups)
	for _, g := range groups {
		a.stages(g)
	}
	return a.charts, nil
}

// Few selects charts. The parameter most is the maximum number of charts to select. It returns the selected charts in
// their original order, and the number of charts that it left out. Every workload gets its first chart before any
// workload gets a second.
func Few(all []Chart, most int) (kept []Chart, left int) {
	turns := make([]int, len(all)) // how many of its workload stand before each
	seen := make(map[string]int)
	for i, c := range all {
		workload, _, _ := strings.Cut(c.Title, ":")
		turns[i] = seen[workload]
		seen[workload]++
	}
	for turn := 0; len(kept) < min(most, len(all)); turn++ {
		for i, c := range all {
			if turns[i] == turn && len(kept) < most {
				kept = append(kept, c)
			}
		}
	}
	order := make(map[string]int, len(all))
	for i, c := range all {
		order[c.File] = i
	}
	slices.SortFunc(kept, func(a, b Chart) int { return cmp.Compare(order[a.File], order[b.File]) })
	return kept, len(all) - len(kept)
}

// PDF writes the charts as one document. If there are none, it writes nothing.
func PDF(w io.Writer, charts []Chart) error {
	figures := make([]plot.Figure, len(charts))
	for i, c := range charts {
		figures[i] = c.Figure
	}
	return plot.Document(w, figures...)
}

// album are the charts so far.
type album struct {
	charts []Chart
	files  map[string]bool
}

func (a *album) add(title string, f plot.Figure) {
	if plot.Empty(f) {
		return
	}
	a.charts = append(a.charts, Chart{File: a.file(title), Title: title, Figure: f})
}

// longest bounds the name of a file in bytes.
const longest = 120

// file is a title as the name of a file: lower case, digits and dashes, so that it is one
// on every system and in every link; numbered where another title gives the same.
func (a *album) file(title string) string {
	name := strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "-")
	name = "chart-" + name[:min(len(name), longest)]
	unique := name
	for n := 2; a.files[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	a.files[unique] = true
	return unique
}

// part names a chart of several that are one in all but its length.
func part(title string, i, of int) string {
	if of == 1 {
		return title
	}
	return fmt.Sprintf("%s, part %d of %d", title, i+1, of)
}
