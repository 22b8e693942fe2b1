package compare

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stat"
)

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
