package text

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// timelineCells is the maximum width of a timeline. If there are more intervals, neighbours are
// merged.
const timelineCells = 60

// timelineRows draws every series of the record, throughput first, with one cell for each
// interval. Except for throughput, a series that is zero throughout has no line.
func timelineRows(rec *record.Record) []row {
	shown := []record.Quantity{
		record.Throughput, record.LatencyP50, record.LatencyP99, record.ResponseP99, record.Errors, record.Backlog,
		record.GCCPUShare, record.HeapLive, record.RSS,
	}
	var list []row
	known := make(map[string]bool)
	add := func(label string, s record.Series) {
		cut, perCell := merge(s, rec.Value(record.Duration))
		top := 0.0
		for _, v := range cut {
			top = math.Max(top, v)
		}
		if len(cut) == 0 || top == 0 && s.Name != record.Throughput.Name() {
			return
		}
		list = append(list, cells(label, "["+spark(cut, top)+"]", fmt.Sprintf("(Max: %s, %v per cell)", inUnit(top, s.Unit), perCell)))
	}
	for _, q := range shown {
		known[q.Name()] = true
		if s, ok := rec.SeriesOf(q); ok {
			add(q.Label(), s)
		}
	}
	for _, s := range rec.Series {
		if !known[s.Name] {
			add(s.Name, s)
		}
	}
	return list
}

// merge joins neighbouring intervals if there are more than timelineCells. Rates and shares
// become their mean, weighted by the length of each interval within a window of the given
// seconds (0: unknown). Other values become their maximum. merge returns the values and the
// length of each.
func merge(s record.Series, window float64) ([]float64, time.Duration) {
	n := (len(s.Values) + timelineCells - 1) / timelineCells
	if n <= 1 {
		return s.Values, s.Interval
	}
	averaged := s.Unit == "ops/s" || s.Unit == "%"
	cut := make([]float64, 0, timelineCells)
	for from := 0; from < len(s.Values); from += n {
		part := s.Values[from:min(from+n, len(s.Values))]
		sum, weights, top := 0.0, 0.0, 0.0
		for i, v := range part {
			weight := 1.0
			if last := from+i == len(s.Values)-1; last && window > 0 && s.Interval > 0 {
				weight = min(max(window/s.Interval.Seconds()-float64(len(s.Values)-1), 1e-9), 1)
			}
			sum, weights, top = sum+weight*v, weights+weight, math.Max(top, v)
		}
		if averaged {
			top = sum / weights
		}
		cut = append(cut, top)
	}
	return cut, time.Duration(n) * s.Interval
}

// spark draws values in eighths of a cell's height, which top fills. Zero is a blank, and every
// other value is visible.
func spark(values []float64, top float64) string {
	var b strings.Builder
	for _, v := range values {
		if v <= 0 {
			b.WriteByte(' ')
			continue
		}
		eighths := min(max(int(math.Round(8*v/top)), 1), 8)
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[eighths-1])
	}
	return b.String()
}

// inUnit formats a value of a series.
func inUnit(v float64, unit string) string {
	if ns, _, isTime := record.TimeUnit(unit); isTime {
		return format.TightTime(ns * v)
	}
	switch unit {
	case "B":
		return format.Bytes(v)
	case "%":
		return percent(v)
	}
	return strings.TrimRight(format.Significant(v, 4, 9)+" "+unit, " ")
}
