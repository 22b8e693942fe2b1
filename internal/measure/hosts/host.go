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
	// DefaultWait is the default time to wait for a host after the connection to it was lost. It is
	// long enough for a machine to restart.
	DefaultWait = 10 * time.Minute
	// The pauses between attempts to reconnect: each is twice the one before, up to the longest.
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
	// mostLosses is after how many losses during one case its host is given up: the case may be the cause.
	mostLosses = 3
)

// Copied is the message that Host.Measure reports when it has copied the program to a host that did
// not have it.
const Copied = "the program is copied"

// Host is another machine that runs cases, one at a time.
type Host struct {
	Name    string
	Program *Program
	Wait    time.Duration // how long to wait for it after its connection was lost

	known *record.Env // its machine and build; nil: not known
	link  *link       // nil: not connected
}

// Expect makes Connect and Measure return zkbench.ErrEnv if the host's environment (its machine,
// its settings or the program's build) differs from e.
func (h *Host) Expect(e record.Env) { h.known = &e }

// Connect connects to the host unless it is connected already. It returns the host's environment.
// The result copied reports whether the program had to be copied to the host. If the host cannot
// be used, it returns an *argument.ValueError that says why. It returns zkbench.ErrEnv if the
// host's machine, settings or build have changed, or differ from those given to Expect.
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

// connect does what Connect does, but its error says only why, without the flag.
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
	if err := h.checkKnown(l.env); err != nil {
		l.close()
		return copied, err
	}
	h.link = l
	return copied, nil
}

// checkKnown returns zkbench.ErrEnv if an environment differs from the host's.
func (h *Host) checkKnown(e record.Env) error {
	differs := env.AllDifferences(*h.known, e)
	if len(differs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: host %s has changed: %s; accepted: the same machine, settings and build", zkbench.ErrEnv, h.Name, strings.Join(differs, "; "))
}

// Measure runs a job on the host and returns the job's record. If the connection is lost, nobody
// knows how the job ended. Measure then calls the function say with a message, waits until it can
// connect again, and runs the job once more. If Measure cannot get a record, its error says that
// the host is lost for good, or that ctx has ended. If the host's environment has changed, Measure
// returns zkbench.ErrEnv.
func (h *Host) Measure(ctx context.Context, job measure.Job, say func(text string)) (*record.Record, error) {
	for losses := 1; ; losses++ {
		if err := h.reconnect(ctx, say); err != nil {
			return nil, err
		}
		rec, err := h.link.run(ctx, job)
		if err == nil {
			rec.Env.Host = h.Name
			return rec, h.checkKnown(rec.Env)
		}
		h.Close()
		switch {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case losses == mostLosses:
			return nil, fmt.Errorf("lost %d times while it ran one case: %w", losses, err)
		}
		say(fmt.Sprintf("lost: %v; trying again until %s", err, time.Now().Add(h.Wait).Format(time.TimeOnly)))
	}
}

// reconnect connects to the host if its connection was lost. It tries with growing pauses until
// h.Wait has passed.
func (h *Host) reconnect(ctx context.Context, say func(text string)) error {
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

// Close ends the connection to the host. If a case is running on the host, the case ends, too.
func (h *Host) Close() {
	if h.link != nil {
		h.link.close()
		h.link = nil
	}
}
