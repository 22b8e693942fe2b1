package runner

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// fillFindings writes what a reader of the figures must know, each with the
// figures that show it.
func (r *Result) fillFindings(rec *record.Record) {
	finding := func(name, format string, args ...any) {
		rec.Findings = append(rec.Findings, record.Finding{Name: name, Text: fmt.Sprintf(format, args...)})
	}
	for _, e := range r.Errors {
		text := e.Err.Error()
		if p, ok := errors.AsType[*executor.PanicError](e.Err); ok {
			text += "\n" + string(p.Stack)
		}
		finding("error", "%s: %s", r.of(e.Count, e.Before), text)
	}
	if n := len(r.Outlasting); n > 0 {
		finding("unfinished", "%s of the warm-up still ran at the end, for %s: their workers did nothing in the window", format.Plural(n, "operation"), ages(r.Outlasting))
	}
	if r.Unsettled != "" {
		finding("warm-up", "%s", r.Unsettled)
	}
	if r.Hopeless != "" {
		finding(hopelessFinding, "%s", r.Hopeless)
	}
	if r.Dropped > 0 {
		finding("dropped", "%d of %d operations offered found %d in the queue and were dropped; they are in no latency", r.Dropped, r.Offered, r.cfg.Queue)
	}
	if r.NeverStarted > 0 {
		finding("never-started", "%d of %d operations offered were still queued when the window closed, the first of them for %v; they are in no latency", r.NeverStarted, r.Offered, r.Oldest.Round(time.Microsecond))
	}
	if r.censored() {
		finding("unfinished", "%d of %d operations still ran at the end, for %s; latencies of at least that are missing", len(r.Unfinished), r.Started, ages(r.Unfinished))
	}
	if r.Late*100 > r.Done {
		finding("late", "%d of %d operations ended after the window, up to %v; they count for latency, not for throughput", r.Late, r.Done, (r.Last - r.Window).Round(time.Microsecond))
	}
	if r.Done > 0 && r.builtInputs() {
		finding("inputs", "each operation built its own input within the window: throughput, allocation rate and the collector's figures "+
			"include that, and memory per operation is left out, because it cannot be told from the input's")
	}
	if r.Checked < r.Done {
		finding("checked", "%d of %d results checked", r.Checked, r.Done)
	}
	if m := r.Usage.Memory; m != nil && m.PeakSampled {
		finding(record.PeakSampled, "the kernel's mark of the resident set could not be reset: its peak is the greatest of samples every %v", memorySampling)
	}
	if m := r.Usage.Machine; m != nil {
		if f, found := DisturbedFinding(m); found {
			rec.Findings = append(rec.Findings, f)
		}
	}
	if r.Slept > 0 && float64(r.Oversleep) > 0.01*record.Percentile(r.Response, 50) {
		finding("timer", "%d of %d operations found an idle worker, and it started them %v late in the mean: the operating system's timer, a part of wait and response",
			r.Slept, r.Started, r.Oversleep.Round(time.Microsecond))
	}
	if len(r.Means) >= minSlots {
		for _, test := range []func(string, []float64, []float64) (record.Finding, bool){stat.Drifted, stat.Correlated} {
			if f, found := test("latency", r.Means, r.Weights); found {
				rec.Findings = append(rec.Findings, f)
			}
		}
	}
}

// of says how many operations of all that there were, in the window or before it.
func (r *Result) of(n uint64, before bool) string {
	if before {
		return fmt.Sprintf("%d of %d operations begun before the window", n, r.WarmupBegun)
	}
	return fmt.Sprintf("%d of %d operations", n, r.Started)
}

// censored tells whether the operations that are unfinished could change the
// latencies: they are more than one in a hundred, or one of them is older than
// any that ended. A window that closes on busy workers always leaves some.
func (r *Result) censored() bool {
	n := len(r.Unfinished)
	return n > 0 && (uint64(n)*100 > r.Started || int64(r.Unfinished[0].Age) > r.Latency.Max())
}

// ages lists how long operations had run, oldest first.
func ages(unfinished []record.Unfinished) string {
	const most = 8
	var text []string
	for _, u := range unfinished[:min(len(unfinished), most)] {
		text = append(text, u.Age.Round(time.Microsecond).String())
	}
	if len(unfinished) > most {
		text = append(text, "less")
	}
	return strings.Join(text, ", ")
}

func (r *Result) fillStatus(rec *record.Record) {
	switch {
	case r.Failed+r.WarmupFailed > 0:
		var failed []string
		if r.Failed > 0 {
			failed = append(failed, r.of(r.Failed, false))
		}
		if r.WarmupFailed > 0 {
			failed = append(failed, r.of(r.WarmupFailed, true))
		}
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%s failed: %v", strings.Join(failed, " and "), r.Errors[0].Err)
	case r.CheckFailed > 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%d of %d checked results are wrong: %v", r.CheckFailed, r.Checked, r.CheckErr)
	case r.WarmupBad > 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%d of %d checked results of operations begun before the window are wrong: %v", r.WarmupBad, r.WarmupChecked, r.CheckErr)
	case r.Interrupted:
		rec.Status = record.Partial
		rec.Error = "interrupted"
	case r.Done == 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("no operation ended within %v", r.Window.Round(time.Millisecond))
		if len(r.Unfinished) > 0 {
			rec.Error += fmt.Sprintf("; %d still ran, for %s: a longer window or grace is needed", len(r.Unfinished), ages(r.Unfinished))
		}
	case r.cfg.Check.Policy == CheckAll && r.Checked < r.Done:
		rec.Status = record.Partial
		rec.Error = fmt.Sprintf("%d of %d results checked, and all were to be", r.Checked, r.Done)
	}
}
