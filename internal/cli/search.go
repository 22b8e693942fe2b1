package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
)

const (
	// probeDuration is the maximum window of the closed loop that a search starts
	// from.
	probeDuration = 2 * time.Second
	// leastTrials is the number of trials for which a search always has time.
	leastTrials = 24
	// silentTrials is how often in a row a trial without an arrival is repeated, each time twice as long.
	silentTrials = 6
)

// search looks for the highest rates that keep a plan's objective.
type search struct {
	*jobs.Plan
	stderr   io.Writer
	reporter *reporter
	run      func(context.Context, measure.Job) *record.Record
}

// searchAll finds, for each job, the highest rate that keeps the objective. It keeps the records of
// all trials and prints the report of the last trial at the rate that was found.
func (s *search) searchAll(ctx context.Context) error {
	missed, unsure := 0, 0
	var failed []*record.Record
	for i, job := range s.Jobs {
		before := len(s.reporter.recs)
		if ctx.Err() != nil {
			break
		}
		done := caseBar(s.stderr, i, len(s.Jobs), job)
		found, best, wrong, err := s.searchJob(ctx, job)
		done()
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("%s/%s: %v", job.Workload, job.Case, err)}
		}
		failed = append(failed, wrong...)
		if best == nil {
			missed++
			fmt.Fprintf(s.reporter.stdout, "%s/%s: no rate holds %s\n", job.Workload, job.Settings.Named(job.Case), s.SLO)
			continue
		}
		if err := s.reporter.show(best); err != nil {
			return &ExitError{Code: ExitFailed, Text: err.Error()}
		}
		fmt.Fprintf(s.reporter.stdout, "%s/%s: %s\n", job.Workload, job.Case, highestRate(found, s.SLO))
		offered := uint64(0)
		for _, rec := range s.reporter.recs[before:] {
			offered += rec.Count(record.CountOffered)
		}
		if record.Few(s.SLO.Percentile, int64(offered)) {
			unsure++
			fmt.Fprintf(s.reporter.stdout, "%s/%s: that cannot be judged: its trials had %s, of which fewer than ten may be late; use a longer --budget\n", job.Workload, job.Case, format.Plural(int(offered), "operation"))
		}
	}
	switch {
	case ctx.Err() != nil:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("interrupted after %d trials, before the highest rate was found", len(s.reporter.recs))}
	case len(failed) > 0:
		first := failed[0]
		return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("operations failed in %d of %d trials: %s: %s", len(failed), len(s.reporter.recs), first.Name(), first.Error)}
	case unsure > 0 && missed == 0:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("%d of %d cases had too few operations for %s", unsure, len(s.Jobs), s.SLO)}
	case missed > 0:
		return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("%d of %d cases have no rate that holds %s", missed, len(s.Jobs), s.SLO)}
	}
	return nil
}

// highestRate returns a sentence on the highest rate that holds an objective.
func highestRate(found stat.Estimate, slo runner.SLO) string {
	interval := fmt.Sprintf("%.4g to %.4g/s with %g %% confidence", found.Low, found.High, 100*runner.SearchConfidence)
	switch open := math.IsInf(found.High, 1); {
	case open && found.Low <= 0:
		interval = "the trials do not show how sure that is"
	case open:
		interval = fmt.Sprintf("%.4g/s at least", found.Low)
	}
	return fmt.Sprintf("%.4g/s is the highest rate that holds %s: %s", found.Value, slo, interval)
}

// atLeastZero returns the estimate of a rate with a lower bound of 0. The fit to the trials of a busy
// machine can cross the objective below 0.
func atLeastZero(e stat.Estimate) stat.Estimate {
	return stat.Estimate{Value: max(e.Value, 0), Low: max(e.Low, 0), High: max(e.High, 0)}
}

// searchJob finds the highest rate of one job, and the record of the trial closest to it, or nil if
// no rate keeps the objective. It starts from --rate, or from the rate that a closed loop reaches.
// failed are the trials with failures up to the rate that was found: above it, failures are how a
// system sheds load.
func (s *search) searchJob(ctx context.Context, job measure.Job) (found stat.Estimate, best *record.Record, failed []*record.Record, err error) {
	first := 0.0
	if a := job.Settings.Arrivals; a != nil {
		first = a.Rates[0]
	} else {
		probe := job
		probe.Settings.Duration = min(probe.Settings.Duration, probeDuration)
		probe.Settings.Profiles = nil
		rec := s.run(ctx, probe)
		if err := refused(rec); err != nil {
			return found, nil, nil, err
		}
		if rec.Status != record.OK {
			return found, nil, nil, fmt.Errorf("closed loop: %s", rec.Error)
		}
		first = min(rec.Value(record.Throughput), runner.MaxRate)
	}
	type trial struct {
		rate float64
		rec  *record.Record
	}
	var trials []trial
	begin, limit := time.Now(), s.Budget/leastTrials
	if s.TrialLimit > 0 {
		limit = min(limit, s.TrialLimit)
	}
	over := func() bool { return time.Since(begin) > max(s.Budget, leastTrials*s.SLO.MinWindow()) }
	found, err = runner.Capacity(ctx, first, s.SLO.LateShare(), over, func(ctx context.Context, rate float64) (late, offered uint64, err error) {
		one := job
		one.Settings.Arrivals = &runner.Arrivals{Shape: s.Shape, Rates: []float64{rate}}
		one.Settings.Duration = s.SLO.TrialTime(rate, limit)
		one.Settings.Seed += uint64(len(trials)) // otherwise all trials would have the same bursts
		// Operations that run when the window closes may end, and are judged by how long they took.
		one.Settings.Grace = max(one.Settings.Grace, 2*s.SLO.Limit)
		one.Deadline = measure.Deadline(one.Settings)
		rec := s.run(ctx, one)
		for again := 0; again < silentTrials && rec.Status != record.Partial && rec.Count(record.CountOffered) == 0; again++ { // by chance, at a low rate
			one.Settings.Duration *= 2
			one.Deadline = measure.Deadline(one.Settings)
			rec = s.run(ctx, one)
		}
		// Operations that failed or never ended miss the objective; a wrong result, or
		// a run without a load, says nothing about it.
		if rec.Status == record.Partial || rec.Count(record.CountOffered) == 0 || rec.Count(record.CountCheckFails)+rec.Count(record.CountWarmupBad) > 0 {
			return 0, 0, fmt.Errorf("%g/s: %s", rate, rec.Error)
		}
		if late, offered, err = s.SLO.Late(rec); err != nil {
			return 0, 0, err
		}
		trials = append(trials, trial{rate, rec})
		fmt.Fprintf(s.stderr, "%s: %.4g/s: %d of %d late\n", s.SLO, rate, late, offered)
		return late, offered, s.reporter.keep(rec)
	})
	found = atLeastZero(found)
	for _, t := range trials {
		if t.rec.Status == record.Failed && (found.Value == 0 || t.rate <= found.Value) {
			failed = append(failed, t.rec)
		}
	}
	if err != nil || found.Value == 0 {
		return found, nil, failed, err
	}
	nearest := slices.MinFunc(trials, func(a, b trial) int {
		return cmp.Compare(math.Abs(a.rate-found.Value), math.Abs(b.rate-found.Value))
	})
	nearest.rec.Metrics = append(nearest.rec.Metrics, record.Capacity.Metric(found.Value), record.CapacityLow.Metric(found.Low))
	if !math.IsInf(found.High, 1) {
		nearest.rec.Metrics = append(nearest.rec.Metrics, record.CapacityHigh.Metric(found.High))
	}
	return found, nearest.rec, failed, nil
}
