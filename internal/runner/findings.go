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

// fillFindings adds the findings that a reader needs to judge the figures, each with the
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
		finding("error", "%s: %s", r.countText(e.Count, e.Before), text)
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
		finding("dropped", "%d of %d operations offered were dropped because %d waited in the queue, which was full; latencies do not include them", r.Dropped, r.Offered, r.cfg.Queue)
	}
	if r.NeverStarted > 0 {
		finding("never-started", "%d of %d operations offered were still queued when the window closed, the oldest for %v; latencies do not include them", r.NeverStarted, r.Offered, r.Oldest.Round(time.Microsecond))
	}
	if r.censored() {
		finding("unfinished", "%d of %d operations still ran at the end, for %s; their latencies, which are at least that long, are missing", len(r.Unfinished), r.Started, ages(r.Unfinished))
	}
	if r.Late*100 > r.Done {
		finding("late", "%d of %d operations ended up to %v after the window; they count towards latency, not throughput", r.Late, r.Done, (r.Last - r.Window).Round(time.Microsecond))
	}
	if r.Done > 0 && r.builtInputs() {
		finding("inputs", "each operation built its own input within the window: throughput, allocation rate and the figures of the garbage collector "+
			"include that work. Memory per operation is left out, because it cannot be separated from the memory of the input")
	}
	if r.Checked < r.Done {
		finding("checked", "%d of %d results checked", r.Checked, r.Done)
	}
	if m := r.Usage.Memory; m != nil && m.PeakSampled {
		finding(record.PeakSampled, "the kernel's record of peak memory could not be reset: the peak is the maximum of samples taken every %v", memorySampling)
	}
	if m := r.Usage.Machine; m != nil {
		if f, found := DisturbedFinding(m); found {
			rec.Findings = append(rec.Findings, f)
		}
	}
	if r.Slept > 0 && float64(r.Oversleep) > 0.01*record.Percentile(r.Response, 50) {
		finding("timer", "%d of %d operations found an idle worker, which started them %v late on average because of the operating system's timer; wait and response times include this delay",
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

// countText says that n of the operations, in the window or before it, did something.
func (r *Result) countText(n uint64, before bool) string {
	if before {
		return fmt.Sprintf("%d of %d operations begun before the window", n, r.WarmupBegun)
	}
	return fmt.Sprintf("%d of %d operations", n, r.Started)
}

// censored reports whether the unfinished operations could change the latencies: they are
// more than one in a hundred, or one of them has run for longer than any that ended. A
// window that closes on busy workers always leaves some unfinished.
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
		text = append(text, "and less")
	}
	return strings.Join(text, ", ")
}

func (r *Result) fillStatus(rec *record.Record) {
	switch {
	case r.Failed+r.WarmupFailed > 0:
		var failed []string
		if r.Failed > 0 {
			failed = append(failed, r.countText(r.Failed, false))
		}
		if r.WarmupFailed > 0 {
			failed = append(failed, r.countText(r.WarmupFailed, true))
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
		rec.Error = fmt.Sprintf("%d of %d results checked, although all should have been", r.Checked, r.Done)
	}
}
