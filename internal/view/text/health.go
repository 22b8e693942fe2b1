package text

import (
	"fmt"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// healthRows returns the lines on errors, memory, garbage collection and scheduling.
func healthRows(rec *record.Record) []row {
	r := rows{rec: rec}
	failed := rec.Count(record.CountFailed)
	if started := rec.Count(record.CountStarted); started > 0 {
		r.warn(failed > 0, "Error Rate", fmt.Sprintf("%.4f%%", 100*float64(failed)/float64(started)),
			fmt.Sprintf("%d of %d started operations failed", failed, started))
	}
	r.owner()
	r.perOp(record.AllocBytes, " B/op")
	r.perOp(record.Allocs, " allocs/op")
	if m, ok := rec.Metric(record.AllocRate); ok {
		r.add(m.Label(), format.Significant(m.Value/1e6, 4, 9)+" MB/s", r.meaning(m)+", in 10^6 bytes")
	}
	r.labelled("GC Overhead", record.GCCPUShare, percent)
	r.metric(record.GCAssistShare, percent)
	r.metric(record.GCPauses, format.TightTime)
	r.metric(record.GCCycles, number)
	r.metric(record.SchedP50, format.TightTime)
	r.metric(record.SchedP99, format.TightTime)
	r.metric(record.MutexWait, func(v float64) string { return format.TightTime(v) + "/op" })
	r.perOp(record.Goroutines, "/op")
	for _, q := range []record.Quantity{record.CPUTime, record.CPUUser, record.CPUSystem} {
		r.metric(q, func(v float64) string { return format.TightTime(v) + "/op" })
	}
	r.metric(record.Processors, func(v float64) string { return format.Significant(v, 3, 9) })
	r.metric(record.ProcessWait, percent)
	r.metric(record.Preempted, number)
	perOp := func(v float64) string { return format.Bytes(v) + "/op" }
	r.metric(record.DiskRead, perOp)
	r.metric(record.DiskWritten, perOp)
	r.metric(record.OthersShare, percent)
	r.metric(record.StolenShare, percent)
	r.metric(record.Pressure, percent)
	r.metric(record.LoadAverage, number)
	r.metric(record.HeapLive, format.Bytes)
	if _, measured := rec.Metric(record.HeapLive); measured {
		r.resident(record.RSS, record.RSSAnon, record.RSSFile)
		r.resident(record.PeakRSS, record.PeakRSSAnon, record.PeakRSSFile)
	} else { // another program's memory, whose parts are not known
		r.metric(record.PeakRSS, format.Bytes)
	}
	r.metric(record.GroupPeak, format.Bytes)
	return r.list
}

func percent(v float64) string { return strings.Replace(format.Percent(v/100, 2), " ", "", 1) }

// perOp adds a figure per operation if the record has it. Records do not have it if
// operations built their own inputs. It is exact only if nothing else ran meanwhile.
func (r *rows) perOp(q record.Quantity, unit string) {
	m, ok := r.rec.Metric(q)
	if !ok {
		return
	}
	exact := " (not exact)"
	if m.Kind == record.Exact {
		exact = " (exact)"
	}
	r.add(m.Label(), number(m.Value)+unit, r.meaning(m)+exact)
}

// owner adds a line that says which process the memory and processor time below are for.
func (r *rows) owner() {
	if of := owners(r.rec); len(of) > 0 {
		r.of = of[0]
		r.add("Process", oneLine(string(r.of)), "Memory and processor time are those of "+oneLine(r.of.Words()))
	}
}

// resident adds a resident set with its two parts. It says so if the platform does not
// report the resident set.
func (r *rows) resident(total, anon, file record.Quantity) {
	m, ok := r.rec.Metric(total)
	if !ok {
		r.add(total.Label(), "-", "Not reported by this platform")
		return
	}
	meaning := r.meaning(m)
	a, anonOK := r.rec.Metric(anon)
	f, fileOK := r.rec.Metric(file)
	switch {
	case !anonOK || !fileOK:
		meaning += "; anonymous and file-backed: not reported by this platform"
	case total == record.PeakRSS: // the parts peak at different times
		meaning += fmt.Sprintf("; sampled peaks: %s anonymous, %s file-backed", format.Bytes(a.Value), format.Bytes(f.Value))
	default:
		meaning += fmt.Sprintf(": %s anonymous, %s file-backed", format.Bytes(a.Value), format.Bytes(f.Value))
	}
	r.add(total.Label(), format.Bytes(m.Value), meaning)
}
