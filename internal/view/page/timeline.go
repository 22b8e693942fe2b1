package page

import (
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// mostPoints bounds the points of a line over the window.
const mostPoints = 120

// timeline is the course of the window.
type timeline struct {
	Interval float64  `json:"interval"` // s, of one point
	Joined   int      `json:"joined"`   // intervals of the record that a point is of
	Series   []series `json:"series"`
}

// series is a figure by interval: the median of the repetitions and, where there are
// several, the least and the greatest.
type series struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Unit     string    `json:"unit"`
	Values   []float64 `json:"values"`
	Least    []float64 `json:"least,omitempty"`
	Greatest []float64 `json:"greatest,omitempty"`
}

// courses are the series that the page shows, and how the intervals of one point are
// joined: of percentiles the greatest, since they have no sum.
var courses = []struct {
	of   record.Quantity
	join func([]float64) float64
}{
	{record.Throughput, stat.Mean},
	{record.Errors, stat.Mean},
	{record.LatencyP50, slices.Max[[]float64]},
	{record.LatencyP99, slices.Max[[]float64]},
	{record.ResponseP99, slices.Max[[]float64]},
}

// timelineOf returns the course of the repetitions' windows; nil where the first has
// none. Repetitions with intervals of another length are left out.
func timelineOf(records []*record.Record) *timeline {
	of, ok := records[0].SeriesOf(record.Throughput)
	if !ok || of.Interval <= 0 || len(of.Values) == 0 {
		return nil
	}
	joined := (len(of.Values) + mostPoints - 1) / mostPoints
	t := &timeline{Interval: (of.Interval * time.Duration(joined)).Seconds(), Joined: joined}
	for _, c := range courses {
		var each [][]float64
		unit := ""
		for _, r := range records {
			if s, ok := r.SeriesOf(c.of); ok && s.Interval == of.Interval && !slices.ContainsFunc(s.Values, func(v float64) bool { return !finite(v) }) {
				unit = s.Unit
				each = append(each, join(s.Values, joined, c.join))
			}
		}
		if len(each) > 0 {
			t.Series = append(t.Series, medianLine(c.of, unit, each))
		}
	}
	return t
}

func join(values []float64, n int, as func([]float64) float64) []float64 {
	var all []float64
	for part := range slices.Chunk(values, n) {
		all = append(all, as(part))
	}
	return all
}

// medianLine is the median of several lines, and between which values they lie.
func medianLine(q record.Quantity, unit string, each [][]float64) series {
	s := series{Name: q.Name(), Label: q.Label(), Unit: unit}
	longest := slices.MaxFunc(each, func(a, b []float64) int { return len(a) - len(b) })
	for i := range longest {
		var at []float64
		for _, line := range each {
			if i < len(line) {
				at = append(at, line[i])
			}
		}
		s.Values = append(s.Values, round(stat.Median(at), latencyDigits))
		if len(each) > 1 {
			s.Least = append(s.Least, round(slices.Min(at), latencyDigits))
			s.Greatest = append(s.Greatest, round(slices.Max(at), latencyDigits))
		}
	}
	return s
}
