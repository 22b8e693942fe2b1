package charts

import (
	"strconv"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
)

const nsPerMs = 1e-6 // as suite.Results writes times

// maxNamed is how many points are named in full; more are numbered.
const maxNamed = 12

const withBars = ", bars from the least to the greatest"

// throughput draws operations a second by CPUs.
func (a *album) throughput(g *group, p panel) {
	c := &plot.Curves{X: "CPUs", Y: "throughput (operations/s)", Counts: true}
	for _, l := range p.lines {
		curve := plot.Curve{Name: l.name}
		for _, cell := range l.cells {
			if v := cell.values(record.Throughput, 1); len(v) > 0 {
				curve.Points = append(curve.Points, plot.Point{X: float64(cell.cpus), Y: stat.Median(v), AboutY: extent(v)})
			}
		}
		c.Lines = append(c.Lines, curve)
	}
	a.curves(g, p, "throughput by CPUs", withBars, c)
}

// latency draws the mean time of an operation by the throughput that comes with it, a
// point for each number of CPUs.
func (a *album) latency(g *group, p panel) {
	c := &plot.Curves{X: "throughput (operations/s)", Y: "mean latency (ms)"}
	name, repeated := cpus, withBars
	if len(p.cells()) > maxNamed {
		name, repeated = strconv.Itoa, repeated+"; numbers beside points are CPUs"
	}
	for _, l := range p.lines {
		curve := plot.Curve{Name: l.name}
		for _, cell := range l.cells {
			tps, ms := cell.values(record.Throughput, 1), cell.values(record.LatencyMean, nsPerMs)
			if len(tps) > 0 && len(ms) > 0 {
				curve.Points = append(curve.Points, plot.Point{
					X: stat.Median(tps), Y: stat.Median(ms), AboutX: extent(tps), AboutY: extent(ms), Name: name(cell.cpus),
				})
			}
		}
		c.Lines = append(c.Lines, curve)
	}
	a.curves(g, p, "latency by throughput", repeated, c)
}

// efficiency draws the throughput of n CPUs as a part of n times that of one, for the lines
// that have both.
func (a *album) efficiency(g *group, p panel) {
	c := &plot.Curves{X: "CPUs", Y: "throughput / (CPUs × throughput of one)", Counts: true}
	most := 0
	var lines []line
	for _, l := range p.lines {
		first := l.cells[0]
		one := stat.Median(first.values(record.Throughput, 1))
		if first.cpus != 1 || len(l.cells) < 2 || !(one > 0) {
			continue
		}
		curve := plot.Curve{Name: l.name}
		for _, cell := range l.cells {
			if v := cell.values(record.Throughput, 1); len(v) > 0 {
				curve.Points = append(curve.Points, plot.Point{X: float64(cell.cpus), Y: stat.Median(v) / (float64(cell.cpus) * one)})
				most = max(most, cell.cpus)
			}
		}
		c.Lines = append(c.Lines, curve)
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return
	}
	c.Lines = append(c.Lines, plot.Curve{Name: "ideal", Reference: true, Points: []plot.Point{{X: 0, Y: 1}, {X: float64(most), Y: 1}}})
	a.curves(g, panel{p.title, p.common, lines}, "scaling efficiency", "", c)
}

// curves adds a chart that has points.
func (a *album) curves(g *group, p panel, shows, repeated string, c *plot.Curves) {
	for _, l := range c.Lines {
		if !l.Reference && len(l.Points) > 0 {
			c.Title, c.Notes, c.Linear = g.title(shows, p.title), g.notes(p.common, p.cells(), repeated), true
			a.add(c.Title, c)
			return
		}
	}
}
