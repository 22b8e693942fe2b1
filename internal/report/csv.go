package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/record"
)

// CSV writes one row per record under one header: what identifies the record,
// its coordinates, counters, and metrics with their unit, latency-p99 [ns].
// Coordinates, counters and metrics are the union over the records, in order of
// first appearance; what a record lacks is empty. Figures have all their digits.
func CSV(w io.Writer, recs []*record.Record) error {
	var axes, counters, metrics []string
	add := func(names *[]string, name string) {
		if !slices.Contains(*names, name) {
			*names = append(*names, name)
		}
	}
	for _, rec := range recs {
		for _, a := range rec.Axes {
			add(&axes, a.Key)
		}
		for _, c := range rec.Counters {
			add(&counters, c.Name)
		}
		for _, m := range rec.Metrics {
			add(&metrics, withUnit(m))
		}
	}
	out := csv.NewWriter(w)
	// The writer keeps the first error for the end.
	_ = out.Write(slices.Concat([]string{"id", "time", "session", "side", "process", "workload"}, axes,
		[]string{"seed", "status", "error"}, counters, metrics))
	for _, rec := range recs {
		line := []string{
			rec.ID, rec.Time.UTC().Format(time.RFC3339Nano), rec.Process.Session, rec.Process.Side,
			strconv.Itoa(rec.Process.Index), rec.Workload,
		}
		for _, key := range axes {
			value, _ := rec.Axes.Get(key)
			line = append(line, value)
		}
		line = append(line, strconv.FormatUint(rec.Seed, 10), string(rec.Status), rec.Error)
		for _, name := range counters {
			cell := ""
			if c, ok := rec.Counter(name); ok {
				cell = strconv.FormatUint(c.Value, 10)
			}
			line = append(line, cell)
		}
		for _, name := range metrics {
			cell := ""
			if i := slices.IndexFunc(rec.Metrics, func(m record.Metric) bool { return withUnit(m) == name }); i >= 0 {
				cell = strconv.FormatFloat(rec.Metrics[i].Value, 'f', -1, 64)
			}
			line = append(line, cell)
		}
		_ = out.Write(line)
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}

func withUnit(m record.Metric) string { return m.Name() + " [" + m.Unit() + "]" }
