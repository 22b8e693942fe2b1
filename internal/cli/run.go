package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
)

func runCommand(p *Program, stdout, stderr io.Writer) *cobra.Command {
	short, mainJob := "Measure workloads", ""
	if p.Main != nil {
		short += " (default: prove and verify transfers)"
		mainJob = "; without a workload, transfers with both range proofs"
	}
	cmd := &cobra.Command{
		Use:   "run [workload ...]",
		Short: short,
		Long:  "Measure workloads, each case in a process of its own" + mainJob + ". Lists may have ranges: a..b*k is geometric, a..b+k arithmetic.",
		Args:  cobra.ArbitraryArgs,
	}
	f := jobs.NewRunFlags(cmd.Flags(), p.Defs(), p.Main)
	verbose := cmd.Flags().BoolP("verbose", "v", false, "print the full report of each case: distribution, health, findings, timeline")
	argument.Group(cmd.Flags(), "Output", "verbose")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, err := f.Plan(args)
		if err != nil {
			return err
		}
		path := ""
		if f.Baseline.Given {
			if path, err = baselinePath("save-baseline", f.Baseline.Text); err != nil {
				return err
			}
		}
		r, err := newReporter(stdout, f.Out, f.JSON)
		if err != nil {
			return err
		}
		if r.verbose = *verbose; len(plan.Jobs) > 1 {
			fmt.Fprintln(stdout, plan.Summary())
		}
		r.baseline = path
		if err := runJobs(cmd.Context(), plan, stderr, r); err != nil {
			return errors.Join(err, r.close())
		}
		return r.close()
	}
	return cmd
}

// runJobs measures the jobs and reports each as it ends. When ctx ends, it stops with what it has.
func runJobs(ctx context.Context, p *jobs.Plan, stderr io.Writer, r *reporter) error {
	if p.Search {
		self, err := ownProgram()
		if err != nil {
			return err
		}
		return (&search{p, stderr, r, self.Run}).searchAll(ctx)
	}
	session := ""
	if p.Processes > 1 {
		session = rand.Text()
	}
	if err := measureEach(ctx, stderr, p.Jobs, p.Processes, session, r.add); err != nil {
		return err
	}
	show := r.table
	if p.Predicted {
		show = r.predictions
	}
	if err := show(); err != nil {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	if err := Verdict(ctx, r.recs, len(p.Jobs)*p.Processes); err != nil {
		return err
	}
	if r.baseline != "" {
		if err := saveBaseline(r.baseline, r.recs); err != nil {
			return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("baseline: %v", err)}
		}
	}
	return thresholds(r.stdout, p.Jobs[0].Settings.FailIf, r.recs)
}

// thresholds writes a line for each figure that is out of bounds or cannot be judged, and returns
// the error that follows from that.
func thresholds(w io.Writer, all []runner.Threshold, recs []*record.Record) error {
	beyond, unknown := 0, 0
	for _, rec := range recs {
		for _, t := range all {
			passed, known := t.Beyond(rec)
			m, _ := rec.Metric(t.Quantity)
			switch {
			case passed:
				beyond++
				fmt.Fprintf(w, "%s: %s %s, beyond %s\n", rec.Name(), t.Quantity, formatFigure(m, known), t)
			case !known && rec.Few(t.Quantity):
				unknown++
				fmt.Fprintf(w, "%s: %s cannot be judged from %s: fewer than ten are slower than %s\n",
					rec.Name(), t, format.Plural(int(rec.Count(record.CountDone)), "operation"), t.Quantity)
			case !known:
				unknown++
				fmt.Fprintf(w, "%s: no %s to check against %s\n", rec.Name(), t.Quantity, t)
			}
		}
	}
	switch {
	case beyond > 0:
		return &ExitError{Code: ExitFailed, Text: format.Plural(beyond, "figure") + " beyond --fail-if"}
	case unknown > 0:
		return &ExitError{Code: ExitPartial, Text: format.Plural(unknown, "figure") + " of --fail-if could not be judged"}
	}
	return nil
}

// formatFigure formats a figure with its unit, if it is known.
func formatFigure(m record.Metric, known bool) string {
	if !known {
		return "is not known"
	}
	if ns, _, isTime := record.TimeUnit(m.Unit()); isTime {
		return format.Time(ns * m.Value)
	}
	return format.Prefixed(m.Value) + " " + m.Unit()
}

// measureEach measures every job, rounds times, each in a process of its own, and passes each
// record to keep as it comes. With a session's name, the records belong to that session. When ctx
// ends, measureEach stops with what it has.
func measureEach(ctx context.Context, stderr io.Writer, all []measure.Job, rounds int, session string, keep func(rec *record.Record) error) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	cases := make([]suite.Case, len(all))
	for i, job := range all {
		cases[i] = suite.Case{Job: job}
	}
	var done func()
	run := suite.Run{Cases: suite.Interleave(cases, rounds), Session: session}
	run.Measure = func(ctx context.Context, c *suite.Case) (*record.Record, error) { return self.Run(ctx, c.Job), nil }
	run.Begins = func(i int, c *suite.Case) { done = caseBar(stderr, i, len(run.Cases), c.Job) }
	run.Ended = func(_ int, _ *suite.Case, rec *record.Record, _ bool) error {
		done()
		if err := refused(rec); err != nil {
			return err
		}
		if err := keep(rec); err != nil {
			return &ExitError{Code: ExitFailed, Text: err.Error()}
		}
		return nil
	}
	if err := run.All(ctx); err != nil && !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return nil
}

// refused returns an error if the child did not accept the case.
func refused(rec *record.Record) error {
	if !rec.Refused() {
		return nil
	}
	return fmt.Errorf("%s: %s", rec.Name(), rec.Error)
}

// Verdict returns the error that a run must end with. The parameter recs contains the run's
// records, and the parameter planned is the number of cases of the whole run. Verdict returns an
// *ExitError if a case failed or was stopped before its end, or if ctx ended because the run was
// interrupted. Otherwise it returns nil.
func Verdict(ctx context.Context, recs []*record.Record, planned int) error {
	failed, partial := 0, 0
	for _, rec := range recs {
		switch rec.Status {
		case record.Failed:
			failed++
		case record.Partial:
			partial++
		}
	}
	switch {
	case failed > 0:
		return &ExitError{Code: ExitFailed, Text: fmt.Sprintf("%d of %d cases failed", failed, planned)}
	case ctx.Err() != nil:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("interrupted: %d of %d cases measured in full", len(recs)-partial, planned)}
	case partial > 0:
		return &ExitError{Code: ExitPartial, Text: fmt.Sprintf("%d of %d cases stopped before their end", partial, planned)}
	}
	return nil
}
