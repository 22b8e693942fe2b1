package compare

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/guestprogram"
)

const (
	// sessionChecks is the number of results that each process checks: enough to refuse a
	// version that is fast because it is wrong, at little cost to a short process.
	sessionChecks = 16
	// sessionGrace lets operations end that still run when a window closes. Cutting
	// them off would favour short ones, and versions may differ in whether they wait
	// by default.
	sessionGrace = 10 * time.Second
	// exitRefused is the exit code of a program that refuses its job.
	exitRefused = 2
)

// NewJob returns the job that each process of a session runs: the case c of the workload with the
// given name, measured with the given number of workers for the given duration.
func NewJob(name string, c workload.Case, workers int, duration time.Duration) measure.Job {
	s := measure.DefaultSettings(workers, duration)
	s.Check = runner.Check{Policy: runner.CheckSample, N: sessionChecks}
	s.Grace = sessionGrace
	return measure.Job{Workload: name, Case: c, Settings: s, Deadline: measure.Deadline(s)}
}

// Workloads measures jobs of a program, which is built at both revisions.
type Workloads struct {
	Main  Main
	Args  []string // arguments with which a built program runs a job
	Jobs  []measure.Job
	Count bool // count exact figures, once on each side, instead of measuring sessions
}

func (w *Workloads) measure(ctx context.Context, m *measurement) error {
	main, err := m.repo.Find(ctx, w.Main)
	if err != nil {
		return err
	}
	programs, err := w.programs(ctx, m, main)
	if err != nil {
		return err
	}
	run := func(ctx context.Context, side stat.Side, job measure.Job) *record.Record {
		rec := programs[side].Run(ctx, job)
		rec.Env.Commit = m.revision(side).Commit
		return rec
	}
	if w.Count {
		counting, err := w.counters(ctx, m, main)
		if err != nil {
			return err
		}
		w.count(ctx, m, run, counting)
		return nil
	}
	var cases []measured
	for _, job := range w.Jobs {
		cases = append(cases, measured{job.Caption(), func(ctx context.Context, side stat.Side) *record.Record { return run(ctx, side, job) }})
	}
	m.sessions(ctx, cases)
	return nil
}

// programs builds the two revisions, copies the old program for the A/A pair, and probes the jobs.
func (w *Workloads) programs(ctx context.Context, m *measurement, main Main) (map[stat.Side]measure.Program, error) {
	programs := make(map[stat.Side]measure.Program)
	for _, side := range sides {
		programs[side] = measure.Program{Path: m.program("zkbench", side), Args: w.Args}
	}
	for i, side := range built {
		if err := m.repo.Build(ctx, m.revs[i], main, programs[side].Path, m.Log); err != nil {
			return nil, err
		}
	}
	if err := copyProgram(programs[stat.Old].Path, programs[stat.Again].Path); err != nil {
		return nil, err
	}
	if main.Guests != "" {
		if err := os.CopyFS(guestprogram.Folder(programs[stat.Again].Path), os.DirFS(guestprogram.Folder(programs[stat.Old].Path))); err != nil {
			return nil, err
		}
	}
	for i, side := range built {
		for _, job := range w.Jobs {
			if err := probe(ctx, programs[side], job); err != nil {
				return nil, fmt.Errorf("%s: %w", m.revs[i], err)
			}
		}
	}
	return programs, nil
}

// program returns the path of a side's program. All sides have paths of the same length, because
// the length of a process' arguments and environment moves its stack, and that alone can change its
// speed (Mytkowicz et al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009).
func (m *measurement) program(kind string, side stat.Side) string {
	name := fmt.Sprintf("%s-%d", kind, place(side))
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(m.dir, name)
}

func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o777)
}

// probe runs the job for a moment, so that a revision that lacks the workload says so before the
// session, in its own words. Other errors of the case are left to the session.
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
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitRefused {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(messages.String()), "zkbench: "))
	}
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return err
	}
	return nil
}
