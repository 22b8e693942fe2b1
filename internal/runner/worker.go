package runner

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime/pprof"
	"slices"
	"time"

	"github.com/zkbench/zkbench/executor"
)

// operation is Recover around the timed operation, without a closure, so that the
// loop allocates nothing.
func operation(ctx context.Context, target Target, input any) (output []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			output, err = nil, panicked(v)
		}
	}()
	if output, err = target.Run(ctx, input); err != nil {
		_ = err.Error() // one that panics does so here, not where it is counted
	}
	return output, err
}

// worker is one goroutine that runs operations. Its shard's lock guards it.
type worker struct {
	*shard
	busy     bool
	ticket   ticket
	since    time.Duration // start of the operation that runs
	previous time.Duration // latency of the one before; negative: none
}

// phase is the warm-up or the window.
type phase struct {
	ctx   context.Context // labelled with its name; ends when operations are to be given up
	ended chan struct{}   // closed when no ticket of it is to be waited for
}

// work is a worker's goroutine. An operation that ends it has failed, and another goroutine
// takes its place.
func (r *run) work(w *worker) {
	home := false
	defer func() {
		if !home {
			end := r.clock()
			w.fail(r.phaseOf(w.ticket), w.ticket, end-w.since, end, panicked(executor.ErrGoexit))
			r.group.Go(func() { r.work(w) })
		}
	}()
	r.loop(w)
	home = true
}

// loop runs operations until no ticket is left.
func (r *run) loop(w *worker) {
	if r.spins {
		sharpen()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	<-timer.C
	var current *phase
	// The end of one operation is the moment at which the next one is asked for:
	// the clock is read twice an operation.
	now := r.clock()
	for {
		t, ok := r.pacer.take(now)
		if !ok {
			return
		}
		ph := r.phaseOf(t)
		if ph != current { // once a phase
			pprof.SetGoroutineLabels(ph.ctx)
			current = ph
		}
		slept := t.intended > now
		if slept {
			if now, ok = r.await(w, ph, t, timer, now); !ok {
				r.pacer.giveBack(t, r.end())
				continue
			}
		}
		if now, ok = r.operate(ph, w, t, now, slept); !ok {
			return
		}
	}
}

// operate runs the operation of a ticket, taken now, and records it. It returns
// when the operation ended, and false when the worker is to go home: operations
// are given up.
func (r *run) operate(ph *phase, w *worker, t ticket, now time.Duration, slept bool) (time.Duration, bool) {
	if !w.start(t, now) {
		r.pacer.giveBack(t, r.end())
		return now, false
	}
	var input any
	var built time.Duration
	if n := uint64(len(r.inputs)); n > 0 {
		input = r.inputs[t.seq%n]
	} else {
		var err error
		if input, err = Recover(func() (any, error) { return r.target.Input(ph.ctx, t.seq) }); err != nil {
			end := r.clock()
			return end, w.fail(ph, t, end-now, end, fmt.Errorf("input: %w", err))
		}
		built = r.clock() - now
	}
	begin := r.clock()
	output, err := operation(ph.ctx, r.target, input)
	end := r.clock()
	if err != nil {
		return end, w.fail(ph, t, end-begin, end, err)
	}
	w.succeed(r, t, begin, end, built, slept, output)
	return end, true
}

// clock is the time since the run began. It reads the monotonic clock alone,
// which costs half of time.Now.
func (r *run) clock() time.Duration { return time.Since(r.origin) }

// start counts an operation that begins, unless the run is over.
func (w *worker) start(t ticket, at time.Duration) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if !t.inWarmup() {
		w.started++
	}
	w.busy, w.ticket, w.since = true, t, at
	return true
}

func (w *worker) succeed(r *run, t ticket, begin, end, built time.Duration, slept bool, output []byte) {
	latency := end - begin
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.busy = false
	w.resultSize = max(w.resultSize, len(output))
	if t.inWarmup() {
		w.warmed++
		w.warmTime += latency
		// One a worker at most in a closed loop; in an open one, a queue that the warm-up
		// could not keep up with.
		if opened := r.opened(); end > opened {
			w.outlasted++
			w.edge += float64(min(end-opened, latency)) / float64(latency)
			if end <= r.end() {
				w.carried++
				w.tallies.done++
			}
		}
		w.warm.keep(t.seq, output)
		return
	}
	w.done++
	if end > r.end() {
		w.late++
	} else {
		w.tallies.done++
	}
	w.last = max(w.last, end)
	w.tallies.latency.add(latency)
	if w.tallies.response != nil {
		w.tallies.response.add(end - t.intended)
		w.tallies.wait.add(begin - t.intended)
		if slept {
			w.slept++
			w.oversleep += begin - t.intended
		}
	}
	if w.input != nil {
		w.input.add(built)
	}
	if r.cfg.Class != nil {
		w.classes[r.cfg.Class(t.seq)].add(latency)
	}
	w.moments.add(float64(latency))
	if w.previous >= 0 {
		w.jitter += float64((latency - w.previous).Abs())
		w.changes++
	}
	w.previous = latency
	w.slots.add(end-r.opened(), latency)
	w.kept.keep(t.seq, output)
}

// fail counts an operation that returned an error. One that was cancelled has
// not failed: it stays among those that are unfinished, and fail returns false.
func (w *worker) fail(ph *phase, t ticket, latency, end time.Duration, err error) bool {
	if cancelled(ph.ctx, err) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.busy = false
	if t.inWarmup() {
		w.warmed++
		w.warmFailed++
		w.errors = countError(w.errors, ErrorCount{Err: err, Count: 1, Before: true})
		return true
	}
	w.failed++
	w.tallies.failed++
	w.last = max(w.last, end)
	w.errors = countError(w.errors, ErrorCount{Err: err, Count: 1})
	w.failures.add(latency)
	return true
}

// cancelled tells whether err is due to the end of the operation's context: it says so, or a
// program was killed that the operation waited for.
func cancelled(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Cause(ctx)) ||
		ok && !exit.Exited()
}

// ErrorCount is an error and how often its message was seen.
type ErrorCount struct {
	Err    error
	Count  uint64
	Before bool // of operations that the probe or the warm-up began
}

const errorMessages = 16 // distinct errors that are counted apart

var errOthers = errors.New("other errors, of more messages than are counted apart")

// countError adds e to counts. Beyond errorMessages distinct messages the rest
// is counted as others, those before the window apart.
func countError(counts []ErrorCount, e ErrorCount) []ErrorCount {
	same := func(text string) func(c ErrorCount) bool {
		return func(c ErrorCount) bool { return c.Before == e.Before && c.Err.Error() == text }
	}
	i := slices.IndexFunc(counts, same(e.Err.Error()))
	if i < 0 && len(counts) >= errorMessages {
		e.Err = errOthers
		i = slices.IndexFunc(counts, same(errOthers.Error()))
	}
	if i < 0 {
		return append(counts, e)
	}
	counts[i].Count += e.Count
	return counts
}
