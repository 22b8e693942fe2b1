// Package report writes records as people and tools read them: text, the Go
// benchmark format, a latency picture. Every view is made from the record
// alone, so that a record read from a file gives the same text.
package report

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/zkbench/zkbench/internal/record"
)

// Case writes the full report of one record: what ran, latencies, stability,
// memory, the latency picture, findings.
func Case(w io.Writer, rec *record.Record) error {
	var b block
	b.linef("%s/%s", rec.Workload, rec.Case)
	b.linef("%s", machine(rec.Env))
	if rec.Status != record.OK {
		b.linef("%s: %s", strings.ToUpper(string(rec.Status)), rec.Error)
	}
	b.linef("")
	section(&b, "", metricRows(rec))
	if rec.Count(record.CountDone) > 0 {
		b.linef("")
		section(&b, "Latency:", latencyRows(rec))
		b.linef("")
		section(&b, "Stability:", stabilityRows(rec))
		b.linef("")
		section(&b, "Memory and garbage collection:", memoryRows(rec))
		b.linef("")
		if err := picture(&b, rec); err != nil {
			return err
		}
	}
	if len(rec.Findings) > 0 {
		b.linef("")
		b.linef("Findings:")
		for _, f := range rec.Findings {
			b.linef(" %s: %s", f.Name, strings.ReplaceAll(f.Text, "\n", "\n  "))
		}
	}
	b.linef("")
	return b.flush(w)
}

// row is a name, its value and what the value means.
type row struct{ name, value, meaning string }

func section(b *block, title string, rows []row) {
	if title != "" {
		b.linef("%s", title)
	}
	var aligned strings.Builder
	tw := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		fmt.Fprintf(tw, " %s\t%s\t%s\n", r.name, r.value, r.meaning)
	}
	_ = tw.Flush() // a strings.Builder does not fail
	for line := range strings.Lines(aligned.String()) {
		b.linef("%s", strings.TrimRight(line, " \n"))
	}
}

func metricRows(rec *record.Record) []row {
	workers, _ := rec.Axes.Get("workers")
	done := rec.Count(record.CountDone)
	rows := []row{
		{"Metric", "Value", "Description"},
		{"------", "-----", "-----------"},
		{"Workers", workers, "Operations in flight"},
		{"Total Ops", fmt.Sprint(done), fmt.Sprintf("Done, of %d started; %d before the window", rec.Count(record.CountStarted), rec.Count(record.CountWarmup))},
	}
	if done > 0 {
		rows = append(rows,
			row{"Duration", figures(rec.Value(record.Duration), 5) + "s", "First start to last counted end"},
			row{"Real Throughput", perSecond(rec.Value(record.Throughput)), "Operations done over duration"},
			row{"Pure Throughput", perSecond(rec.Value(record.PureThroughput)), "Workers over mean latency"},
		)
	}
	rows = append(rows,
		row{"Errors", fmt.Sprint(rec.Count(record.CountFailed)), "Operations that failed, " + rate(rec.Count(record.CountFailed), rec.Count(record.CountStarted))},
		row{"Unfinished", fmt.Sprint(rec.Count(record.CountUnfinished)), "Still running when the window closed"},
		row{"Checked", checked(rec), "Results checked after the window, of all done"},
	)
	for _, m := range rec.Metrics {
		if m.Kind == record.Exact {
			rows = append(rows, row{m.Name, number(m.Value) + " " + m.Unit, "Exact"})
		}
	}
	return rows
}

func latencyRows(rec *record.Record) []row {
	rows := []row{}
	for _, l := range []struct{ label, name string }{
		{"Min", record.LatencyMin},
		{"P50 (Median)", record.LatencyP50},
		{"Average", record.LatencyMean},
		{"P95", record.LatencyP95},
		{"P99", record.LatencyP99},
		{"P99.9", record.LatencyP999},
		{"Max", record.LatencyMax},
	} {
		if m, ok := rec.Metric(l.name); ok {
			rows = append(rows, row{l.label, duration(m.Value), ""})
		}
	}
	if m, ok := rec.Metric(record.InputMean); ok {
		rows = append(rows, row{"Input", duration(m.Value), "Average time to build an input, not part of the latency"})
	}
	return rows
}

func stabilityRows(rec *record.Record) []row {
	return []row{
		{"Std Dev", duration(rec.Value(record.LatencyStdDev)), ""},
		{"IQR", duration(rec.Value(record.LatencyIQR)), "P75 - P25"},
		{"Jitter", duration(rec.Value(record.LatencyJitter)), "Average change between consecutive operations of a worker"},
		{"CV", fmt.Sprintf("%.2f%%", 100*rec.Value(record.LatencyStdDev)/rec.Value(record.LatencyMean)), "Std Dev over average"},
	}
}

func memoryRows(rec *record.Record) []row {
	var rows []row
	perOp := func(label, name, unit, meaning string) {
		if m, ok := rec.Metric(name); ok { // absent where operations built their own inputs
			rows = append(rows, row{label, number(m.Value) + " " + unit, meaning})
		}
	}
	perOp("Memory", record.AllocBytes, "B/op", "Allocated bytes per operation")
	perOp("Allocs", record.Allocs, "allocs/op", "Allocations per operation")
	rows = append(rows, row{"Alloc Rate", size(rec.Value(record.AllocRate)) + "/s", ""})
	perOp("Goroutines", record.Goroutines, "/op", "Goroutines created per operation")
	return append(rows,
		row{"GC CPU", fmt.Sprintf("%.2f%%", rec.Value(record.GCCPUShare)), "Collector's share of the processor time available"},
		row{"GC Pause", duration(rec.Value(record.GCPauses)), "Total stop-the-world time of collections"},
		row{"GC Cycles", number(rec.Value(record.GCCycles)), "Collections in the window"},
		row{"Heap Live", size(rec.Value(record.HeapLive)), "Reachable when the window closed"},
	)
}

func checked(rec *record.Record) string {
	s := fmt.Sprintf("%d of %d", rec.Count(record.CountChecked), rec.Count(record.CountDone))
	if bad := rec.Count(record.CountCheckFails); bad > 0 {
		s += fmt.Sprintf(", %d WRONG", bad)
	}
	return s
}

func rate(n, of uint64) string {
	if of == 0 {
		return "none started"
	}
	return fmt.Sprintf("%.4f%% of those started", 100*float64(n)/float64(of))
}
