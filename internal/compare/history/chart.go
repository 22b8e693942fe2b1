package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// marked is the maximum number of steps that a chart names.
const marked = 4

// Chart returns a chart of the line. For each point, the chart shows the median and the range of
// the processes' values. A step is a change of the line's level. Between two steps, the chart shows
// the level: the median of the points there. It marks each step just before the first point after
// the step. If there are many steps, it marks only the largest.
func (l *Line) Chart() *plot.Curves {
	first, last := l.Points[0], l.Points[len(l.Points)-1]
	unit, size := l.axis()
	c := &plot.Curves{
		Title: l.Workload + ": " + l.Metric,
		Notes: []string{
			strings.ReplaceAll(l.Case, "/", " "), environment(l.Env),
			first.Time.UTC().Format(dateForm) + " to " + last.Time.UTC().Format(dateForm) + ", commits " + format.Commit(first.Commit) + " to " + format.Commit(last.Commit),
		},
		X: "session, in order of time", Y: unit, Linear: true, Counts: true,
		Lines: []plot.Curve{{Name: "median of the session"}},
	}
	c.Notes = slices.DeleteFunc(c.Notes, func(note string) bool { return note == "" })
	for i, p := range l.Points {
		point := plot.Point{X: float64(i + 1), Y: p.Median() / size}
		if len(p.Values) > 1 {
			point.AboutY = plot.Interval{Least: p.Least() / size, Most: p.Greatest() / size}
		}
		c.Lines[0].Points = append(c.Lines[0].Points, point)
	}
	if len(l.Steps) == 0 {
		return c
	}
	level := plot.Curve{Name: "median between the steps", Reference: true}
	from := 1.0
	for _, s := range l.Steps {
		at := float64(s.At) + 0.5 // between the points s.At and s.At + 1, counted from 1
		level.Points = append(level.Points, plot.Point{X: from, Y: s.Before / size}, plot.Point{X: at, Y: s.Before / size})
		from = at
	}
	after := l.Steps[len(l.Steps)-1].After / size
	level.Points = append(level.Points, plot.Point{X: from, Y: after}, plot.Point{X: float64(len(l.Points)), Y: after})
	c.Lines = append(c.Lines, level)
	greatest := slices.SortedStableFunc(slices.Values(l.Steps), func(a, b stat.Step) int {
		return cmp.Compare(math.Abs(b.Change()), math.Abs(a.Change()))
	})
	for _, s := range greatest[:min(marked, len(greatest))] {
		c.Marks = append(c.Marks, plot.Mark{Name: l.describe(s), X: float64(s.At) + 0.5})
	}
	if len(greatest) > marked {
		c.Notes = append(c.Notes, fmt.Sprintf("the largest %d of %d steps are marked", marked, len(greatest)))
	}
	slices.SortFunc(c.Marks, func(a, b plot.Mark) int { return cmp.Compare(a.X, b.X) })
	return c
}

// axis returns the unit of the chart, and its size in the records' unit. Times are in the largest
// unit below their maximum.
func (l *Line) axis() (unit string, size float64) {
	ns, per, isTime := record.TimeUnit(l.Unit)
	if !isTime {
		return l.Unit, 1
	}
	most := 0.0
	for _, p := range l.Points {
		most = max(most, p.Greatest())
	}
	u := format.Fitting("ns", ns*most)
	return u.Name + per, u.Size / ns
}
