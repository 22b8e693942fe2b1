package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defaults of a session.
const (
	sessionProcesses = 24
	sessionDuration  = 250 * time.Millisecond
	sessionBudget    = 10 * time.Minute
	longestBudget    = 24 * time.Hour
	countedWindow    = 20 * time.Millisecond // with --count, which does not use its time
)

// sessionFlags are the flags of compare that need --git.
type sessionFlags struct {
	flags                                             *pflag.FlagSet
	axes                                              map[string]*argument.Option // by the axis' key
	own, names                                        []string                    // names of these flags, without and with those of axes
	processes, duration, budget, workers, out, keepIn *argument.Option
	bench, build, command, with, timeout              *argument.Option
	count, shell                                      bool
}

func newSessionFlags(flags *pflag.FlagSet, defs []workload.Def) *sessionFlags {
	f := &sessionFlags{flags: flags, axes: jobs.DefineAxes(flags, defs)}
	for _, def := range defs {
		for _, a := range def.Axes {
			f.names = append(f.names, a.Long())
		}
	}
	define := func(name, kind, text, accepted, help string) *argument.Option {
		f.own = append(f.own, name)
		return argument.Define(flags, name, kind, text, accepted, help)
	}
	workers := measure.WorkersAxis()
	f.workers = define("workers", argument.KindList, "1", workers.Accepted, "numbers of workers, each a case of its own")
	f.processes = define("processes", argument.KindNumber, strconv.Itoa(sessionProcesses), fmt.Sprintf("1 to %d", jobs.MaxProcesses),
		"processes on each side; 8 or more are needed to see a change")
	f.duration = define("duration", argument.KindTime, sessionDuration.String(), fmt.Sprintf("a time above 0s up to %v, for example 250ms", measure.MaxDuration),
		"window of each process")
	f.budget = define("budget", argument.KindTime, sessionBudget.String(), fmt.Sprintf("a time from 0s up to %v, for example 10m", longestBudget),
		"how long to add processes until --gate can judge every row")
	f.out = define("out", argument.KindFile, "", "the path of a file, which is overwritten", "write records as JSON lines to this file (overwritten)")
	f.own = append(f.own, "count")
	flags.BoolVar(&f.count, "count", false, "count operations, statements and allocations instead of measuring time")
	f.keepIn = define("keep", argument.KindFile, "", "the path of a directory", "keep the built programs in this directory")
	f.bench = define("bench", argument.KindList, "", compare.PackagesAccepted, "measure the Go benchmarks of these packages, of any module")
	f.command = define("run", argument.KindText, "", argument.WordsAccepted, "measure this command, in any language; "+compare.Tree+" is the revision's tree")
	f.with = argument.Define(flags, "with", argument.KindText, "", "a command beside --run, or a case of NEW beside --case", "compare --run with this command, or --case with this case of NEW")
	f.timeout = define("timeout", argument.KindTime, "0s", fmt.Sprintf("a time from 0s up to %v; 0s: none", measure.MaxDuration), "with --run: a run fails after this time; 0s: never")
	f.build = define("build", argument.KindText, "", argument.WordsAccepted, "first run this command in each tree, for --run and --bench")
	f.own = append(f.own, "shell")
	flags.BoolVar(&f.shell, "shell", false, "run the commands of --run, --with and --build with sh")
	f.names = append(f.names, f.own...)
	return f
}

// given returns the name of one of the flags that were given, if any.
func (f *sessionFlags) given() (name string, ok bool) {
	for _, name := range f.names {
		if f.flags.Changed(name) {
			return name, true
		}
	}
	return "", false
}

// jobs returns the cases of the named workloads, with every number of workers.
func (f *sessionFlags) jobs(defs []workload.Def, names []string) (cases []measure.Job, err error) {
	duration, err := f.duration.Duration("duration", 1, measure.MaxDuration)
	if err != nil {
		return nil, err
	}
	counts, err := measure.WorkersAxis().Parse(f.workers.Text)
	if err != nil {
		return nil, err
	}
	// A matrix of defaults would take hours: axes without a flag have one small value.
	all, err := jobs.SmallPlans(defs, names, jobs.TypedAxes(f.axes))
	if err == nil {
		err = ownPlans(all)
	}
	if err != nil {
		return nil, err
	}
	for _, plan := range all {
		for _, c := range plan.Cases {
			for _, count := range counts {
				workers, err := strconv.Atoi(count)
				if err != nil {
					return nil, err
				}
				cases = append(cases, compare.NewJob(plan.Def.Name, c, workers, duration))
			}
		}
	}
	return cases, nil
}

// ownPlans refuses workloads of provers' files, which a revision of this program does not have.
func ownPlans(plans []workload.Plan) error {
	for _, p := range plans {
		if p.Def.Spec != nil {
			return &argument.ValueError{Field: "workload of compare --git", Value: p.Def.ID(), Accepted: "the program's own; revisions of a prover are compared by --build and --run, or in two files of --json"}
		}
	}
	return nil
}

// The kinds of what compare --git measures, named by the flag that chooses them.
const (
	byWorkload = "--git" // alone
	byBench    = "--bench"
	byRun      = "--run"
)

// flagFits reports whether a flag goes with the kind of what is measured.
func flagFits(name, kind string) bool {
	switch name {
	case "processes", "budget", "out":
		return true
	case "keep":
		return kind != byRun
	case "bench":
		return kind == byBench
	case "run", "timeout":
		return kind == byRun
	case "build", "shell":
		return kind != byWorkload
	}
	return kind == byWorkload
}

// subject returns what the arguments and flags ask to measure. The first arguments are workloads;
// those from index before on, after --, are flags of go test.
func (f *sessionFlags) subject(p *Program, args []string, before int) (compare.Subject, error) {
	kind := byWorkload
	switch {
	case f.bench.Given:
		kind = byBench
	case f.command.Given:
		kind = byRun
	}
	for _, name := range f.names {
		if f.flags.Changed(name) && !flagFits(name, kind) {
			accepted := "--" + name + " without " + kind
			if kind == byWorkload { // the flag is --build, --shell or --timeout
				accepted = "--" + name + " together with " + byRun + " or " + byBench
			}
			return nil, &argument.ValueError{Field: "flag of compare " + kind, Value: "--" + name, Accepted: accepted}
		}
	}
	if len(args) > before && kind != byBench {
		return nil, &argument.ValueError{Field: "flags after -- of compare " + kind, Value: strings.Join(args[before:], " "), Accepted: "those of go test, together with " + byBench}
	}
	if before > 0 && kind != byWorkload {
		return nil, &argument.ValueError{Field: "arguments of compare " + kind, Value: strings.Join(args[:before], " "), Accepted: "none; put a command in quotes, and flags of go test after --"}
	}
	switch kind {
	case byBench:
		b := &compare.Benchmarks{Flags: args[before:], Build: f.build.Text, Shell: f.shell}
		for name := range strings.SplitSeq(f.bench.Text, ",") {
			if name = strings.TrimSpace(name); name == "" {
				return nil, f.bench.Refuse("bench", f.bench.Text)
			}
			b.Packages = append(b.Packages, name)
		}
		return b, nil
	case byRun:
		limit, err := f.limit()
		if err != nil {
			return nil, err
		}
		c := &compare.Command{Build: f.build.Text, Run: f.command.Text, Shell: f.shell, Limit: limit}
		return c, c.Check()
	}
	return f.workloads(p, args)
}

// limit returns how long a run of --run may take.
func (f *sessionFlags) limit() (time.Duration, error) {
	return f.timeout.Duration("timeout", 0, measure.MaxDuration)
}

// measuring returns how the sessions are measured.
func (f *sessionFlags) measuring(stderr io.Writer, out tableOutput) (compare.Measuring, error) {
	m := compare.Measuring{Out: f.out.Text, Gate: out.gate, Log: stderr}
	blocks, err := f.processes.Number("processes", 1, jobs.MaxProcesses)
	if err != nil {
		return m, err
	}
	m.Blocks = int(blocks)
	m.Budget, err = f.budget.Duration("budget", 0, longestBudget)
	return m, err
}

// run measures the two revisions and shows the table.
func (f *sessionFlags) run(ctx context.Context, stderr io.Writer, p *Program, revisions string, args []string, before int, out tableOutput) error {
	r := compare.Revisions{Keep: f.keepIn.Text}
	var err error
	if r.From, r.To, err = compare.ParseRange(revisions); err != nil {
		return err
	}
	if r.Subject, err = f.subject(p, args, before); err != nil {
		return err
	}
	if r.Measuring, err = f.measuring(stderr, out); err != nil {
		return err
	}
	return measuredError(r.Measure(ctx, out.measured))
}

// runPrograms measures the commands of --run and --with and shows the table.
func (f *sessionFlags) runPrograms(ctx context.Context, stderr io.Writer, args []string, out tableOutput) error {
	for _, name := range f.names {
		if f.flags.Changed(name) && (name == "build" || !flagFits(name, byRun)) {
			return &argument.ValueError{Field: "flag of compare --run with --with", Value: "--" + name, Accepted: "--" + name + " together with --git"}
		}
	}
	if len(args) > 0 {
		return &argument.ValueError{Field: "arguments of compare --run", Value: strings.Join(args, " "), Accepted: "none; put a command in quotes"}
	}
	for _, name := range []string{"baseline", "case"} {
		if f.flags.Changed(name) {
			return &argument.ValueError{Field: "flag of compare --run with --with", Value: "--" + name, Accepted: "--" + name + " together with files"}
		}
	}
	programs := compare.Programs{Old: f.command.Text, New: f.with.Text, Shell: f.shell}
	var err error
	if programs.Measuring, err = f.measuring(stderr, out); err != nil {
		return err
	}
	if programs.Limit, err = f.limit(); err != nil {
		return err
	}
	if err := programs.Check(); err != nil {
		return err
	}
	return measuredError(programs.Measure(ctx, out.measured))
}

// measured shows what a session has measured.
func (o tableOutput) measured(sides compare.Sides, partial string) error {
	err := o.show(sides, partial)
	if _, refused := errors.AsType[*argument.ValueError](err); refused { // show what was measured nevertheless
		plain := o
		plain.gate = nil
		return errors.Join(plain.show(sides, partial), err)
	}
	if _, shown := errors.AsType[*ExitError](err); err != nil && partial != "" && !shown {
		return &ExitError{Code: ExitPartial, Text: partial} // too little for a table
	}
	return err
}

// measuredError gives the errors of measuring their exit codes.
func measuredError(err error) error {
	if _, failed := errors.AsType[*compare.FailedError](err); failed {
		return &ExitError{Code: ExitFailed, Text: err.Error()}
	}
	if errors.Is(err, compare.ErrInterrupted) {
		return &ExitError{Code: ExitPartial, Text: err.Error()}
	}
	return err
}

// workloads returns the cases of the named workloads.
func (f *sessionFlags) workloads(p *Program, names []string) (*compare.Workloads, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("compare --git needs a workload, --bench or --run; %s list names the workloads", p.Name)
	}
	cases, err := f.jobs(p.Defs(), names)
	if err != nil {
		return nil, err
	}
	main := p.source()
	for _, c := range cases {
		if def, err := workload.Find(p.Defs(), c.Workload); err == nil {
			main.Guests = cmp.Or(main.Guests, def.Guests)
		}
	}
	w := &compare.Workloads{Main: main, Args: []string{ExecCase}, Jobs: cases, Count: f.count}
	if !w.Count {
		return w, nil
	}
	for _, name := range []string{"processes", "duration", "budget"} {
		if f.flags.Changed(name) {
			return nil, &argument.ValueError{Field: "flag of compare --count", Value: "--" + name, Accepted: "--" + name + " without --count"}
		}
	}
	for i := range w.Jobs {
		s := &w.Jobs[i].Settings
		s.Duration, s.Warmup.Time, s.Instructions = countedWindow, 0, true
	}
	return w, nil
}
