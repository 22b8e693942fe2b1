package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/stat"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Defaults and bounds of a session.
const (
	sessionProcesses = 24
	sessionDuration  = 250 * time.Millisecond
	// sessionChecks are the results that each process checks: enough to refuse a
	// version that is fast because it is wrong, at little cost to a short process.
	sessionChecks = 16
	// sessionGrace lets the operations end that run when a window closes. Cutting
	// them off would favour the short ones, and versions differ in what they do
	// unless they are told.
	sessionGrace = 10 * time.Second
)

// sessionFlags are the flags of compare that go with --git.
type sessionFlags struct {
	flags                                     *pflag.FlagSet
	axes                                      map[string]*usage.Option // by the axis' key
	names                                     []string                 // of all of them
	processes, duration, workers, out, keepIn *usage.Option
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
		"processes of each side; a verdict needs 8")
	f.duration = define("duration", usage.KindTime, sessionDuration.String(), fmt.Sprintf("a time above 0s up to %v, for example 250ms", measure.MaxDuration),
		"window of each process")
	f.out = define("out", usage.KindFile, "", "the path of a file, which is written anew", "write the records as JSON lines to this file")
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
				cases = append(cases, sessionJob(plan.Def.Name, c, workers, duration))
			}
		}
	}
	return cases, int(processes), nil
}

func sessionJob(name string, c workload.Case, workers int, duration time.Duration) measure.Job {
	s := measure.DefaultSettings(workers, duration)
	s.Check = runner.Check{Policy: runner.CheckSample, N: sessionChecks}
	s.Grace = sessionGrace
	return measure.Job{Workload: name, Case: c, Settings: s, Deadline: measure.Deadline(s)}
}

// run builds the two revisions, measures every case with both, and shows the
// table of all.
func (f *sessionFlags) run(ctx context.Context, stderr io.Writer, defs []workload.Def, revisions string, args []string, out tableOutput) (err error) {
	from, to, err := compare.ParseRange(revisions)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return &usage.ValueError{Field: "workload of compare --git", Value: "", Accepted: "one or more ids, see zkbench list"}
	}
	cases, blocks, err := f.jobs(defs, args)
	if err != nil {
		return err
	}
	repo, err := compare.OpenRepository(ctx)
	if err != nil {
		return err
	}
	var revs [2]compare.Revision
	for i, name := range [2]string{from, to} {
		if revs[i], err = repo.Resolve(ctx, name); err != nil {
			return err
		}
	}
	file, err := newRecordFile(f.out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.close()) }()
	dir, remove, err := f.programDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	programs, err := buildSides(ctx, repo, revs, dir, stderr)
	if err != nil {
		return stoppedOr(ctx, err)
	}
	for i, side := range [2]stat.Side{stat.Old, stat.New} {
		for _, job := range cases {
			if err := probe(ctx, programs[side], job); err != nil {
				return stoppedOr(ctx, fmt.Errorf("%s: %w", revs[i], err))
			}
		}
	}

	var recs []*record.Record
	for i, job := range cases {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(stderr, "%d/%d: %d processes of %s\n", i+1, len(cases), len(stat.Schedule(blocks)), caption(job))
		session := compare.Session{
			Blocks: blocks,
			Run: func(ctx context.Context, side stat.Side) *record.Record {
				rec := programs[side].Run(ctx, job)
				if rec.Env.Commit = revs[0].Commit; side == stat.New {
					rec.Env.Commit = revs[1].Commit
				}
				return rec
			},
			Each: file.add,
		}
		measured, err := session.Measure(ctx)
		recs = append(recs, measured...)
		if err != nil && ctx.Err() == nil {
			return &exitError{code: exitFailed, text: err.Error()}
		}
	}
	return showSession(ctx, recs, revs, len(cases)*len(stat.Schedule(blocks)), out)
}

// showSession shows what was measured of the planned number of processes.
func showSession(ctx context.Context, recs []*record.Record, revs [2]compare.Revision, planned int, out tableOutput) error {
	partial := ""
	if ctx.Err() != nil {
		partial = fmt.Sprintf("interrupted: %d of %d processes measured", len(recs), planned)
	}
	sides, err := compare.Split("session", recs)
	if err != nil {
		return err
	}
	sides.Old.Name, sides.New.Name = revs[0].String(), revs[1].String()
	err = out.show(sides, partial)
	if _, shown := errors.AsType[*exitError](err); err != nil && partial != "" && !shown {
		return &exitError{code: exitPartial, text: partial} // too little for a table
	}
	return err
}

// stoppedOr returns err, unless it came of an interrupt.
func stoppedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &exitError{code: exitPartial, text: "interrupted before anything was measured"}
	}
	return err
}

// programDir returns the directory for the built programs, and what removes it
// unless they are to be kept.
func (f *sessionFlags) programDir() (dir string, remove func() error, err error) {
	if f.keepIn.Given {
		if err := os.MkdirAll(f.keepIn.Text, 0o777); err != nil {
			return "", nil, fmt.Errorf("keep: %w", err)
		}
		dir, err = filepath.Abs(f.keepIn.Text)
		return dir, func() error { return nil }, err
	}
	if dir, err = os.MkdirTemp("", "zkbench-programs-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// buildSides builds the two revisions and copies the old program for the A/A
// pair. The three paths are of one length, because the length of what a process
// starts with moves its stack, and that alone can change its speed (Mytkowicz et
// al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009).
func buildSides(ctx context.Context, repo compare.Repository, revs [2]compare.Revision, dir string, log io.Writer) (map[stat.Side]measure.Program, error) {
	name := func(file string) string {
		if runtime.GOOS == "windows" {
			file += ".exe"
		}
		return filepath.Join(dir, file)
	}
	paths := map[stat.Side]string{stat.Old: name("zkbench-1"), stat.New: name("zkbench-2"), stat.Again: name("zkbench-3")}
	if err := repo.Build(ctx, revs[0], paths[stat.Old], log); err != nil {
		return nil, err
	}
	if err := repo.Build(ctx, revs[1], paths[stat.New], log); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(paths[stat.Old])
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(paths[stat.Again], program, 0o777); err != nil {
		return nil, err
	}
	commands := make(map[stat.Side]measure.Program)
	for side, path := range paths {
		commands[side] = measure.Program{Path: path, Args: []string{execCase}}
	}
	return commands, nil
}

// probe runs a moment of the job, so that a revision which lacks the workload
// says so before the session, in its own words. What goes wrong in the case is
// left to the session.
func probe(ctx context.Context, program measure.Program, job measure.Job) error {
	job.Settings.Duration, job.Settings.Warmup.Time = time.Millisecond, 0
	input, err := json.Marshal(job)
	if err != nil {
		return err
	}
	var messages bytes.Buffer
	child := exec.CommandContext(ctx, program.Path, program.Args...)
	child.Stdin, child.Stderr = bytes.NewReader(input), &messages
	err = child.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitUsage {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(messages.String()), "zkbench: "))
	}
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return err
	}
	return nil
}
