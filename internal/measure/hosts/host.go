package hosts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
)

const (
	// DefaultWait is how long a host that was lost is waited for: a machine that is started
	// anew is there again.
	DefaultWait = 10 * time.Minute
	// The pauses between the attempts to reach it: each twice the one before.
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
	// mostLosses of one case end its host: it may be the case that takes it away.
	mostLosses = 3
)

// Copied says that a host did not have the program.
const Copied = "the program is copied"

// Host is a machine that runs cases, one at a time.
type Host struct {
	Name    string
	Program *Program
	Wait    time.Duration // for which it is waited for when it was lost

	known *record.Env // what it is; nil: not known
	link  *link       // nil: none
}

// Expect has the host refused where its machine or build differs from that of before.
func (h *Host) Expect(e record.Env) { h.known = &e }

// Connect connects to the host where it is not connected, and returns what it is, and whether
// the program had to be copied there. The error is a *argument.ValueError of its name that says why,
// or an ErrEnv where it is another machine or build than it was.
func (h *Host) Connect(ctx context.Context) (e record.Env, copied bool, err error) {
	copied, err = h.connect(ctx)
	switch {
	case err == nil:
		return h.link.env, copied, nil
	case errors.Is(err, zkbench.ErrEnv) || ctx.Err() != nil:
		return e, copied, err
	}
	return e, copied, refused(h.Name, err.Error())
}

// connect is Connect with an error that says why alone.
func (h *Host) connect(ctx context.Context) (copied bool, err error) {
	if h.link != nil {
		return false, nil
	}
	l, copied, err := dial(ctx, h.Name, h.Program)
	if err != nil {
		return copied, err
	}
	l.env.Host = h.Name
	if h.known == nil {
		h.known = &l.env
	}
	if err := h.isKnown(l.env); err != nil {
		l.close()
		return copied, err
	}
	h.link = l
	return copied, nil
}

// isKnown returns an ErrEnv where an environment is not the host's.
func (h *Host) isKnown(e record.Env) error {
	differs := env.AllDifferences(*h.known, e)
	if len(differs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: host %s is not what it was: %s; accepted: its machine, settings and build", zkbench.ErrEnv, h.Name, strings.Join(differs, "; "))
}

// Measure runs a job on the host and returns its record. Where the connection is lost, the
// host is waited for and the job run again, since nobody knows what has come of it; say hears of
// that. The error is that the host is lost for good, or that ctx has ended.
func (h *Host) Measure(ctx context.Context, job measure.Job, say func(text string)) (*record.Record, error) {
	for losses := 1; ; losses++ {
		if err := h.again(ctx, say); err != nil {
			return nil, err
		}
		rec, err := h.link.run(ctx, job)
		if err == nil {
			rec.Env.Host = h.Name
			return rec, h.isKnown(rec.Env)
		}
		h.Close()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case losses == mostLosses:
			return nil, fmt.Errorf("lost %d times while it ran one case: %w", losses, err)
		}
		say(fmt.Sprintf("lost: %v; tried again until %s", err, time.Now().Add(h.Wait).Format(time.TimeOnly)))
	}
}

// again connects to the host where it was lost, with growing pauses, as long as it is waited
// for.
func (h *Host) again(ctx context.Context, say func(text string)) error {
	until := time.Now().Add(h.Wait)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		copied, err := h.connect(ctx)
		if copied {
			say(Copied)
		}
		switch {
		case err == nil || errors.Is(err, zkbench.ErrEnv) || ctx.Err() != nil:
			return err
		case time.Now().Add(pause).After(until):
			return fmt.Errorf("not back within %v: %w", h.Wait, err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// Close ends the connection, and a case that runs.
func (h *Host) Close() {
	if h.link != nil {
		h.link.close()
		h.link = nil
	}
}
