package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/record"
)

// decodeAll returns the histograms of the record by their names.
func decodeAll(rec *record.Record) (map[string]*hdrhistogram.Histogram, error) {
	all := make(map[string]*hdrhistogram.Histogram)
	for _, encoded := range rec.Histograms {
		h, err := encoded.Decode()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", caseName(rec), err)
		}
		all[encoded.Name] = h
	}
	return all, nil
}

// stat is a figure of a distribution.
type stat struct {
	label, suffix string
	percentile    float64 // 0: none
	least         int64   // values that it takes to be told from the maximum
	meaning       string
}

var latencyStats = [...]stat{
	{"Min", "min", 0, 1, "Fastest operation"},
	{"P50 (Median)", "p50", 50, 1, "Half of the operations took no longer"},
	{"Average", "mean", 0, 1, "Mean"},
	{"P95", "p95", 95, 1, "19 of 20 took no longer"},
	{"P99", "p99", 99, 1, "99 of 100 took no longer"},
	{"P99.9", "p99.9", 99.9, 1000, "999 of 1000 took no longer"},
	{"P99.99", "p99.99", 99.99, 10000, "9999 of 10000 took no longer"},
	{"Max", "max", 0, 1, "Slowest operation"},
}

// of returns the figure of the distribution with that name: the record's metric,
// or else what its histogram h, which may be nil, tells.
func (s stat) of(rec *record.Record, name string, h *hdrhistogram.Histogram) (float64, bool) {
	if m, ok := rec.Metric(name + "-" + s.suffix); ok {
		return m.Value, true
	}
	if h == nil || h.TotalCount() < s.least {
		return 0, false
	}
	switch s.suffix {
	case "min":
		return float64(h.Min()), true
	case "mean":
		return h.Mean(), true
	case "max":
		return float64(h.Max()), true
	}
	return float64(h.ValueAtPercentile(s.percentile)), true
}

// latencyRows are the percentiles: one column in a closed loop, service,
// response and wait side by side in an open one.
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
	for _, s := range latencyStats {
		line, some := []string{s.label}, false
		meaning := s.meaning
		for _, name := range names {
			v, ok := s.of(rec, name, all[name])
			cell := "-"
			if ok {
				cell, some = duration(v), true
			}
			if se, known := rec.Metric(record.LatencyMeanErr); known && name == record.HistLatency && s.suffix == "mean" {
				cell += " ± " + duration(se.Value)
				meaning = "Mean ± its standard error, autocorrelation counted in"
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

// apartRows are the distributions that are not of all successful operations:
// the classes of a mix, failed operations, inputs, and what a workload added.
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
		{record.HistInput, "input", "Building an input, not part of any latency"},
	}, others)

	shown := slices.DeleteFunc(slices.Clone(latencyStats[:]), func(s stat) bool { return s.percentile > 99 })
	var list []row
	for _, l := range lines {
		h, some := all[l.name], false
		values := []string{l.label, "-"}
		if h != nil {
			values[1] = fmt.Sprint(h.TotalCount())
		}
		for _, s := range shown {
			cell := "-"
			if v, ok := s.of(rec, l.name, h); ok {
				cell, some = duration(v), true
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
	return append([]row{cells("", "Count", "Min", "P50", "Average", "P95", "P99", "Max", "Description")}, list...)
}

var knownHistograms = [...]string{
	record.HistLatency, record.HistResponse, record.HistWait, record.HistError, record.HistInput,
}

func stabilityRows(rec *record.Record) []row {
	r := rows{rec: rec}
	r.metric("Std Dev", record.LatencyStdDev, duration, "Standard deviation of the service time")
	r.metric("IQR", record.LatencyIQR, duration, "Interquartile range: P75 - P25")
	r.metric("Jitter", record.LatencyJitter, duration, "Mean change between consecutive operations of a worker")
	dev, ok := rec.Metric(record.LatencyStdDev)
	if mean := rec.Value(record.LatencyMean); ok && mean > 0 {
		r.add("CV", fmt.Sprintf("%.2f%%", 100*dev.Value/mean), "Coefficient of variation: Std Dev over Average")
	}
	return r.list
}
