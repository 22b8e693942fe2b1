package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Measuring says how the sessions of a comparison are measured.
type Measuring struct {
	Blocks int // minimum number of blocks of each session
	// If Gate is not nil, sessions are judged by it (see Session.Judge). Budget is for all of them
	// together.
	Gate   *Gate
	Budget time.Duration
	Out    string    // file of the records, which is overwritten; empty: none
	Log    io.Writer // receives a line of progress for each build and session
}

// Revisions measures two revisions of the git repository that contains the current directory.
type Revisions struct {
	Measuring
	From, To string  // as ParseRange returns them
	Subject  Subject // what to measure in both
	Keep     string  // directory that keeps the built programs; empty: they are removed
}

// Subject is what to measure in a revision: Workloads of a program, Benchmarks of Go packages, or a
// Command.
type Subject interface {
	// measure builds what it needs from both revisions and measures it. It returns an error if it
	// cannot; errors of processes are in the measurement.
	measure(ctx context.Context, m *measurement) error
}

// ErrInterrupted says that a comparison was interrupted before anything was measured.
var ErrInterrupted = errors.New("interrupted before anything was measured")

// measurement is the state of measuring, and its results.
type measurement struct {
	*Measuring
	keep func(*record.Record) error
	pair *Pair       // of two programs
	repo Repository  // of revisions
	revs [2]Revision // the old and the new revision
	dir  string      // directory of the programs that are built from revisions

	recs    []*record.Record
	failed  error // the first *FailedError
	planned int   // number of processes
}

// The sides of a session, in the order of their programs, and those that are built. The third side
// is a copy of the first.
var (
	sides = []stat.Side{stat.Old, stat.New, stat.Again}
	built = sides[:2]
)

// place returns the position of a side among sides, counted from 1.
func place(side stat.Side) int { return 1 + slices.Index(sides, side) }

// revision returns the revision of a side.
func (m *measurement) revision(side stat.Side) Revision {
	if side == stat.New {
		return m.revs[1]
	}
	return m.revs[0]
}

// Measure builds the two revisions, measures the subject in both, and passes the results to the
// function show. The argument partial of show says why there are fewer results than planned, or is
// empty. Measure returns a *FailedError if a process failed twice or if its record could not be
// kept. It returns ErrInterrupted if ctx ended before anything was measured. Otherwise it returns
// the error of show, or the reason why nothing could be measured.
func (r *Revisions) Measure(ctx context.Context, show func(sides Sides, partial string) error) (err error) {
	m := &measurement{Measuring: &r.Measuring}
	if m.repo, err = OpenRepository(ctx); err != nil {
		return err
	}
	for i, name := range [2]string{r.From, r.To} {
		if m.revs[i], err = m.repo.Resolve(ctx, name); err != nil {
			return err
		}
	}
	return m.measure(ctx, [2]string{m.revs[0].String(), m.revs[1].String()}, show, func() error {
		dir, remove, err := r.programDir()
		if err != nil {
			return err
		}
		m.dir = dir
		return errors.Join(r.Subject.measure(ctx, m), remove())
	})
}

// measure calls run, which measures, and passes the results of the sides with the given names to the function show.
func (m *measurement) measure(ctx context.Context, names [2]string, show func(sides Sides, partial string) error, run func() error) (err error) {
	m.keep = func(*record.Record) error { return nil }
	if m.Out != "" {
		out, openErr := openLate(m.Out)
		if openErr != nil {
			return fmt.Errorf("out: %w", openErr)
		}
		defer func() { err = errors.Join(err, out.close()) }()
		m.keep = out.write
	}
	err = run()
	switch {
	case ctx.Err() != nil && len(m.recs) == 0:
		return ErrInterrupted
	case err != nil && !errors.Is(err, context.Canceled):
		return err
	}
	sides, err := Split("session", m.recs)
	if err != nil {
		return errors.Join(m.failed, err)
	}
	sides.Old.Name, sides.New.Name, sides.Pair = names[0], names[1], m.pair
	partial := ""
	switch {
	case m.failed != nil:
		partial = m.failed.Error()
	case ctx.Err() != nil:
		partial = fmt.Sprintf("interrupted: %s measured", format.Plural(len(m.recs), "process"))
		if len(m.recs) < m.planned {
			partial = fmt.Sprintf("interrupted: %d of %d processes measured", len(m.recs), m.planned)
		}
	}
	err = show(sides, partial)
	return cmp.Or(m.failed, err)
}

// lateFile is a file that is overwritten only when the first record comes.
type lateFile struct {
	*os.File
	begun, made bool
}

func openLate(path string) (*lateFile, error) {
	_, missing := os.Stat(path)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o666)
	return &lateFile{File: file, made: missing != nil}, err
}

func (f *lateFile) write(rec *record.Record) error {
	if !f.begun {
		if err := f.Truncate(0); err != nil && f.isRegular() {
			return err
		}
		f.begun = true
	}
	return record.Write(f.File, rec)
}

// isRegular reports whether the file is not a pipe or a device, which cannot be truncated.
func (f *lateFile) isRegular() bool {
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular()
}

func (f *lateFile) close() error {
	err := f.Close()
	if f.made && !f.begun {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

// measured is a case to measure in a session.
type measured struct {
	caption string
	run     func(ctx context.Context, side stat.Side) *record.Record // as Session.Run
}

// sessions measures the cases one after the other until ctx ends. If there is a gate, it then goes on
// with those that are not decided, which share the time that is left of the budget. If a process fails
// twice, its case ends and the others continue.
func (m *measurement) sessions(ctx context.Context, cases []measured) {
	end := time.Now().Add(m.Budget)
	m.planned += processes * m.Blocks * len(cases)
	all := make([]*judged, len(cases))
	for i, c := range cases {
		name := fmt.Sprintf("%d/%d", i+1, len(cases))
		all[i] = &judged{
			Session: Session{Run: c.run, Each: m.keep},
			Judging: Judging{Blocks: m.Blocks, Log: func(text string) { fmt.Fprintf(m.Log, "%s: %s\n", name, text) }, pair: m.pair},
		}
		if ctx.Err() == nil {
			fmt.Fprintf(m.Log, "%s: %d processes of %s\n", name, processes*m.Blocks, c.caption)
			if m.Gate == nil {
				all[i].grow(ctx, m.Blocks, end)
			} else {
				all[i].Gate = *m.Gate
				all[i].begin(ctx, end, len(cases)-1-i)
			}
		}
	}
	for {
		open := slices.DeleteFunc(slices.Clone(all), (*judged).done)
		if len(open) == 0 || ctx.Err() != nil || !time.Now().Before(end) {
			break
		}
		for i, s := range open {
			s.goOn(ctx, time.Now().Add(time.Until(end)/time.Duration(len(open)-i)))
		}
	}
	for _, s := range all {
		m.recs = append(m.recs, s.recs...)
		m.planned += max(0, len(s.recs)-processes*m.Blocks)
		if ctx.Err() != nil {
			continue
		}
		m.failed = cmp.Or(m.failed, s.err)
		if once := s.Session.failed; m.failed == nil && once != nil {
			m.failed = &FailedError{Record: once, Once: true}
		}
	}
}

// programDir returns the directory for the built programs and a function that removes it, unless
// the programs are to be kept.
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
