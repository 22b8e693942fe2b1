package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/workload"
)

func runCommand(stdout, stderr io.Writer, defs []workload.Def) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [workload ...]",
		Short: "Measure workloads, each case in a process of its own; without a workload: the main job",
		Long: "Measure workloads, each case in a process of its own. Without a workload: the main job,\n" +
			"transfers of two inputs and two outputs proved and verified with both range proofs.\n" +
			"Lists are comma-separated and take ranges: a..b*k geometric, a..b+k arithmetic.\n" +
			"A flag does not concern a workload that lacks its axis.",
		Args: cobra.ArbitraryArgs,
	}
	f := jobs.NewRunFlags(cmd.Flags(), defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, err := f.Plan(defs, args)
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, f.Out, f.JSON)
		if err != nil {
			return err
		}
		if err := runJobs(cmd.Context(), plan, stderr, r); err != nil {
			return errors.Join(err, r.close())
		}
		return r.close()
	}
	return cmd
}

// runJobs measures the jobs and reports each as it ends. When ctx ends it stops with
// what it has.
func runJobs(ctx context.Context, p *jobs.RunPlan, stderr io.Writer, r *reporter) error {
	self, err := ownProgram()
	if err != nil {
		return err
	}
	if p.Search {
		return (&search{p, stderr, r, self.Run}).all(ctx)
	}
	planned := len(p.Jobs) * p.Processes
	session := rand.Text()
	for round := range p.Processes {
		for i, job := range p.Jobs {
			if ctx.Err() != nil {
				break
			}
			done := caseBar(stderr, round*len(p.Jobs)+i, planned, job)
			rec := self.Run(ctx, job)
			done()
			if err := refused(rec); err != nil {
				return err
			}
			if p.Processes > 1 {
				rec.Process = record.Process{Session: session, Index: round}
			}
			if err := r.add(rec); err != nil {
				return &exitError{code: exitFailed, text: err.Error()}
			}
		}
	}
	if err := r.table(); err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	return verdict(ctx, r.recs, planned)
}

// refused is the error of a case that the child did not accept.
func refused(rec *record.Record) error {
	for _, f := range rec.Findings {
		if f.Name == record.Refused {
			return fmt.Errorf("%s: %s", rec.Name(), rec.Error)
		}
	}
	return nil
}

// verdict is the error, if any, that the records make of the run.
func verdict(ctx context.Context, recs []*record.Record, planned int) error {
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
		return &exitError{code: exitFailed, text: fmt.Sprintf("%d of %d cases failed", failed, planned)}
	case ctx.Err() != nil:
		return &exitError{code: exitPartial, text: fmt.Sprintf("interrupted: %d of %d cases measured in full", len(recs)-partial, planned)}
	case partial > 0:
		return &exitError{code: exitPartial, text: fmt.Sprintf("%d of %d cases stopped before their end", partial, planned)}
	}
	return nil
}
