package text

import (
	"fmt"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// decodeAll returns the record's histograms by name.
func decodeAll(rec *record.Record) (map[string]*hdrhistogram.Histogram, error) {
	all := make(map[string]*hdrhistogram.Histogram)
	for _, encoded := range rec.Histograms {
		h, err := encoded.Decode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rec.Name(), err)
		}
		all[encoded.Name] = h
	}
	return all, nil
}

// statistics lists the rows of latencies.
var statistics = [...]record.Statistic{
	record.Min, record.P50, record.Mean, record.P95, record.P99, record.P999, record.P9999, record.Max,
}

// statisticOf returns a statistic of the distribution with that name: the record's metric or,
// if it has none, the value from the histogram h, which may be nil.
func statisticOf(rec *record.Record, s record.Statistic, name string, h *hdrhistogram.Histogram) (float64, bool) {
	if m, ok := rec.Metric(record.StatisticOf(name, s)); ok {
		return m.Value, true
	}
	if h == nil || h.TotalCount() == 0 || !record.Carries(s.Percentile, h.TotalCount()) {
		return 0, false
	}
	switch s {
	case record.Min:
		return float64(h.Min()), true
	case record.Mean:
		return h.Mean(), true
	case record.Max:
		return float64(h.Max()), true
	}
	return record.Percentile(h, s.Percentile), true
}

// fewMark follows a percentile that rests on few operations (record.Few).
const fewMark = " few"

// latencyRows returns the statistics of the latencies. A closed loop has one column; an
// open loop has columns for service, response and wait.
func latencyRows(rec *record.Record, all map[string]*hdrhistogram.Histogram) (title string, list []row) {
	names := []string{record.HistLatency}
	for _, name := range []string{record.HistResponse, record.HistWait} {
		if _, ok := all[name]; ok {
			names = append(names, name)
		}
	}
	title = "Latency Distribution:"
	if len(names) > 1 {
		title = "Latency Distribution (service from the actual start, response from the intended start, wait between the two):"
	}
	for _, s := range statistics {
		line, some := []string{s.Label}, false
		if s == record.P50 {
			line[0] += " (Median)"
		}
		meaning := s.Meaning
		for _, name := range names {
			v, ok := statisticOf(rec, s, name, all[name])
			cell := "-"
			if ok {
				cell, some = format.TightTime(v), true
			}
			if h := all[name]; ok && h != nil && record.Few(s.Percentile, h.TotalCount()) {
				cell += fewMark
			}
			if se, known := rec.Metric(record.LatencyMeanErr); known && name == record.HistLatency && s == record.Mean {
				cell += " ± " + format.TightTime(se.Value)
				meaning = "Mean ± standard error, adjusted for autocorrelation"
			}
			line = append(line, cell)
		}
		if some {
			list = append(list, cells(append(line, meaning)...))
		}
	}
	if len(list) > 0 {
		head := []string{"", "Service", "Response", "Wait"}[:len(names)+1]
		if len(names) == 1 {
			head[1] = "Latency"
		}
		list = append([]row{cells(append(head, "Description")...)}, list...)
	}
	return title, list
}

// apartRows returns the distributions other than those of all successful operations: the
// classes of a mix, failed operations, inputs, and those that a workload added.
func apartRows(rec *record.Record, all map[string]*hdrhistogram.Histogram) []row {
	type line struct{ name, label, meaning string }
	var classes, others []line
	for _, h := range rec.Histograms {
		switch class, ok := strings.CutPrefix(h.Name, record.HistClassPrefix); {
		case ok:
			classes = append(classes, line{h.Name, class, "Service time of this class of the mix"})
		case !slices.Contains(knownHistograms[:], h.Name) && h.Unit == "ns":
			others = append(others, line{h.Name, h.Name, ""})
		}
	}
	lines := slices.Concat(classes, []line{
		{record.HistError, "failed", "Service time of operations that failed"},
		{record.HistInput, "input", "Time to build an input; not part of any latency"},
	}, others)

	shown := slices.DeleteFunc(slices.Clone(statistics[:]), func(s record.Statistic) bool { return s.Percentile > 99 })
	var list []row
	for _, l := range lines {
		h, some := all[l.name], false
		values := []string{l.label, "-"}
		if h != nil {
			values[1] = fmt.Sprint(h.TotalCount())
		}
		for _, s := range shown {
			cell := "-"
			if v, ok := statisticOf(rec, s, l.name, h); ok {
				cell, some = format.TightTime(v), true
				if h != nil && record.Few(s.Percentile, h.TotalCount()) {
					cell += fewMark
				}
			}
			values = append(values, cell)
		}
		if some {
			list = append(list, cells(append(values, l.meaning)...))
		}
	}
	if len(list) == 0 {
		return nil
	}
	head := []string{"", "Count"}
	for _, s := range shown {
		head = append(head, s.Label)
	}
	return append([]row{cells(append(head, "Description")...)}, list...)
}

var knownHistograms = [...]string{
	record.HistLatency, record.HistResponse, record.HistWait, record.HistError, record.HistInput,
}

func stabilityRows(rec *record.Record) []row {
	r := rows{rec: rec}
	r.metric(record.LatencyStdDev, format.TightTime)
	r.metric(record.LatencyIQR, format.TightTime)
	r.metric(record.LatencyJitter, format.TightTime)
	dev, ok := rec.Metric(record.LatencyStdDev)
	if mean := rec.Value(record.LatencyMean); ok && mean > 0 {
		r.add("CV", fmt.Sprintf("%.2f%%", 100*dev.Value/mean), "Coefficient of variation: Std Dev / Average")
	}
	return r.list
}
