package report

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/record"
)

// healthRows are errors, memory, garbage collection and scheduling.
func healthRows(rec *record.Record) []row {
	r := rows{rec: rec}
	failed := rec.Count(record.CountFailed)
	if started := rec.Count(record.CountStarted); started > 0 {
		r.warn(failed > 0, "Error Rate", fmt.Sprintf("%.4f%%", 100*float64(failed)/float64(started)),
			fmt.Sprintf("%d of %d operations started failed", failed, started))
	}
	r.perOp("Memory", record.AllocBytes, " B/op", "Allocated bytes per operation")
	r.perOp("Allocs", record.Allocs, " allocs/op", "Allocations per operation")
	r.metric("Alloc Rate", record.AllocRate, func(v float64) string { return figures(v/1e6, 4) + " MB/s" }, "Bytes allocated over the window, in 10^6 bytes")
	r.metric("GC Overhead", record.GCCPUShare, percent, "GC CPU time, of the processor time available")
	r.metric("GC Assist", record.GCAssistShare, percent, "Of the same: marking done by the operations' own goroutines")
	r.metric("GC Pause", record.GCPauses, duration, "Total stop-the-world time of collections")
	r.metric("GC Cycles", record.GCCycles, number, "Collections in the window")
	r.metric("Sched P50", record.SchedP50, duration, "Runnable goroutines' wait for a processor, median")
	r.metric("Sched P99", record.SchedP99, duration, "The same, 99 of 100 waited no longer")
	r.metric("Mutex Wait", record.MutexWait, func(v float64) string { return duration(v) + "/op" }, "Time blocked on locks, per operation")
	r.perOp("Goroutines", record.Goroutines, "/op", "Goroutines created per operation")
	r.metric("Heap Live", record.HeapLive, size, "Reachable after the window")
	if _, measured := rec.Metric(record.HeapLive); measured {
		r.resident("RSS", "Resident when the window closed", record.RSS, record.RSSAnon, record.RSSFile)
		r.resident("Peak RSS", "Greatest within the window", record.PeakRSS, record.PeakRSSAnon, record.PeakRSSFile)
	}
	return r.list
}

func percent(v float64) string { return fmt.Sprintf("%.2f%%", v) }

// perOp adds a figure per operation. It is absent where operations built their
// own inputs, and exact only where nothing ran beside the operation.
func (r *rows) perOp(label, name, unit, meaning string) {
	m, ok := r.rec.Metric(name)
	if !ok {
		return
	}
	if m.Kind == record.Exact {
		meaning += " (exact)"
	} else {
		meaning += " (not exact)"
	}
	r.add(label, number(m.Value)+unit, meaning)
}

// resident adds a resident set with its two parts. The platform may not tell
// it, which is different from none.
func (r *rows) resident(label, meaning, total, anon, file string) {
	m, ok := r.rec.Metric(total)
	if !ok {
		r.add(label, "-", "Not told by this platform")
		return
	}
	a, anonOK := r.rec.Metric(anon)
	f, fileOK := r.rec.Metric(file)
	switch {
	case !anonOK || !fileOK:
		meaning += "; anonymous and file-backed: not told by this platform"
	case total == record.PeakRSS: // the parts peak at moments of their own
		meaning += fmt.Sprintf("; sampled peaks: %s anonymous, %s file-backed", size(a.Value), size(f.Value))
	default:
		meaning += fmt.Sprintf(": %s anonymous, %s file-backed", size(a.Value), size(f.Value))
	}
	r.add(label, size(m.Value), meaning)
}
