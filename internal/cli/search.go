package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
)

const (
	// searchTolerance is how closely --slo finds the highest rate, relative to it.
	searchTolerance = 0.02
	// probeDuration is the window of the closed loop that a search starts from, at
	// most.
	probeDuration = 2 * time.Second
)

// search looks for the highest rates that hold the objective of a plan.
type search struct {
	*jobs.Plan
	stderr   io.Writer
	reporter *reporter
	run      func(context.Context, measure.Job) *record.Record
}

// all finds the highest rate that holds the objective, for each job. The
// records of all trials are kept; the report is that of the last trial at the
// rate that was found.
func (s *search) all(ctx context.Context) error {
	missed := 0
	for i, job := range s.Jobs {
		if ctx.Err() != nil {
			break
		}
		done := caseBar(s.stderr, i, len(s.Jobs), job)
		rate, best, err := s.one(ctx, job)
		done()
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return &exitError{code: exitFailed, text: fmt.Sprintf("%s/%s: %v", job.Workload, job.Case, err)}
		}
		if best == nil {
			missed++
			fmt.Fprintf(s.reporter.stdout, "%s/%s: no rate holds %s\n", job.Workload, job.Settings.Named(job.Case), s.SLO)
			continue
		}
		if err := s.reporter.show(best); err != nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
		fmt.Fprintf(s.reporter.stdout, "%s/%s: %.4g/s is the highest rate that holds %s, within %g %%\n", job.Workload, job.Case, rate, s.SLO, 100*searchTolerance)
	}
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitPartial, text: fmt.Sprintf("interrupted after %d trials, before the highest rate was found", len(s.reporter.recs))}
	case missed > 0:
		return &exitError{code: exitFailed, text: fmt.Sprintf("%d of %d cases hold %s at no rate", missed, len(s.Jobs), s.SLO)}
	}
	return nil
}

// one finds the highest rate of one job and the record that shows it; nil:
// none holds. It starts from --rate, or from what a closed loop reaches.
func (s *search) one(ctx context.Context, job measure.Job) (rate float64, best *record.Record, err error) {
	first := 0.0
	if a := job.Settings.Arrivals; a != nil {
		first = a.Rates[0]
	} else {
		probe := job
		probe.Settings.Duration = min(probe.Settings.Duration, probeDuration)
		probe.Settings.Profiles = nil
		rec := s.run(ctx, probe)
		if err := refused(rec); err != nil {
			return 0, nil, err
		}
		if rec.Status != record.OK {
			return 0, nil, fmt.Errorf("closed loop: %s", rec.Error)
		}
		first = min(rec.Value(record.Throughput), runner.MaxRate)
	}
	var last *record.Record
	rate, err = runner.Capacity(ctx, first, searchTolerance, func(ctx context.Context, rate float64) (bool, error) {
		trial := job
		trial.Settings.Arrivals = &runner.Arrivals{Shape: s.Shape, Rates: []float64{rate}}
		// Operations in flight at the close end, and are judged by how long they took.
		trial.Settings.Grace = max(trial.Settings.Grace, 2*s.SLO.Limit)
		trial.Deadline = measure.Deadline(trial.Settings)
		rec := s.run(ctx, trial)
		// Operations that failed or never ended miss the objective; a wrong result, or
		// a run without a load, says nothing about it.
		if rec.Status == record.Partial || rec.Count(record.CountOffered) == 0 || rec.Count(record.CountCheckFails) > 0 {
			return false, fmt.Errorf("%g a second: %s", rate, rec.Error)
		}
		held, err := s.SLO.Held(rec)
		if err != nil {
			return false, err
		}
		if held {
			last = rec
		}
		answer := "missed"
		if held {
			answer = "held"
		}
		fmt.Fprintf(s.stderr, "%s: %.4g a second: %s\n", s.SLO, rate, answer)
		return held, s.reporter.keep(rec)
	})
	if err != nil || rate == 0 {
		return 0, nil, err
	}
	last.Metrics = append(last.Metrics, record.Capacity.Metric(rate))
	return rate, last, nil
}
