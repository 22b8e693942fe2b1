package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
)

// Case is one process of a suite: a case and which of its repetitions.
type Case struct {
	Job        measure.Job   `json:"job"`
	Repetition int           `json:"repetition"`
	Expected   time.Duration `json:"expected"` // ns, about how long it takes
}

// Name is the case's, as records have it, without its repetition.
func (c *Case) Name() string {
	if c.Job.Stages {
		return c.Job.Workload + "/" + c.Job.Case.String()
	}
	return c.Job.Workload + "/" + c.Job.Settings.Named(c.Job.Case).String()
}

// Key names the process within its suite.
func (c *Case) Key() string {
	kind := jobs.CommandRun
	if c.Job.Stages {
		kind = jobs.CommandStages
	}
	return fmt.Sprintf("%s %s cpus=%d #%d", kind, c.Name(), c.Job.Procs, c.Repetition+1)
}

// Interleave returns each case repeated: all once, then all again, so that what drifts with
// time falls on every case alike.
func Interleave(cases []Case, repetitions int) []Case {
	all := make([]Case, 0, len(cases)*repetitions)
	for i := range repetitions {
		for _, c := range cases {
			c.Repetition = i
			all = append(all, c)
		}
	}
	return all
}

// Run is a suite on its way.
type Run struct {
	Cases   []Case
	Journal *Journal
	Session string
	Earlier map[string]*record.Record // what the journal had before, by the case's key
	// Measure runs a case in a process of its own.
	Measure func(ctx context.Context, job measure.Job) *record.Record
	// Ended hears of each case that has a record, of this run or one before; fresh tells
	// which. Its error ends the suite.
	Ended func(i int, c *Case, r *record.Record, fresh bool) error
	// Begins hears of each case that is measured.
	Begins func(i int, c *Case)

	Noise
	// Await waits until the machine is quiet, at most so long, and tells for how long.
	Await func(ctx context.Context, limit time.Duration) time.Duration
}

// attempts are the processes that a case has to succeed in.
const attempts = 2

// All runs the cases that have no earlier record. A case that fails, or that was disturbed
// and Again says so, is tried once more; what fails again is recorded as failed. When ctx ends, the case that runs leaves
// no record, so that it is run again.
func (r *Run) All(ctx context.Context) error {
	for i := range r.Cases {
		c := &r.Cases[i]
		rec := r.Earlier[c.Key()]
		fresh := rec == nil
		if fresh {
			if rec = r.one(ctx, i, c); rec == nil {
				return context.Cause(ctx)
			}
			if err := r.Journal.Put(c.Key(), rec); err != nil {
				return fmt.Errorf("%s is not stored: %w", c.Name(), err) // it is measured again when the suite goes on
			}
		}
		if err := r.Ended(i, c, rec, fresh); err != nil {
			return err
		}
	}
	return nil
}

// one measures a case; nil: ctx ended before it did.
func (r *Run) one(ctx context.Context, i int, c *Case) *record.Record {
	var rec *record.Record
	for n := range attempts {
		if r.QuietWait > 0 && r.Await != nil {
			r.QuietWait -= r.Await(ctx, r.QuietWait)
		}
		if ctx.Err() != nil {
			return nil
		}
		first := rec
		r.Begins(i, c)
		rec = r.Measure(ctx, c.Job)
		if ctx.Err() != nil && rec.Status != record.OK {
			return nil
		}
		rec.Process = record.Process{Session: r.Session, Index: c.Repetition}
		if first != nil && first.Status == record.OK && rec.Status != record.OK {
			rec = first
			break
		}
		if r.Again && n+1 < attempts && rec.Status == record.OK && rec.Found(record.Disturbed) {
			text := record.Disturbance([]*record.Record{rec})
			defer func() { rec.Findings = append(rec.Findings, record.Finding{Name: "measured again", Text: text}) }()
			continue
		}
		// One that was stopped at its deadline would be again.
		if rec.Status != record.Failed || rec.Refused() {
			break
		}
		if n+1 < attempts {
			first := rec.Error
			defer func() { rec.Findings = append(rec.Findings, record.Finding{Name: "tried again", Text: first}) }()
		}
	}
	return rec
}
