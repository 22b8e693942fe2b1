package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defaults of a session.
const (
	sessionProcesses = 24
	sessionDuration  = 250 * time.Millisecond
	sessionBudget    = 10 * time.Minute
	longestBudget    = 24 * time.Hour
	countedWindow    = 20 * time.Millisecond // with --count: its time is not looked at
)

// sessionFlags are the flags of compare that go with --git.
type sessionFlags struct {
	flags                                             *pflag.FlagSet
	axes                                              map[string]*usage.Option // by the axis' key
	names                                             []string                 // of all of them
	processes, duration, budget, workers, out, keepIn *usage.Option
	count                                             bool
}

func newSessionFlags(flags *pflag.FlagSet, defs []workload.Def) *sessionFlags {
	f := &sessionFlags{flags: flags, axes: jobs.DefineAxes(flags, defs, withGit)}
	for _, def := range defs {
		for _, a := range def.Axes {
			f.names = append(f.names, a.Long())
		}
	}
	define := func(name, kind, text, accepted, help string) *usage.Option {
		f.names = append(f.names, name)
		return usage.Define(flags, name, kind, text, accepted, withGit+help)
	}
	workers := measure.WorkersAxis()
	f.workers = define("workers", usage.KindList, "1", workers.Accepted, "numbers of workers: "+workers.Accepted)
	f.processes = define("processes", usage.KindNumber, strconv.Itoa(sessionProcesses), fmt.Sprintf("1 to %d", jobs.MaxProcesses),
		"processes of each side; a Verdict needs 8")
	f.duration = define("duration", usage.KindTime, sessionDuration.String(), fmt.Sprintf("a time above 0s up to %v, for example 250ms", measure.MaxDuration),
		"window of each process")
	f.budget = define("budget", usage.KindTime, sessionBudget.String(), fmt.Sprintf("a time from 0s up to %v, for example 10m", longestBudget),
		"with --gate: processes are added until the gate can be judged, or until this time has passed")
	f.out = define("out", usage.KindFile, "", "the path of a file, which is written anew", "write the records as JSON lines to this file")
	f.names = append(f.names, "count")
	flags.BoolVar(&f.count, "count", false, withGit+"count operations, statements and allocations instead of time, one run a side")
	f.keepIn = define("keep", usage.KindFile, "", "the path of a directory", "keep the built programs in this directory")
	return f
}

// withGit begins the help of the flags that go with --git.
const withGit = "with --git: "

// given returns one of the flags that was given.
func (f *sessionFlags) given() (name string, ok bool) {
	for _, name := range f.names {
		if f.flags.Changed(name) {
			return name, true
		}
	}
	return "", false
}

// jobs returns the cases of the named workloads with every number of workers.
func (f *sessionFlags) jobs(defs []workload.Def, names []string) (cases []measure.Job, blocks int, err error) {
	processes, err := f.processes.Number("processes", 1, jobs.MaxProcesses)
	if err != nil {
		return nil, 0, err
	}
	duration, err := f.duration.Duration("duration", 1, measure.MaxDuration)
	if err != nil {
		return nil, 0, err
	}
	counts, err := measure.WorkersAxis().Parse(f.workers.Text)
	if err != nil {
		return nil, 0, err
	}
	// A matrix of defaults would take hours: what is not named is small.
	all, err := jobs.SmallPlans(defs, names, jobs.TypedAxes(f.axes))
	if err != nil {
		return nil, 0, err
	}
	for _, plan := range all {
		for _, c := range plan.Cases {
			for _, count := range counts {
				workers, err := strconv.Atoi(count)
				if err != nil {
					return nil, 0, err
				}
				cases = append(cases, compare.NewJob(plan.Def.Name, c, workers, duration))
			}
		}
	}
	return cases, int(processes), nil
}

// run measures what the arguments and flags name with the two revisions and shows the table.
func (f *sessionFlags) run(ctx context.Context, stderr io.Writer, p *Program, revisions string, args []string, out tableOutput) error {
	r := compare.Revisions{Out: f.out.Text, Keep: f.keepIn.Text, Gate: out.gate, Log: stderr}
	var err error
	if r.From, r.To, err = compare.ParseRange(revisions); err != nil {
		return err
	}
	if r.Subject, r.Blocks, err = f.workloads(p, args); err != nil {
		return err
	}
	if r.Budget, err = f.budget.Duration("budget", 0, longestBudget); err != nil {
		return err
	}
	err = r.Measure(ctx, func(sides compare.Sides, partial string) error {
		err := out.show(sides, partial)
		if _, refused := errors.AsType[*usage.ValueError](err); refused { // what was measured is shown all the same
			plain := out
			plain.gate = nil
			return errors.Join(plain.show(sides, partial), err)
		}
		if _, shown := errors.AsType[*ExitError](err); err != nil && partial != "" && !shown {
			return &ExitError{Code: ExitPartial, Text: partial} // too little for a table
		}
		return err
	})
	if _, failed := errors.AsType[*compare.FailedError](err); failed {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	if errors.Is(err, compare.ErrInterrupted) {
		return &ExitError{Code: ExitPartial, Text: err.Error()}
	}
	return err
}

// workloads are the cases of the named ones.
func (f *sessionFlags) workloads(p *Program, names []string) (*compare.Workloads, int, error) {
	if len(names) == 0 {
		return nil, 0, &usage.ValueError{Field: "workload of compare --git", Value: "", Accepted: "one or more ids, see list"}
	}
	cases, blocks, err := f.jobs(p.Defs(), names)
	if err != nil {
		return nil, 0, err
	}
	w := &compare.Workloads{Main: p.source(), Args: []string{ExecCase}, Jobs: cases, Count: f.count}
	if !w.Count {
		return w, blocks, nil
	}
	for _, name := range []string{"processes", "duration", "budget"} {
		if f.flags.Changed(name) {
			return nil, 0, &usage.ValueError{Field: "flag of compare --count", Value: "--" + name, Accepted: "--" + name + " without --count"}
		}
	}
	for i := range w.Jobs {
		s := &w.Jobs[i].Settings
		s.Duration, s.Warmup.Time, s.Instructions = countedWindow, 0, true
	}
	return w, blocks, nil
}
