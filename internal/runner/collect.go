package runner

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// Result holds what a run measured. Offered = Started + Dropped + NeverStarted, and
// Started = Done + Failed + Unfinished. The probe consists of the few operations that run
// one at a time before the warm-up, to measure how large results are and how long an
// operation takes.
type Result struct {
	cfg *Config

	Warmup       uint64              // operations that ended or failed before the window, including the probe's
	WarmupBegun  uint64              // operations that the probe or the warm-up began and that ended at any time
	WarmupFailed uint64              // of WarmupBegun: failed
	Unsettled    string              // why the warm-up stopped at its limit; empty: it did not
	Outlasting   []record.Unfinished // operations of the warm-up that still ran at the end

	Offered, Dropped, NeverStarted uint64
	Started, Done, Failed          uint64
	Late                           uint64        // of Done: ended after the window, within the grace period
	Carried                        uint64        // began in the warm-up and succeeded within the window
	Stranded                       uint64        // of NeverStarted: taken by a worker that got no processor
	Oldest                         time.Duration // longest wait among NeverStarted
	Unfinished                     []record.Unfinished
	Window                         time.Duration // length of the window
	Last                           time.Duration // end of the last operation, since the window opened

	Latency        *hdrhistogram.Histogram   // ns, service times of successful operations
	Response, Wait *hdrhistogram.Histogram   // ns, for the same operations; nil in a closed loop
	Failures       *hdrhistogram.Histogram   // ns, service times of failed operations
	Input          *hdrhistogram.Histogram   // ns, time to build an input; nil if inputs were built before the window
	Classes        []*hdrhistogram.Histogram // ns, service times by Config.Classes

	Mean, StdDev float64       // ns, of the service times; exact, as is Jitter
	Jitter       float64       // ns, mean |change| between consecutive operations of a worker
	Means        []float64     // ns, mean latency for each slot of the window in which operations ended
	Weights      []float64     // operations for each slot
	Oversleep    time.Duration // mean delay of operations for which a worker was waiting
	Slept        uint64        // number of these operations
	Spun         time.Duration // total time that workers spun for them

	Hopeless string // why the window closed early; empty: it did not

	Errors []ErrorCount // most frequent first
	Usage  resources.Usage
	Work   float64 // number of operations that Usage is for; partly run ones count in part
	Arena  uint64  // B, resident

	Checked, CheckFailed     uint64
	WarmupChecked, WarmupBad uint64 // for operations of the probe and the warm-up
	CheckErr                 error  // from the first check that failed
	Interrupted              bool   // the caller's context ended before the run did

	alone  alone
	series *series
	doubts *doubts // nil: Doubt has nothing to test
}

// before returns the result of a run that ended before its window.
func (r *run) before(ctx context.Context) *Result {
	res := &Result{
		cfg: r.cfg, Warmup: r.probes, WarmupBegun: r.probes, Errors: r.errors, CheckErr: r.wrong,
		Latency: newHistogram(), Failures: newHistogram(), Interrupted: ctx.Err() != nil, series: new(series),
	}
	for _, e := range r.errors {
		res.WarmupFailed += e.Count
	}
	if r.wrong != nil {
		res.WarmupChecked, res.WarmupBad = 1, 1
	}
	for _, s := range r.shards {
		s.mu.Lock()
		res.Warmup += s.warmed
		res.WarmupBegun += s.warmed
		res.WarmupFailed += s.warmFailed
		for _, e := range s.errors {
			res.Errors = countError(res.Errors, e)
		}
		s.mu.Unlock()
	}
	return res
}

// collect merges the shards of a run that has ended into its result.
func (r *run) collect(usage resources.Usage) {
	res := r.res
	res.cfg, res.series, res.alone = r.cfg, r.series, r.alone
	res.Warmup, res.WarmupBegun, res.Unsettled = r.probes, r.probes, r.unsettled
	r.pacer.mu.Lock()
	res.Offered, res.Dropped, res.NeverStarted = r.pacer.offered, r.pacer.dropped, r.pacer.never
	r.pacer.mu.Unlock()
	res.Window = r.end() - r.opened()
	res.Usage, res.Arena = usage, r.arenas[len(r.arenas)-1].reserved()

	r.series.drain(new(tally), new(tally)) // operations that ended after the last part
	var failures, input tally
	classes := make([]tally, len(r.cfg.Classes))
	var all moments
	var jitter float64
	var changes uint64
	var oversleep time.Duration
	var slots slots
	for _, s := range r.shards {
		res.Started += s.started
		res.Done += s.done
		res.Failed += s.failed
		res.Late += s.late
		res.Last = max(res.Last, s.last-r.opened())
		res.Warmup += s.warmed - s.outlasted
		res.WarmupBegun += s.warmed
		res.WarmupFailed += s.warmFailed
		res.Arena += uint64(s.warm.n * s.warm.slot)
		res.Carried += s.carried
		res.Work += s.edge
		res.Slept += s.slept
		oversleep += s.oversleep
		res.Spun += s.spun
		failures.merge(&s.failures)
		if s.input != nil {
			input.merge(s.input)
		}
		for i := range classes {
			classes[i].merge(&s.classes[i])
		}
		all.merge(s.moments)
		jitter += s.jitter
		changes += s.changes
		slots.merge(&s.slots)
		for _, e := range s.errors {
			res.Errors = countError(res.Errors, e)
		}
	}
	if r.cfg.Arrivals == nil {
		res.Offered = res.Started // a ticket is offered to the worker that runs it
	} else {
		// A worker that took a ticket but got no processor since then has not started it.
		res.Stranded = res.Offered - min(res.Offered, res.Started+res.Dropped+res.NeverStarted)
		res.NeverStarted += res.Stranded
	}
	res.Work += float64(res.Done + res.Failed)
	for _, u := range res.Unfinished { // each counts in part, by how long it has run
		if mean := all.mean(); mean > 0 && float64(u.Age) < mean {
			res.Work += float64(u.Age) / mean
		} else {
			res.Work++
		}
	}
	res.Latency, res.Failures = r.series.latency.histogram(), failures.histogram()
	if r.cfg.Arrivals != nil {
		res.Response, res.Wait = r.series.response.histogram(), r.series.wait.histogram()
	}
	if r.cfg.Samples == 0 {
		res.Input = input.histogram()
	}
	for i := range classes {
		res.Classes = append(res.Classes, classes[i].histogram())
	}
	res.Mean, res.StdDev = all.mean(), all.deviation()
	if changes > 0 {
		res.Jitter = jitter / float64(changes)
	}
	if res.Slept > 0 {
		res.Oversleep = oversleep / time.Duration(res.Slept)
	}
	res.Means, res.Weights = slots.means()
	slices.SortFunc(res.Unfinished, func(a, b record.Unfinished) int { return cmp.Compare(b.Age, a.Age) })
	slices.SortStableFunc(res.Errors, func(a, b ErrorCount) int { return cmp.Compare(b.Count, a.Count) })
}
