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
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/figure"
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
	Blocks   int // of each job's session, at least
	// Gate, if not nil, has blocks added to the sessions of jobs with rows that could not
	// have shown such a change, until none is left or Budget has passed since the first
	// process.
	Gate   *Gate
	Budget time.Duration
	Count  bool      // count what is exact, once a side, instead of sessions
	Out    string    // file of the records, written anew; empty: none
	Keep   string    // directory of the built programs, which stay there; empty: they are removed
	Args   []string  // with which a built program runs a job
	Log    io.Writer // gets a line of progress for each build and job
}

// ErrInterrupted says that nothing was measured.
var ErrInterrupted = errors.New("interrupted before anything was measured")

// Measure builds the two revisions, measures every job with both, and gives what was
// measured to show. partial tells why it is less than was planned; empty where it is not.
// The error is a *FailedError where a process failed twice or its record was not kept, that
// of show, ErrInterrupted, or what stands in the way of a session.
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
	run := func(ctx context.Context, side stat.Side, job measure.Job) *record.Record {
		rec := programs[side].Run(ctx, job)
		if rec.Env.Commit = revs[0].Commit; side == stat.New {
			rec.Env.Commit = revs[1].Commit
		}
		return rec
	}
	var recs []*record.Record
	var failed error
	planned := processes * r.Blocks * len(r.Jobs)
	if r.Count {
		counting, err := r.counters(ctx, repo, revs, dir)
		if err != nil && ctx.Err() != nil {
			return ErrInterrupted
		}
		if err != nil {
			return err
		}
		recs, failed = r.count(ctx, run, counting, keep)
		planned = 2 * len(r.Jobs)
	} else {
		recs, failed = r.sessions(ctx, run, keep)
	}
	sides, err := Split("session", recs)
	if err != nil {
		return errors.Join(failed, err)
	}
	sides.Old.Name, sides.New.Name = revs[0].String(), revs[1].String()
	partial := ""
	switch {
	case failed != nil:
		partial = failed.Error()
	case ctx.Err() != nil:
		partial = fmt.Sprintf("interrupted: %s measured", figure.Plural(len(recs), "process"))
		if len(recs) < planned {
			partial = fmt.Sprintf("interrupted: %d of %d processes measured", len(recs), planned)
		}
	}
	err = show(sides, partial)
	return cmp.Or(failed, err)
}

// sessions measures the jobs one after the other, until ctx ends, and adds blocks to those
// that the gate cannot be judged by. A job of which a process fails twice ends there, and
// the others go on; the error is that of the first.
func (r *Revisions) sessions(ctx context.Context, run func(context.Context, stat.Side, measure.Job) *record.Record, keep func(*record.Record) error) (recs []*record.Record, failed error) {
	begin := time.Now()
	measured := make([]jobSession, len(r.Jobs))
	for i, job := range r.Jobs {
		s := &measured[i]
		s.Run = func(ctx context.Context, side stat.Side) *record.Record { return run(ctx, side, job) }
		s.Each = keep
		if ctx.Err() == nil {
			fmt.Fprintf(r.Log, "%d/%d: %d processes of %s\n", i+1, len(r.Jobs), processes*r.Blocks, job.Caption())
			s.add(ctx, r.Blocks)
		}
	}
	for again := r.Gate != nil && r.Gate.Limit > 0; again; {
		again = false
		for i := range measured {
			s := &measured[i]
			if s.failed != nil || ctx.Err() != nil || time.Since(begin) > r.Budget {
				continue
			}
			more := MoreBlocks(s.recs, *r.Gate)
			if more == 0 {
				continue
			}
			fmt.Fprintf(r.Log, "%d/%d: %d more processes of %s, which could not have seen %s\n", i+1, len(r.Jobs), processes*more, r.Jobs[i].Caption(), r.Gate.Percent())
			for range more {
				if time.Since(begin) <= r.Budget {
					s.add(ctx, 1)
				}
			}
			again = true
		}
	}
	for i := range measured {
		recs = append(recs, measured[i].recs...)
		failed = cmp.Or(failed, measured[i].failed)
	}
	return recs, failed
}

// jobSession is the session of a job with what it has measured so far.
type jobSession struct {
	Session
	recs   []*record.Record
	failed error // a *FailedError
}

// add measures further blocks, unless a process has failed.
func (s *jobSession) add(ctx context.Context, blocks int) {
	if s.failed != nil {
		return
	}
	recs, err := s.Measure(ctx, blocks)
	s.recs = append(s.recs, recs...)
	if ctx.Err() == nil {
		s.failed = err
	}
}

// MoreBlocks is an even number of blocks that a session needs until the gate can be judged
// by every row, about: an interval shrinks by the root of the blocks. At most as many as it
// has; 0 where nothing is lacking, or no block is complete.
func MoreBlocks(session []*record.Record, gate Gate) int {
	sides, err := Split("session", session)
	if err != nil || sides.Old == nil || sides.New == nil {
		return 0
	}
	table, err := Compare(sides, true)
	if err != nil {
		return 0
	}
	has := func(metric string) bool {
		return slices.ContainsFunc(table.Rows, func(r Row) bool { return r.Metric == metric })
	}
	gate.Metrics = slices.DeleteFunc(slices.Clone(gate.Metrics), func(m string) bool { return !has(m) }) // those of other jobs
	outcome, err := gate.Apply(table)
	if err != nil || len(outcome.Blind) == 0 {
		return 0
	}
	need, have := 0.0, float64(len(session)/processes)
	for _, row := range outcome.Blind {
		wider := math.Log1p(row.Sees(row.Floor)) / math.Log1p(gate.Limit)
		need = max(need, have*(wider*wider-1))
	}
	return 2 * int(math.Ceil(min(max(need, 1), have)/2))
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
		programs[side] = measure.Program{Path: filepath.Join(dir, program("zkbench", i+1)), Args: r.Args}
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

// program is the name of the file of a program, the n-th of its kind.
func program(kind string, n int) string {
	name := fmt.Sprintf("%s-%d", kind, n)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return name
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
// that what the machine does meanwhile happens to both, in the blocks of stat.Schedule:
// an old, a new and another old process each.
type Session struct {
	// Run runs the case in one process of that side. What goes wrong is in the
	// record.
	Run func(ctx context.Context, side stat.Side) *record.Record
	// Each, if not nil, gets every record as it comes, whatever its status.
	Each func(*record.Record) error

	id   string
	next int // process in the order of stat.Schedule
}

// processes are those of a block.
const processes = 3

// FailedError says that a process of a session failed twice, which is a zkbench.ErrEnv, or
// that its record was not kept: the session ends there.
type FailedError struct {
	Record *record.Record
	Err    error // of Each, or of counting; nil: the process failed
}

func (e *FailedError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	r := e.Record
	return fmt.Sprintf("%v: process %s[%d] of %s %s twice: %s",
		zkbench.ErrEnv, r.Process.Side, r.Process.Index, r.Name(), r.Status, r.Error)
}

func (e *FailedError) Unwrap() error { return cmp.Or(e.Err, zkbench.ErrEnv) }

// Measure runs so many further blocks and returns the records of the processes that ran
// to their end, with their places in the session. A process that fails is run again once,
// at once. The error is that of ctx when it ends first, or a *FailedError; the records
// until then come with it.
func (s *Session) Measure(ctx context.Context, blocks int) ([]*record.Record, error) {
	if s.id == "" {
		s.id = rand.Text()
	}
	var recs []*record.Record
	for _, side := range stat.Schedule(s.next/processes + blocks)[s.next:] {
		rec, err := s.process(ctx, side)
		if err == nil && rec.Status != record.OK && ctx.Err() == nil {
			rec, err = s.process(ctx, side)
		}
		switch {
		case err != nil:
			return recs, err
		case rec.Status == record.OK:
			recs = append(recs, rec)
			s.next++
		case ctx.Err() != nil:
			return recs, ctx.Err()
		default:
			return recs, &FailedError{Record: rec}
		}
	}
	return recs, nil
}

// process runs the next process, none where ctx has ended, and hands its record on.
func (s *Session) process(ctx context.Context, side stat.Side) (*record.Record, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	rec := s.Run(ctx, side)
	rec.Process = record.Process{Session: s.id, Side: string(side), Index: s.next / processes}
	if s.Each != nil {
		if err := s.Each(rec); err != nil {
			return nil, &FailedError{rec, err}
		}
	}
	return rec, nil
}
