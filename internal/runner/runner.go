// Package runner is the load runner: a fixed number of workers run one
// operation as fast as they can for a fixed time (a closed loop), and what they
// saw comes back as figures.
//
// It knows nothing of what it runs. Inputs come from a corpus indexed by the
// operation's sequence number; results are kept and checked after the window,
// so that checking costs no operation its time. Operations that still run when
// the window closes are counted, not waited for: their goroutines are left
// behind and touch nothing that the result is made of.
package runner

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/meter"
)

// Target is what a run measures. Its methods are called from many goroutines.
type Target interface {
	// Input builds the input of operation seq. It must depend on seq and the
	// target's seed only.
	Input(ctx context.Context, seq uint64) (any, error)
	// Run is the timed operation.
	Run(ctx context.Context, input any) (any, error)
	// Check tells whether output is a right result of Run for input.
	Check(ctx context.Context, input, output any) error
}

// Config says how to run.
type Config struct {
	Workers  int           // operations in flight, 1 to MaxWorkers
	Duration time.Duration // length of the window

	// The warm-up lasts until both have been reached, and ends before the
	// window opens.
	Warmup    time.Duration
	WarmupOps int

	// Samples is the number of inputs built before the run; operation seq gets
	// input seq mod Samples. With 0 each operation builds its own input, timed
	// apart from the operation. At most MaxSamples.
	Samples int

	// Keep bounds the results that are kept for the check, in equal shares per
	// worker: all that a worker has up to its share, beyond that a uniform sample
	// of it, seeded. At most MaxKeep; 0 keeps none.
	Keep int
	Seed uint64

	// Grace is how long operations that run when the window closes may take to
	// end; they count as done then. Afterwards their context is cancelled and
	// they count as unfinished.
	Grace time.Duration

	// Observe, where set, is called right before the window opens; what it
	// returns is called when the window has closed.
	Observe func() (stop func() error, err error)
}

// Bounds of the configuration.
const (
	MaxWorkers = 1 << 10 // a worker's histogram takes 300 kB
	MaxSamples = 1 << 20
	MaxKeep    = 1 << 24
)

// abandon is the time between the cancelling of the operations' context and the
// moment when those that have not returned are left behind.
const abandon = 50 * time.Millisecond

func (c *Config) validate() error {
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("%w: workers: %d, 1 to %d accepted", zkbench.ErrParams, c.Workers, MaxWorkers)
	case c.Duration <= 0:
		return fmt.Errorf("%w: duration: %v, more than 0s accepted", zkbench.ErrParams, c.Duration)
	case c.Warmup < 0 || c.WarmupOps < 0:
		return fmt.Errorf("%w: warm-up: %v and %d operations, nothing negative accepted", zkbench.ErrParams, c.Warmup, c.WarmupOps)
	case c.Samples < 0 || c.Samples > MaxSamples:
		return fmt.Errorf("%w: samples: %d, 0 to %d accepted", zkbench.ErrParams, c.Samples, MaxSamples)
	case c.Keep < 0 || c.Keep > MaxKeep:
		return fmt.Errorf("%w: results kept: %d, 0 to %d accepted", zkbench.ErrParams, c.Keep, MaxKeep)
	case c.Grace < 0:
		return fmt.Errorf("%w: grace: %v, nothing negative accepted", zkbench.ErrParams, c.Grace)
	}
	return nil
}

// Result is what a run saw. Started = Done + Failed + Unfinished.
type Result struct {
	Workers                           int
	Warmup                            uint64 // operations before the window
	Started, Done, Failed, Unfinished uint64
	Elapsed                           time.Duration // from the first start to the end of the last counted operation

	Latency *hdrhistogram.Histogram // ns, successful operations
	Input   *hdrhistogram.Histogram // ns, inputs built during the window
	Mean    float64                 // ns, exact, as are StdDev and Jitter
	StdDev  float64                 // ns
	Jitter  float64                 // ns, mean |change| between consecutive operations of a worker

	Errors      []ErrorCount // most frequent first
	Usage       meter.Usage
	Checked     uint64
	CheckFailed uint64
	CheckErr    error // the first check that failed
	Interrupted bool  // the caller's context ended before the run did
}

// Run builds the inputs, warms up, measures for cfg.Duration and checks the
// results. When ctx ends, Run returns what was measured so far with Interrupted
// set. The error is for a run that could not begin: a bad configuration, or an
// input that could not be built.
func Run(ctx context.Context, cfg Config, target Target) (*Result, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	inputs := make([]any, cfg.Samples)
	for i := range inputs {
		if ctx.Err() != nil {
			return emptyResult(&cfg), nil
		}
		input, err := call(func() (any, error) { return target.Input(ctx, uint64(i)) })
		if err != nil {
			if ctx.Err() != nil {
				return emptyResult(&cfg), nil
			}
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		inputs[i] = input
	}

	load := &load{cfg: &cfg, target: target, inputs: inputs}
	var warmed uint64
	if cfg.Warmup > 0 || cfg.WarmupOps > 0 {
		// An operation of the warm-up would disturb the window, so all of them
		// are waited for.
		warmup := load.prepare(phase{duration: cfg.Warmup, ops: uint64(cfg.WarmupOps), grace: math.MaxInt64})
		warmup.run(ctx)
		warmed = warmup.collect(&cfg).Done
	}
	if ctx.Err() != nil {
		r := emptyResult(&cfg)
		r.Warmup = warmed
		return r, nil
	}

	window := load.prepare(phase{duration: cfg.Duration, keep: cfg.Keep, grace: cfg.Grace})
	stop := func() error { return nil }
	if cfg.Observe != nil {
		var err error
		if stop, err = cfg.Observe(); err != nil {
			return nil, fmt.Errorf("observe the window: %w", err)
		}
	}
	m := meter.Start()
	window.run(ctx)
	usage := m.Stop()
	usage.Goroutines -= min(usage.Goroutines, uint64(cfg.Workers)+1) // the workers and the one that waits for them
	if err := stop(); err != nil {
		return nil, fmt.Errorf("observe the window: %w", err)
	}

	r := window.collect(&cfg)
	r.Warmup, r.Usage = warmed, usage
	window.check(ctx, r)
	r.Interrupted = ctx.Err() != nil
	return r, nil
}

func emptyResult(cfg *Config) *Result {
	return &Result{Workers: cfg.Workers, Latency: newHistogram(), Input: newHistogram(), Interrupted: true}
}

// load is what the phases of one run share.
type load struct {
	cfg    *Config
	target Target
	inputs []any
}

// phase is the warm-up or the window. It ends when duration has passed and ops
// operations have ended.
type phase struct {
	duration time.Duration
	ops      uint64
	keep     int
	grace    time.Duration
}

// running is a phase with its workers.
type running struct {
	*load
	phase
	workers []*worker
	seq     atomic.Uint64 // next sequence number
	ended   atomic.Uint64 // operations that ended, well or not
	stop    atomic.Bool   // no further operation starts
	begin   time.Time
	elapsed time.Duration
}

// prepare allocates all that the phase's workers write to.
func (l *load) prepare(p phase) *running {
	r := &running{load: l, phase: p, workers: make([]*worker, l.cfg.Workers)}
	share := (p.keep + l.cfg.Workers - 1) / l.cfg.Workers
	for i := range r.workers {
		r.workers[i] = newWorker(share, l.cfg.Samples == 0, l.cfg.Seed, uint64(i))
	}
	return r
}

// run starts the workers and returns when all have ended or were abandoned.
func (r *running) run(ctx context.Context) {
	ops, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	done := make(chan struct{})
	enough := make(chan struct{})
	var once sync.Once

	r.begin = time.Now()
	for _, w := range r.workers {
		wg.Go(func() {
			for !r.stop.Load() && ops.Err() == nil {
				r.operate(ops, w)
				if r.ended.Add(1) >= r.ops {
					once.Do(func() { close(enough) })
				}
			}
		})
	}
	go func() { wg.Wait(); close(done) }()

	timer := time.NewTimer(r.duration)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
		if r.ops > 0 {
			select {
			case <-enough:
			case <-ctx.Done():
			}
		}
	}
	r.stop.Store(true)

	if ctx.Err() == nil {
		wait(ctx, done, r.grace)
	}
	cancel()
	wait(context.Background(), done, abandon)
	r.close()
}

// wait returns when done is closed, ctx ends or d has passed.
func wait(ctx context.Context, done <-chan struct{}, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-ctx.Done():
	case <-timer.C:
	}
}
