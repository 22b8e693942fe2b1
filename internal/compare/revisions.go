package compare

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/stat"
	"github.com/zkbench/zkbench/internal/workload"
)

const (
	// sessionChecks are the results that each process checks: enough to refuse a
	// version that is fast because it is wrong, at little cost to a short process.
	sessionChecks = 16
	// sessionGrace lets the operations end that run when a window closes. Cutting
	// them off would favour the short ones, and versions differ in what they do
	// unless they are told.
	sessionGrace = 10 * time.Second
	// exitRefused is the exit code of a program that does not accept its job.
	exitRefused = 2
)

// NewJob is what each process of a session does.
func NewJob(name string, c workload.Case, workers int, duration time.Duration) measure.Job {
	s := measure.DefaultSettings(workers, duration)
	s.Check = runner.Check{Policy: runner.CheckSample, N: sessionChecks}
	s.Grace = sessionGrace
	return measure.Job{Workload: name, Case: c, Settings: s, Deadline: measure.Deadline(s)}
}

// Revisions measures two revisions of the repository that the current directory is in.
type Revisions struct {
	From, To string // as ParseRange returns them
	Jobs     []measure.Job
	Blocks   int       // of each job's session
	Out      string    // file of the records, written anew; empty: none
	Keep     string    // directory of the built programs, which stay there; empty: they are removed
	Args     []string  // with which a built program runs a job
	Log      io.Writer // gets a line of progress for each build and job
}

// ErrInterrupted says that nothing was measured.
var ErrInterrupted = errors.New("interrupted before anything was measured")

// Measure builds the two revisions, measures every job with both, and gives what was
// measured to show. partial tells why it is less than was planned; empty where it is not.
// The error is that of show, a *FailedError where a process failed or its record was not
// kept, ErrInterrupted, or what stands in the way of a session.
func (r *Revisions) Measure(ctx context.Context, show func(sides Sides, partial string) error) (err error) {
	repo, err := OpenRepository(ctx)
	if err != nil {
		return err
	}
	var revs [2]Revision
	for i, name := range [2]string{r.From, r.To} {
		if revs[i], err = repo.Resolve(ctx, name); err != nil {
			return err
		}
	}
	keep := func(*record.Record) error { return nil }
	if r.Out != "" {
		file, openErr := os.Create(r.Out)
		if openErr != nil {
			return fmt.Errorf("out: %w", openErr)
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		keep = func(r *record.Record) error { return record.Write(file, r) }
	}
	dir, remove, err := r.programDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()

	programs, err := r.programs(ctx, repo, revs, dir)
	if err != nil && ctx.Err() != nil {
		return ErrInterrupted
	}
	if err != nil {
		return err
	}
	recs, err := r.sessions(ctx, programs, revs, keep)
	if err != nil {
		return err
	}
	sides, err := Split("session", recs)
	if err != nil {
		return err
	}
	sides.Old.Name, sides.New.Name = revs[0].String(), revs[1].String()
	partial := ""
	if ctx.Err() != nil {
		partial = fmt.Sprintf("interrupted: %d of %d processes measured", len(recs), len(r.Jobs)*len(stat.Schedule(r.Blocks)))
	}
	return show(sides, partial)
}

// sessions measures the jobs one after the other, until ctx ends.
func (r *Revisions) sessions(ctx context.Context, programs map[stat.Side]measure.Program, revs [2]Revision, keep func(*record.Record) error) (recs []*record.Record, err error) {
	for i, job := range r.Jobs {
		if ctx.Err() != nil {
			break
		}
		fmt.Fprintf(r.Log, "%d/%d: %d processes of %s\n", i+1, len(r.Jobs), len(stat.Schedule(r.Blocks)), job.Caption())
		session := Session{
			Blocks: r.Blocks,
			Run: func(ctx context.Context, side stat.Side) *record.Record {
				rec := programs[side].Run(ctx, job)
				if rec.Env.Commit = revs[0].Commit; side == stat.New {
					rec.Env.Commit = revs[1].Commit
				}
				return rec
			},
			Each: keep,
		}
		measured, err := session.Measure(ctx)
		recs = append(recs, measured...)
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	return recs, nil
}

// programDir returns the directory for the built programs, and what removes it
// unless they are to be kept.
func (r *Revisions) programDir() (dir string, remove func() error, err error) {
	if r.Keep != "" {
		if err := os.MkdirAll(r.Keep, 0o777); err != nil {
			return "", nil, fmt.Errorf("keep: %w", err)
		}
		dir, err = filepath.Abs(r.Keep)
		return dir, func() error { return nil }, err
	}
	if dir, err = os.MkdirTemp("", "zkbench-programs-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// programs builds the two revisions, copies the old program for the A/A pair, and probes
// the jobs. The three paths are of one length, because the length of what a process
// starts with moves its stack, and that alone can change its speed (Mytkowicz et
// al., "Producing Wrong Data Without Doing Anything Obviously Wrong!", 2009).
func (r *Revisions) programs(ctx context.Context, repo Repository, revs [2]Revision, dir string) (map[stat.Side]measure.Program, error) {
	programs := make(map[stat.Side]measure.Program)
	for i, side := range []stat.Side{stat.Old, stat.New, stat.Again} {
		file := fmt.Sprintf("zkbench-%d", i+1)
		if runtime.GOOS == "windows" {
			file += ".exe"
		}
		programs[side] = measure.Program{Path: filepath.Join(dir, file), Args: r.Args}
	}
	for i, side := range []stat.Side{stat.Old, stat.New} {
		if err := repo.Build(ctx, revs[i], programs[side].Path, r.Log); err != nil {
			return nil, err
		}
	}
	old, err := os.ReadFile(programs[stat.Old].Path)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(programs[stat.Again].Path, old, 0o777); err != nil {
		return nil, err
	}
	for i, side := range []stat.Side{stat.Old, stat.New} {
		for _, job := range r.Jobs {
			if err := probe(ctx, programs[side], job); err != nil {
				return nil, fmt.Errorf("%s: %w", revs[i], err)
			}
		}
	}
	return programs, nil
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
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == exitRefused {
		return errors.New(strings.TrimPrefix(strings.TrimSpace(messages.String()), "zkbench: "))
	}
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		return err
	}
	return nil
}

// Session measures one case of two programs in processes that take turns, so
// that what the machine does meanwhile happens to both: Blocks blocks of
// stat.Schedule, each an old, a new and another old process.
type Session struct {
	Blocks int
	// Run runs the case in one process of that side. What goes wrong is in the
	// record.
	Run func(ctx context.Context, side stat.Side) *record.Record
	// Each, if not nil, gets every record as it comes, whatever its status.
	Each func(*record.Record) error
}

// FailedError says that a process of a session failed, which is a zkbench.ErrEnv, or that
// its record was not kept: the session ends there.
type FailedError struct {
	Record *record.Record
	Err    error // of Each; nil: the process failed
}

func (e *FailedError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	r := e.Record
	return fmt.Sprintf("%v: process %s[%d] of %s %s: %s",
		zkbench.ErrEnv, r.Process.Side, r.Process.Index, r.Name(), r.Status, r.Error)
}

func (e *FailedError) Unwrap() error { return cmp.Or(e.Err, zkbench.ErrEnv) }

// Measure runs the session and returns the records of the processes that ran to
// their end, with their places in the session. The error is that of ctx when it
// ends first, or a *FailedError; the records until then come with it.
func (s Session) Measure(ctx context.Context) ([]*record.Record, error) {
	id := rand.Text()
	index := make(map[stat.Side]int)
	var recs []*record.Record
	for _, side := range stat.Schedule(s.Blocks) {
		if ctx.Err() != nil {
			return recs, ctx.Err()
		}
		rec := s.Run(ctx, side)
		rec.Process = record.Process{Session: id, Side: string(side), Index: index[side]}
		index[side]++
		if s.Each != nil {
			if err := s.Each(rec); err != nil {
				return recs, &FailedError{rec, err}
			}
		}
		switch {
		case rec.Status == record.OK:
			recs = append(recs, rec)
		case ctx.Err() != nil:
			return recs, ctx.Err()
		default:
			return recs, &FailedError{Record: rec}
		}
	}
	return recs, nil
}
