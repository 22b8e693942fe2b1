package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Case is one process that a suite runs: a job, and the number of the repetition.
type Case struct {
	measure.Job `json:"job"`
	Repetition  int           `json:"repetition"`         // from 0
	Host        string        `json:"host,omitempty"`     // runs the case; empty: this machine
	Copy        int           `json:"copy,omitempty"`     // which of several equal processes of a repetition, from 0
	Side        string        `json:"side,omitempty"`     // side of the record's process: a part of a study
	Optional    bool          `json:"optional,omitempty"` // does not fail the list if it needs more memory than there is
	Expected    time.Duration `json:"expected"`           // ns, about how long it takes
}

// Name returns the name of the case. It begins with the name that the case has in records. The side
// and the host follow, if the case has them. All repetitions of a case have the same name.
func (c *Case) Name() string {
	name := c.Workload + "/"
	if c.Stages {
		name += c.Case.String()
	} else {
		name += c.Settings.Named(c.Case).String()
	}
	if c.Side != "" {
		name += " (" + c.Side + ")"
	}
	if c.Host != "" {
		name += " on " + c.Host
	}
	return name
}

// Key returns a text that identifies the process: no other process in the suite's list of cases has
// the same key.
func (c *Case) Key() string {
	kind := jobs.CommandRun
	if c.Stages {
		kind = jobs.CommandStages
	}
	key := fmt.Sprintf("%s %s cpus=%d #%d", kind, c.Name(), c.Procs, c.Repetition+1)
	if c.Copy > 0 {
		key += fmt.Sprintf(" copy %d", c.Copy+1)
	}
	return key
}

// Excuses reports whether the case is optional and its record says that this machine has too little
// memory for it.
func (c *Case) Excuses(r *record.Record) bool { return c.Optional && r.TooLarge() }

// triedAgain is the finding of a case whose first attempt failed.
const triedAgain = "tried again"

// Interleave returns a list that contains each of the given cases several times. The parameter
// repetitions says how often. The list first has all cases once, then all cases a second time, and
// so on, so that drift over time affects all cases alike.
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

// Hosts returns the names of the machines on which the cases run, each once, in the order in which
// they first occur. The name of this machine is the empty string.
func Hosts(cases []Case) (hosts []string) {
	for i := range cases {
		if !slices.Contains(hosts, cases[i].Host) {
			hosts = append(hosts, cases[i].Host)
		}
	}
	return hosts
}

// Run measures a list of cases, each in a process of its own. Suites, studies and all commands that
// measure several cases use it.
type Run struct {
	Cases   []Case
	Journal *Journal                  // stores each record before Ended is called; nil: no journal
	Session string                    // of the records; empty: no session
	Earlier map[string]*record.Record // records that the journal had before, by the case's key
	// Measure runs a case in a process of its own, on its host. It returns an error if the host is lost
	// or ctx has ended.
	Measure func(ctx context.Context, c *Case) (*record.Record, error)
	// Ended is called for each case that has a record. If fresh is false, the record is an earlier
	// run's. Its error ends the suite.
	Ended func(i int, c *Case, r *record.Record, fresh bool) error
	// Begins is called before a case is measured. Begins and Ended are called one at a time.
	Begins func(i int, c *Case)

	Attempts int // how often to try a case that fails; 0: once
	Noise
	// Await waits until the machine is quiet, at most for limit, and returns how long it waited.
	Await func(ctx context.Context, limit time.Duration) time.Duration

	telling sync.Mutex // serializes Begins and Ended
}

// LostError says that hosts were lost, so that some of their cases were not measured.
type LostError struct{ Hosts []LostHost }

// LostHost describes a lost host: how many of its cases have no record (Missing), how many it
// should have run (Planned), and why it was lost (Err).
type LostHost struct {
	Name             string
	Missing, Planned int
	Err              error
}

func (e *LostError) Error() string {
	texts := make([]string, len(e.Hosts))
	for i, h := range e.Hosts {
		texts[i] = fmt.Sprintf("%s: %d of %s missing: %v", where(h.Name), h.Missing, format.Plural(h.Planned, "process"), h.Err)
	}
	return strings.Join(texts, "; ")
}

// where returns the name of a host in messages.
func where(host string) string {
	if host == "" {
		return "this machine"
	}
	return "host " + host
}

// Unwrap returns ErrInterrupted, because a suite whose hosts are lost can be resumed.
func (e *LostError) Unwrap() error { return ErrInterrupted }

// All runs the cases that have no record in r.Earlier. Cases of the same host run one after the
// other, and different hosts run at the same time. If a case fails, All tries it again. If r.Again
// is set, All also tries a case again that was disturbed by other programs. No case runs more than
// r.Attempts times (once if r.Attempts is 0). If every attempt fails, the case's record says that
// the case failed.
//
// When ctx ends, All returns the cause. If there is a journal, the cases that were running at that
// time have no record, so that they can be run again. If there is no journal, each of them has a
// record of what was measured until then. If a host is lost, the other hosts continue to their end,
// and All then returns a *LostError.
func (r *Run) All(ctx context.Context) error {
	for i := range r.Cases {
		c := &r.Cases[i]
		if rec := r.Earlier[c.Key()]; rec != nil {
			if err := r.Ended(i, c, rec, false); err != nil {
				return err
			}
		}
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	hosts := Hosts(r.Cases)
	lost, errs := make([]*LostHost, len(hosts)), make([]error, len(hosts))
	var wg sync.WaitGroup
	for i, host := range hosts {
		wg.Go(func() {
			if lost[i], errs[i] = r.runHost(running, host); errs[i] != nil {
				stop() // records of others cannot be kept either
			}
		})
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	all := &LostError{}
	for _, h := range lost {
		if h != nil {
			all.Hosts = append(all.Hosts, *h)
		}
	}
	if len(all.Hosts) > 0 {
		return all
	}
	return nil
}

// runHost runs the cases of a host until ctx ends or the host is lost. Its error ends the suite.
func (r *Run) runHost(ctx context.Context, host string) (*LostHost, error) {
	planned, missing := 0, 0
	for i := range r.Cases {
		if c := &r.Cases[i]; c.Host == host {
			planned++
			if r.Earlier[c.Key()] == nil {
				missing++
			}
		}
	}
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Host != host || r.Earlier[c.Key()] != nil {
			continue
		}
		rec, err := r.measureCase(ctx, i, c)
		switch {
		case err != nil:
			return &LostHost{host, missing, planned, err}, nil
		case rec == nil:
			return nil, nil
		}
		if r.Journal != nil {
			if err := r.Journal.Put(c.Key(), rec); err != nil {
				return nil, fmt.Errorf("%s is not stored: %w", c.Name(), err) // it is measured again when the suite resumes
			}
		}
		missing--
		r.telling.Lock()
		err = r.Ended(i, c, rec, true)
		r.telling.Unlock()
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// measureCase measures a case. It returns nil if ctx ended first, and an error if the host is lost.
func (r *Run) measureCase(ctx context.Context, i int, c *Case) (*record.Record, error) {
	var rec *record.Record
	attempts := max(1, r.Attempts)
	for n := range attempts {
		if r.QuietWait > 0 && r.Await != nil {
			r.QuietWait -= r.Await(ctx, r.QuietWait)
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		first := rec
		r.telling.Lock()
		r.Begins(i, c)
		r.telling.Unlock()
		got, err := r.Measure(ctx, c)
		switch {
		case ctx.Err() != nil && (err != nil || r.Journal != nil && got.Status != record.OK):
			return nil, nil
		case err != nil:
			return nil, err
		}
		rec = got
		if r.Session != "" {
			rec.Process = record.Process{Session: r.Session, Side: c.Side, Index: c.Repetition}
		}
		if first != nil && first.Status == record.OK && rec.Status != record.OK {
			rec = first
			break
		}
		if r.Again && n+1 < attempts && rec.Status == record.OK && rec.Found(record.Disturbed) {
			text := record.Disturbance([]*record.Record{rec})
			defer func() { rec.Findings = append(rec.Findings, record.Finding{Name: "measured again", Text: text}) }()
			continue
		}
		// A case that was stopped at its deadline would be stopped again, and one that is too large is too large again.
		if rec.Status != record.Failed || rec.Refused() || c.Excuses(rec) {
			break
		}
		if n+1 < attempts {
			first := rec.Error
			defer func() { rec.Findings = append(rec.Findings, record.Finding{Name: triedAgain, Text: first}) }()
		}
	}
	return rec, nil
}
