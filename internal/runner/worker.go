package runner

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// PanicError is a panic of an operation, made its error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap returns the panic's value where that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// call turns a panic of f into its error.
func call(f func() (any, error)) (result any, err error) {
	defer func() {
		if v := recover(); v != nil {
			result, err = nil, &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return f()
}

const (
	minLatency    = 1                     // ns
	maxLatency    = int64(24 * time.Hour) // ns
	significant   = 3                     // figures, so a value is within 0.1 % of what was recorded
	errorMessages = 16                    // distinct errors counted apart per worker
)

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(minLatency, maxLatency, significant)
}

// worker is what one worker has seen. The mutex is its worker's own until the
// phase closes, so taking it costs nanoseconds; it is there so that an
// operation which outlasts the phase finds the worker closed and writes nothing.
type worker struct {
	mu     sync.Mutex
	closed bool

	started, done, failed uint64
	latency               *hdrhistogram.Histogram
	input                 *hdrhistogram.Histogram // nil where inputs are built before the run
	last                  time.Duration           // from the phase's begin to the end of the last counted operation

	mean, m2   float64 // running mean and sum of squared deviations (Welford)
	previous   time.Duration
	jitter     float64 // sum of |latency - previous|
	transition uint64  // number of its terms

	errors []ErrorCount
	kept   []kept // capacity fixed at the start
	rng    *rand.PCG
}

type kept struct{ input, output any }

func newWorker(keep int, buildsInputs bool, seed, index uint64) *worker {
	w := &worker{
		latency: newHistogram(),
		kept:    make([]kept, 0, keep),
		rng:     rand.NewPCG(seed, index),
	}
	if buildsInputs {
		w.input = newHistogram()
	}
	return w
}

// operate runs one operation and records it.
func (r *running) operate(ctx context.Context, w *worker) {
	seq := r.seq.Add(1) - 1
	if !w.start() {
		return
	}

	var input any
	var built time.Duration
	if len(r.inputs) > 0 {
		input = r.inputs[seq%uint64(len(r.inputs))]
	} else {
		begin := r.clock()
		var err error
		if input, err = call(func() (any, error) { return r.target.Input(ctx, seq) }); err != nil {
			w.fail(ctx, r.clock(), fmt.Errorf("input %d: %w", seq, err))
			return
		}
		built = r.clock() - begin
	}

	begin := r.clock()
	output, err := r.protected(ctx, input)
	end := r.clock()
	if err != nil {
		w.fail(ctx, end, err)
		return
	}
	w.succeed(end, end-begin, built, kept{input, output})
}

// clock is the time since the phase began. It reads the monotonic clock alone,
// which costs half of time.Now.
func (r *running) clock() time.Duration { return time.Since(r.begin) }

// start counts an operation that begins, unless the phase is closed.
func (w *worker) start() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	w.started++
	return true
}

// protected is call without a closure, so that the loop allocates nothing.
func (r *running) protected(ctx context.Context, input any) (output any, err error) {
	defer func() {
		if v := recover(); v != nil {
			output, err = nil, &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return r.target.Run(ctx, input)
}

func (w *worker) succeed(end, latency, built time.Duration, k kept) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.done++
	w.last = end
	tally(w.latency, latency)
	if w.input != nil {
		tally(w.input, built)
	}

	x := float64(latency)
	d := x - w.mean
	w.mean += d / float64(w.done)
	w.m2 += d * (x - w.mean)
	if w.done > 1 {
		w.jitter += float64((latency - w.previous).Abs())
		w.transition++
	}
	w.previous = latency

	// Uniform reservoir: the n-th result takes a place with probability
	// capacity/n, and each place is as likely.
	if len(w.kept) < cap(w.kept) {
		w.kept = append(w.kept, k)
	} else if cap(w.kept) > 0 {
		if i := w.rng.Uint64() % w.done; i < uint64(cap(w.kept)) {
			w.kept[i] = k
		}
	}
}

// fail counts an operation that returned an error. One that was cancelled has
// not failed: it stays among the started ones that nothing else accounts for.
func (w *worker) fail(ctx context.Context, end time.Duration, err error) {
	if ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	w.failed++
	w.last = end
	w.errors = countError(w.errors, ErrorCount{Err: err, Count: 1})
}

// tally clamps to the histogram's range; nothing it sees lasts 24 hours.
func tally(h *hdrhistogram.Histogram, d time.Duration) {
	_ = h.RecordValue(min(max(int64(d), minLatency), maxLatency))
}
