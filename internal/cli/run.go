package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
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
	f := newRunFlags(cmd.Flags(), defs)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		plan, err := f.plan(defs, args)
		if err != nil {
			return err
		}
		r, err := newReporter(stdout, f.out, f.json)
		if err != nil {
			return err
		}
		if err := plan.run(cmd.Context(), stderr, r); err != nil {
			return errors.Join(err, r.close())
		}
		return r.close()
	}
	return cmd
}

// runPlan is what a command line asks to be measured.
type runPlan struct {
	jobs      []measure.Job
	processes int
	slo       runner.SLO
	search    bool         // the highest rate that holds slo is wanted
	shape     runner.Shape // of the search's arrivals
}

// plan reads the command line.
func (f *runFlags) plan(defs []workload.Def, args []string) (*runPlan, error) {
	typed := typedAxes(f.axes)
	duration, workers := measure.DefaultDuration, "1"
	var all []workload.Plan
	var err error
	switch {
	case f.mix.given && len(args) > 0:
		return nil, &usage.ValueError{Field: "workload", Value: args[0], Accepted: "none beside --mix, which names them"}
	case f.mix.given:
		var mix workload.Def
		if mix, err = workload.Mix(defs, f.mix.text); err == nil {
			all, err = plans([]workload.Def{mix}, []string{mix.ID()}, typed)
		}
	case len(args) == 0:
		duration, workers = mainJobDuration, measure.NumCPU
		all, err = mainJob(defs, typed)
	default:
		all, err = plans(defs, args, typed)
	}
	if err != nil {
		return nil, err
	}
	if f.workers.given {
		workers = f.workers.text
	}
	plan := new(runPlan)
	if plan.slo, plan.search, err = f.objective(); err != nil {
		return nil, err
	}
	plan.shape = runner.Shape(f.arrivals.text)
	processes, err := f.processes.number("processes", 1, maxProcesses)
	if err != nil {
		return nil, err
	}
	plan.processes = int(processes)
	counts, err := f.processors()
	if err != nil {
		return nil, err
	}
	for _, procs := range counts {
		loads := workers
		if procs > 0 {
			loads = strings.ReplaceAll(workers, measure.NumCPU, strconv.Itoa(procs))
		}
		settings, err := f.settings(loads, duration)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			for _, c := range p.Cases {
				if procs > 0 {
					c = c.With(cpusAxis().Key, strconv.Itoa(procs))
				}
				for _, s := range settings {
					if len(s.Profiles) > 0 {
						s.ProfileDir = f.profileDir(p.Def, s.Of(c))
					}
					plan.jobs = append(plan.jobs, measure.Job{Workload: p.Def.Name, Case: c, Settings: s, Deadline: measure.Deadline(s), Procs: procs})
				}
			}
		}
	}
	return plan, nil
}

// processors are the numbers of processors that cases may use; 0: the machine's.
func (f *runFlags) processors() ([]int, error) {
	if !f.cpus.given {
		return []int{0}, nil
	}
	return parseProcessors(f.cpus.text)
}

// profileDir is the directory of a measured case's profiles.
func (f *runFlags) profileDir(def workload.Def, c workload.Case) string {
	if f.out.given {
		return (&output{dir: f.out.text}).caseDir(def.Name, c.String())
	}
	return measure.ProfileDir(profileRoot, def, c)
}

// run measures the jobs and reports each as it ends. When ctx ends it stops with
// what it has.
func (p *runPlan) run(ctx context.Context, stderr io.Writer, r *reporter) error {
	self, err := os.Executable()
	if err != nil {
		return &exitError{code: exitFailed, text: err.Error()}
	}
	command := measure.Program{Path: self, Args: []string{execCase}}
	if p.search {
		return p.searchAll(ctx, stderr, r, command.Run)
	}
	planned := len(p.jobs) * p.processes
	session := rand.Text()
	for round := range p.processes {
		for i, job := range p.jobs {
			if ctx.Err() != nil {
				break
			}
			done := progress(stderr, round*len(p.jobs)+i, planned, job)
			rec := command.Run(ctx, job)
			done()
			if err := refused(rec); err != nil {
				return err
			}
			if p.processes > 1 {
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
			return fmt.Errorf("%s/%s: %s", rec.Workload, rec.Case, rec.Error)
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
