package charts

import (
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// maxRows bounds the rows of a chart.
const maxRows = 45

// stages draws the time of each stage, a row for each case and number of CPUs.
func (a *album) stages(g *group) {
	if len(g.stages) == 0 {
		return
	}
	var names []string
	for _, c := range g.stages {
		for _, r := range c.recs {
			for _, m := range r.Metrics {
				if name, ok := m.Stage(); ok && !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
	}
	differ, same := keys(g.stages, (*cell).coordinates)
	title := g.title("time of the stages", nil)
	notes := g.notes(only(g.stages[0].axes, same...), g.stages, "")
	var charts []*plot.Dots
	for some := range slices.Chunk(names, plot.MaxSeries) {
		for cells := range slices.Chunk(g.stages, maxRows) {
			d := &plot.Dots{Notes: notes, Unit: "time (s)", Series: some}
			for _, c := range cells {
				name := cpus(c.cpus)
				if len(differ) > 0 {
					name = words(only(c.axes, differ...)) + ", " + name
				}
				row := plot.DotsRow{Name: name}
				for _, stage := range some {
					row.Values = append(row.Values, stat.Median(c.values(record.StageTime(stage), 1)))
				}
				d.Rows = append(d.Rows, row)
			}
			charts = append(charts, d)
		}
	}
	for i, d := range charts {
		d.Title = part(title, i, len(charts))
		a.add(d.Title, d)
	}
}
