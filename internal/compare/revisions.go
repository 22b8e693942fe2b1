package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
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
	// If Gate is not nil, blocks are added to sessions with underpowered rows (Row.Blind) until
	// no such row is left or Budget has passed since the first process.
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

// sessions measures the cases one after the other until ctx ends, and then adds blocks to those
// that are too uncertain for the gate. If a process fails twice, its case ends and the others
// continue.
func (m *measurement) sessions(ctx context.Context, cases []measured) {
	begin := time.Now()
	m.planned += processes * m.Blocks * len(cases)
	all := make([]caseSession, len(cases))
	for i, c := range cases {
		s := &all[i]
		s.Run, s.Each = c.run, m.keep
		if ctx.Err() == nil {
			fmt.Fprintf(m.Log, "%d/%d: %d processes of %s\n", i+1, len(cases), processes*m.Blocks, c.caption)
			s.add(ctx, m.Blocks)
		}
	}
	for again := m.Gate != nil && m.Gate.Limit > 0; again; {
		again = false
		for i := range all {
			s := &all[i]
			if s.failed != nil || ctx.Err() != nil || time.Since(begin) > m.Budget {
				continue
			}
			more := moreBlocks(s.recs, *m.Gate, m.pair)
			if more == 0 {
				continue
			}
			fmt.Fprintf(m.Log, "%d/%d: %d more processes of %s, which could not have seen %s\n", i+1, len(cases), processes*more, cases[i].caption, m.Gate.Percent())
			for range more {
				if time.Since(begin) <= m.Budget {
					s.add(ctx, 1)
				}
			}
			again = true
		}
	}
	for i := range all {
		m.recs = append(m.recs, all[i].recs...)
		m.failed = cmp.Or(m.failed, all[i].failed)
		if once := all[i].Session.failed; m.failed == nil && once != nil && ctx.Err() == nil {
			m.failed = &FailedError{Record: once, Once: true}
		}
	}
}

// caseSession is the session of a case, with its results so far.
type caseSession struct {
	Session
	recs   []*record.Record
	failed error // a *FailedError
}

// add measures further blocks, unless a process has failed.
func (s *caseSession) add(ctx context.Context, blocks int) {
	if s.failed != nil {
		return
	}
	recs, err := s.Measure(ctx, blocks)
	s.recs = append(s.recs, recs...)
	if ctx.Err() == nil {
		s.failed = err
	}
}

// MoreBlocks estimates how many more blocks (see Session) a session needs until the gate can
// judge every row. It assumes that the width of a confidence interval is inversely proportional
// to the square root of the number of blocks. The result is an even number. It is at most the
// number of complete blocks that the session already has, rounded up to an even number. It is 0
// if no more blocks are needed or if the records cannot be compared.
func MoreBlocks(session []*record.Record, gate Gate) int { return moreBlocks(session, gate, nil) }

func moreBlocks(session []*record.Record, gate Gate, pair *Pair) int {
	sides, err := Split("session", session)
	if err != nil || sides.Old == nil || sides.New == nil {
		return 0
	}
	sides.Pair = pair
	table, err := Compare(sides, true)
	if err != nil {
		return 0
	}
	has := func(metric string) bool {
		return slices.ContainsFunc(table.Rows, func(r Row) bool { return r.Metric == metric })
	}
	gate.Metrics = slices.DeleteFunc(slices.Clone(gate.Metrics), func(m string) bool { return !has(m) }) // those of other cases
	outcome, err := gate.Apply(table)
	if err != nil || len(outcome.Blind) == 0 {
		return 0
	}
	need, have := 0.0, float64(len(session)/processes)
	for _, row := range outcome.Blind {
		wider := math.Log1p(row.Detectable(row.Floor)) / math.Log1p(gate.Limit)
		need = max(need, have*(wider*wider-1))
	}
	return 2 * int(math.Ceil(min(max(need, 1), have)/2))
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
