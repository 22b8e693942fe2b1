package compare

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Session measures one case of two programs in processes that take turns, so
// that what the machine does meanwhile happens to both, in the blocks of stat.Schedule:
// an old, a new and another old process each.
type Session struct {
	// Run runs the case in one process of that side. What goes wrong is in the
	// record.
	Run func(ctx context.Context, side stat.Side) *record.Record
	// Each, if not nil, gets every record as it comes, whatever its status.
	Each func(*record.Record) error

	id     string
	next   int            // process in the order of stat.Schedule
	failed *record.Record // the first process that failed once; nil: none
}

// processes are those of a block.
const processes = 3

// FailedError says that a process of a session failed, which is a zkbench.ErrEnv, or that its
// record was not kept. A session ends where one fails twice.
type FailedError struct {
	Record *record.Record
	Once   bool  // it was run again, and ended well
	Err    error // of Each, of a run that does not count, or of counting; nil: the process failed
}

func (e *FailedError) Error() string {
	if e.Err != nil {
		return e.Err.Error()
	}
	r, times := e.Record, "twice"
	if e.Once {
		times = "and was run again"
	}
	return fmt.Sprintf("%v: process %s[%d] of %s %s %s: %s",
		zkbench.ErrEnv, r.Process.Side, r.Process.Index, r.Name(), r.Status, times, r.Error)
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
			if s.failed == nil {
				s.failed = rec
			}
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
			return nil, &FailedError{Record: rec, Err: err}
		}
	}
	return rec, nil
}
