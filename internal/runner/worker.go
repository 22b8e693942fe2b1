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

// operation runs the timed operation and turns a panic into an error, as Recover does.
// It needs no closure, so that the loop allocates nothing.
func operation(ctx context.Context, target Target, input any) (output []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			output, err = nil, panicked(v)
		}
	}()
	if output, err = target.Run(ctx, input); err != nil {
		_ = err.Error() // if Error panics, it does so here and not where errors are counted
	}
	return output, err
}

// worker is the state of one goroutine that runs operations. Its shard's lock guards it.
type worker struct {
	*shard
	busy     bool
	ticket   ticket
	since    time.Duration // start of the current operation
	previous time.Duration // latency of the previous operation; negative: none
}

// phase is the warm-up or the window.
type phase struct {
	ctx   context.Context // labelled with the phase's name; cancelled to stop its operations
	ended chan struct{}   // closed when workers need not wait for its tickets any more
}

// work is a worker's goroutine. If an operation ends the goroutine, it has failed and another
// goroutine continues the worker.
func (r *run) work(w *worker) {
	returned := false
	defer func() {
		if !returned {
			end := r.clock()
			w.fail(r.phaseOf(w.ticket), w.ticket, end-w.since, end, panicked(executor.ErrGoexit))
			r.group.Go(func() { r.work(w) })
		}
	}()
	r.loop(w)
	returned = true
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
	// The end of one operation is also the time at which the next ticket is taken, so
	// the clock is read only twice per operation.
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

// operate runs the operation of a ticket that was taken at now, and records it. It returns
// the time at which the operation ended. It returns false if the worker must stop because
// the run has ended.
func (r *run) operate(ph *phase, w *worker, t ticket, now time.Duration, slept bool) (time.Duration, bool) {
	if !w.start(t, now) {
		r.pacer.giveBack(t, r.end())
		return now, false
	}
	var input any
	var built time.Duration
	if len(r.inputs) > 0 {
		input = r.inputs[r.index(t.seq)]
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

// clock returns the time since the run began. It reads only the monotonic clock,
// which takes half as long as time.Now.
func (r *run) clock() time.Duration { return time.Since(r.origin) }

// start counts an operation that begins. It returns false if the run is over.
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
		// In a closed loop this is at most one per worker. In an open loop it is also the
		// queue that the warm-up could not keep up with.
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

// fail counts an operation that returned an error. If the operation was cancelled, it has
// not failed but stays unfinished, and fail returns false.
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

// cancelled reports whether err is due to the end of the operation's context: err says so, or a
// signal killed the program that the operation waited for.
func cancelled(ctx context.Context, err error) bool {
	if ctx.Err() == nil {
		return false
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Cause(ctx)) ||
		ok && !exit.Exited()
}

// ErrorCount says how many operations failed with the same message.
type ErrorCount struct {
	Err    error // the first with this message
	Count  uint64
	Before bool // the probe or the warm-up began these operations, not the window
}

const errorMessages = 16 // distinct messages that are counted separately

var errOthers = errors.New("other errors; only the first messages are counted separately")

// countError adds e to counts. After errorMessages distinct messages, new ones are
// counted as errOthers, separately before the window and in it.
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
