package sve

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// charts returns the images of the page. Charts of parts that were not measured are left out.
func charts(recs []*record.Record) ([]study.Chart, error) {
	d := &data{recs}
	w := DefaultWhatIf()
	whatIf := w.Figure()
	whatIf.Unit = "time (" + rivalAVX512 + " of the study: 1)"
	ratios := ratioDots()
	all := []study.Chart{
		{File: "sve-instructions.svg", Title: ratios.Title, Figure: ratios},
		{File: "sve-whatif.svg", Title: whatIf.Title, Figure: whatIf},
	}
	for _, c := range []struct {
		file  string
		lines *plot.Curves
	}{{"sve-leaves.svg", d.byLeaves()}, {"sve-processors.svg", d.byProcessors()}} {
		if len(c.lines.Lines) > 0 {
			all = append(all, study.Chart{File: c.file, Title: c.lines.Title, Figure: c.lines})
		}
	}
	if f := d.functionDots(); len(f.Rows) > 0 {
		all = append(all, study.Chart{File: "sve-functions.svg", Title: f.Title, Figure: f})
	}
	return all, nil
}

// point returns the mean in seconds, with the interval from the smallest round to the largest.
func (s sample) point(x int) plot.Point {
	return plot.Point{X: float64(x), Y: s.mean() / 1e9, AboutY: plot.Interval{Least: slices.Min(s) / 1e9, Most: slices.Max(s) / 1e9}}
}

// byLeaves returns the upper half of figure 5: times against leaves, on one processor and on all.
func (d *data) byLeaves() *plot.Curves {
	c := &plot.Curves{Title: "Trees by their leaves", X: "leaves of 8 elements", Y: "time (s)"}
	counts := d.distinct(cpusOf)
	if len(counts) > 2 {
		counts = []int{counts[0], counts[len(counts)-1]}
	}
	for _, k := range d.kernels() {
		for _, cpus := range counts {
			line := plot.Curve{Name: fmt.Sprintf("%s, %d", k, cpus)}
			for _, leaves := range d.distinct(leavesOf) {
				if s := d.trees(leaves, cpus, k); len(s) > 0 {
					line.Points = append(line.Points, s.point(leaves))
				}
			}
			if len(line.Points) > 0 {
				c.Lines = append(c.Lines, line)
			}
		}
	}
	c.Notes = []string{"kernel and processors; means, with minimum and maximum over the rounds"}
	return c
}

// byProcessors returns the lower half of figure 5: times of the largest tree against processors.
func (d *data) byProcessors() *plot.Curves {
	c := &plot.Curves{X: "processors", Y: "time (s)", Linear: true, Counts: true}
	sizes, counts := d.distinct(leavesOf), d.distinct(cpusOf)
	if len(sizes) == 0 || len(counts) < 2 {
		return c
	}
	leaves := sizes[len(sizes)-1]
	c.Title = fmt.Sprintf("A tree of %d leaves by processors", leaves)
	for _, k := range d.kernels() {
		line := plot.Curve{Name: k}
		for _, cpus := range counts {
			if s := d.trees(leaves, cpus, k); len(s) > 0 {
				line.Points = append(line.Points, s.point(cpus))
			}
		}
		if len(line.Points) > 0 {
			c.Lines = append(c.Lines, line)
		}
	}
	return c
}

// functionDots returns the times of figures 6 and 7.
func (d *data) functionDots() *plot.Dots {
	c := &plot.Dots{Title: "Functions of the study", Unit: "time per unit (ns)", Series: d.kernels(), Notes: []string{"a unit: one element, or a state of 12; one processor"}}
	for _, name := range append(functions(), permutationName) {
		row := plot.DotsRow{Name: name}
		measured := false
		for _, k := range c.Series {
			ns := d.function(name, k).ns.mean()
			measured = measured || ns > 0
			row.Values = append(row.Values, ns)
		}
		if measured {
			c.Rows = append(c.Rows, row)
		}
	}
	return c
}

// ratioDots returns the instructions of figures 6 and 7.
func ratioDots() *plot.Dots {
	c := &plot.Dots{
		Title: "Instructions for the same data", Unit: "times those of AVX2",
		Notes: []string{"of the loops as written, including loads, stores and the loop's own instructions"},
	}
	for _, k := range compared() {
		c.Series = append(c.Series, k.String())
	}
	names, rows := ratios()
	for _, name := range names {
		c.Rows = append(c.Rows, plot.DotsRow{Name: name, Values: rows[name]})
	}
	return c
}
