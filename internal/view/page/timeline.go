package page

import (
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// mostPoints bounds the points of a line over the window.
const mostPoints = 120

// timeline shows how figures change over the window.
type timeline struct {
	Interval float64  `json:"interval"` // s, of one point
	Joined   int      `json:"joined"`   // number of the record's intervals that one point joins
	Series   []series `json:"series"`
}

// series is a figure by interval: the median of the repetitions and, if there are several,
// their minimum and maximum.
type series struct {
	Name     string    `json:"name"`
	Label    string    `json:"label"`
	Unit     string    `json:"unit"`
	Values   []float64 `json:"values"`
	Least    []float64 `json:"least,omitempty"`
	Greatest []float64 `json:"greatest,omitempty"`
}

// courses lists the series that the page shows, and how several intervals are joined into one
// point. Percentiles cannot be averaged, so their maximum is taken.
var courses = []struct {
	quantity record.Quantity
	join     func([]float64) float64
}{
	{record.Throughput, stat.Mean},
	{record.Errors, stat.Mean},
	{record.LatencyP50, slices.Max[[]float64]},
	{record.LatencyP99, slices.Max[[]float64]},
	{record.ResponseP99, slices.Max[[]float64]},
}

// timelineOf returns the timeline of the repetitions' windows, or nil if the first repetition
// has no series. It leaves out repetitions with intervals of a different length.
func timelineOf(records []*record.Record) *timeline {
	first, ok := records[0].SeriesOf(record.Throughput)
	if !ok || first.Interval <= 0 || len(first.Values) == 0 {
		return nil
	}
	joined := (len(first.Values) + mostPoints - 1) / mostPoints
	t := &timeline{Interval: (first.Interval * time.Duration(joined)).Seconds(), Joined: joined}
	for _, c := range courses {
		var each [][]float64
		unit := ""
		for _, r := range records {
			if s, ok := r.SeriesOf(c.quantity); ok && s.Interval == first.Interval && !slices.ContainsFunc(s.Values, func(v float64) bool { return !finite(v) }) {
				unit = s.Unit
				each = append(each, join(s.Values, joined, c.join))
			}
		}
		if len(each) > 0 {
			t.Series = append(t.Series, medianLine(c.quantity, unit, each))
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

// medianLine returns the medians of several lines, with minimum and maximum if there are several.
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
