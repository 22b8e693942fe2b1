package compare

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	mathrand "math/rand/v2"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Session measures one case of two programs in interleaved processes, so that changes of the
// machine affect both programs alike. The order of the processes is that of stat.Schedule. They run
// in blocks of three: the old program, the new one, and the old one again, in an order that is drawn.
type Session struct {
	// Run runs the case in one process of the given side. Errors are in the
	// record.
	Run func(ctx context.Context, side stat.Side) *record.Record
	// Each, if not nil, receives every record as it comes, whatever its status.
	Each func(*record.Record) error
	// Seed is that of the order in which the processes run. If it is 0, it is drawn.
	Seed uint64

	id     string
	next   int            // index of the next process in stat.Schedule
	plan   record.Plan    // zero until one is made
	failed *record.Record // the first process that failed once; nil: none
}

// processes is the number of processes in a block.
const processes = 3

// FailedError says that a process of a session failed, or that its record could not be kept. In the
// first case the error wraps zkbench.ErrEnv. If the same process fails twice, the session ends.
type FailedError struct {
	Record *record.Record
	Once   bool  // the process was run again and succeeded
	Err    error // the error of Each, of a warm-up run, or of counting; nil: the process failed
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

// Measure runs the given number of further blocks and returns the records of the processes that
// succeeded. Each record has the position of its process in the session. If a process fails,
// Measure immediately runs it once more. If that fails too, Measure returns a *FailedError. If ctx
// ends, Measure returns the error of ctx. With either error it also returns the records of the
// processes that had succeeded before.
func (s *Session) Measure(ctx context.Context, blocks int) ([]*record.Record, error) {
	if s.id == "" {
		s.id = rand.Text()
	}
	if s.Seed == 0 {
		s.Seed = mathrand.Uint64()
	}
	var recs []*record.Record
	for _, side := range stat.Schedule(s.next/processes+blocks, s.Seed)[s.next:] {
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

// process runs the next process, unless ctx has ended, and passes its record to Each.
func (s *Session) process(ctx context.Context, side stat.Side) (*record.Record, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	rec := s.Run(ctx, side)
	rec.Process = record.Process{Session: s.id, Side: string(side), Index: s.next / processes, Plan: s.plan}
	if s.Each != nil {
		if err := s.Each(rec); err != nil {
			return nil, &FailedError{Record: rec, Err: err}
		}
	}
	return rec, nil
}
