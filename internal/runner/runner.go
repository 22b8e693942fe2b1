// Package runner is the load runner. A pacer hands out tickets, each with a
// sequence number and an intended start; a bounded number of workers run the
// operation that a ticket stands for; what they saw comes back as figures.
//
// In a closed loop a ticket is due when a worker is free: the load is what the
// workers can do. In an open loop a schedule says when tickets are due: the load
// is what users would send, and an operation that starts late because all
// workers were busy has waited. Service time is measured from the actual start,
// response time from the intended one, so that a stall costs all who stood
// behind it (no coordinated omission).
//
// The runner knows nothing of what it runs. Inputs come from a corpus indexed by
// the ticket's sequence number; results are kept and checked after the window,
// so that checking costs no operation its time. Operations that still run when
// the run ends are listed with their age, not waited for: their goroutines are
// left behind and touch nothing that the result is made of.
package runner

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/stage"
)

// Target is what a run measures. Its methods are called from many goroutines.
type Target interface {
	// Input builds the input of operation seq. It must depend on seq and the
	// target's seed only: the check may build it again.
	Input(ctx context.Context, seq uint64) (any, error)
	// Run is the timed operation. Its output may be empty; it is copied before
	// the worker goes on.
	Run(ctx context.Context, input any) (output []byte, err error)
	// Check tells whether output is a right result of Run for input. It keeps
	// neither.
	Check(ctx context.Context, input any, output []byte) error
}

// Config says how to run. Its JSON is how a case is measured, durations in ns: it travels to
// the child processes of other versions too, so that fields are only added and keep their
// meaning.
type Config struct {
	Workers  int           `json:"workers"`            // operations in flight, 1 to MaxWorkers
	Arrivals *Arrivals     `json:"arrivals,omitempty"` // nil: closed loop
	Starts   Starts        `json:"starts,omitempty"`   // open loop: how workers wait
	Queue    int           `json:"queue,omitempty"`    // open loop: tickets that may wait for a worker; 1 to MaxQueue
	Duration time.Duration `json:"duration"`           // length of the window; 0: until Count operations have ended
	Count    uint64        `json:"count,omitempty"`    // tickets of the window at most; 0: no bound
	// Least is the number of operations that must have ended, well or not, before the window
	// closes, however long they take: Duration may be shorter than one. Closed loop.
	Least uint64 `json:"least,omitempty"`
	Warmup

	// Grace is how long operations that run when the window closes may take to
	// end; they count as done then, not for the throughput. Afterwards their
	// context is cancelled and they count as unfinished.
	Grace time.Duration `json:"grace"`

	// Samples is the number of inputs built before the run; operation seq gets
	// input seq mod Samples. With 0 (closed loop only) each operation builds its
	// own input, timed apart from the operation. At most MaxSamples. Inputs that
	// would take more than Available bytes are refused; 0: not known, no bound.
	Samples   int    `json:"samples"`
	Available uint64 `json:"-"`

	Check Check  `json:"check"`
	Arena int64  `json:"arena,omitempty"` // bytes for results that wait for their check; 0: DefaultArena
	Seed  uint64 `json:"seed"`

	// Alone has the allocations of some operations counted one at a time before
	// the warm-up, without collections. That is for operations that run on one
	// goroutine only: the counts then repeat exactly.
	Alone bool `json:"-"`

	// Classes are the kinds of operations of a mix; Class tells the kind of a
	// sequence number as an index into them. Both or neither.
	Classes []string             `json:"-"`
	Class   func(seq uint64) int `json:"-"`

	// FailIf has the window close as soon as a percentile's threshold is passed whatever
	// follows; judging the figures is for those who have the record.
	FailIf []Threshold `json:"fail_if,omitempty"`

	Watch    func(Progress)      `json:"-"` // is called about once a second of the window, by the goroutine that observes it; nil: nobody
	Stages   *stage.Recorder     `json:"-"` // receives the stages of the run; nil: none
	Profiler *resources.Profiler `json:"-"` // its window is opened and closed; nil: none
}

// Warmup precedes the window. It lasts until all that is asked for has been
// reached, and hands over while operations run: the window opens on a system
// that is under load already.
type Warmup struct {
	Time       time.Duration `json:"warmup"`
	Ops        uint64        `json:"warmup_ops"`
	Stationary bool          `json:"warmup_stationary,omitempty"` // until the latency shows no trend
	// Limit ends the wait for operations and stationarity; 0: DefaultWarmupLimit,
	// or Time where that is longer.
	Limit time.Duration `json:"warmup_limit,omitempty"`
}

func (w Warmup) none() bool { return w.Time == 0 && w.Ops == 0 && !w.Stationary }

// Policy says which results are checked after the window.
type Policy string

const (
	CheckFit    Policy = ""       // those that fit into the arena, beyond that a seeded sample
	CheckAll    Policy = "all"    // all; refused where they cannot fit
	CheckSample Policy = "sample" // a seeded sample of N
	CheckNone   Policy = "none"
)

// Check is the policy and, of a sample, its size.
type Check struct {
	Policy Policy `json:"policy"`
	N      int    `json:"n,omitempty"`
}

// Bounds and defaults of the configuration.
const (
	MaxWorkers         = 1 << 10
	MaxSamples         = 1 << 20
	MaxQueue           = 1 << 24
	MaxClasses         = 8
	MaxArena           = 1 << 38
	DefaultQueue       = 1 << 16
	DefaultArena       = 256 << 20
	DefaultWarmupLimit = 30 * time.Second
)

// abandon is the time between the cancelling of the operations' context and the
// moment when those that have not returned are left behind.
const abandon = 50 * time.Millisecond

// Validate returns the error, an ErrParams or a *zkbench.LimitError, with which Run
// would refuse the configuration.
func (c *Config) Validate() error {
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{zkbench.ErrParams}, args...)...)
	}
	switch {
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return refuse("workers: %d, 1 to %d accepted", c.Workers, MaxWorkers)
	case c.Duration < 0 || c.Duration == 0 && c.Count == 0:
		return refuse("duration: %v, more than 0s accepted, or a count of operations", c.Duration)
	case c.Count > 0 && c.Least > c.Count:
		return refuse("least: %d operations, at most the count of %d accepted", c.Least, c.Count)
	case c.Count > warmupSeq || c.Least > warmupSeq:
		return refuse("count: %d, at most %d accepted", c.Count, uint64(warmupSeq))
	case c.Warmup.Time < 0 || c.Warmup.Limit < 0:
		return refuse("warm-up: %v, at most %v, nothing negative accepted", c.Warmup.Time, c.Warmup.Limit)
	case c.Samples < 0 || c.Samples > MaxSamples:
		return refuse("samples: %d, 0 to %d accepted", c.Samples, MaxSamples)
	case c.Grace < 0:
		return refuse("grace: %v, nothing negative accepted", c.Grace)
	case c.Arena < 0 || c.Arena > MaxArena:
		return refuse("arena: %d bytes, 0 to %d accepted", c.Arena, int64(MaxArena))
	case c.Check.Policy == CheckSample && c.Check.N < 1:
		return refuse("check: a sample of %d, at least 1 accepted", c.Check.N)
	case len(c.Classes) > MaxClasses || (len(c.Classes) > 0) != (c.Class != nil):
		return refuse("classes: %d, up to %d accepted, together with what tells them", len(c.Classes), MaxClasses)
	}
	switch c.Check.Policy {
	case CheckFit, CheckAll, CheckSample, CheckNone:
	default:
		return refuse("check: %q, one of %q, %q, %q accepted", c.Check.Policy, CheckAll, CheckSample, CheckNone)
	}
	if c.Arrivals == nil {
		return nil
	}
	switch {
	case c.Samples == 0:
		return refuse("samples: 0, an open loop accepts 1 to %d: arrivals do not wait for inputs to be built", MaxSamples)
	case c.Starts != StartsTimer && c.Starts != StartsSpin && c.Starts != StartsAuto:
		return refuse("starts: %q, one of %v accepted", c.Starts, AllStarts())
	case c.Queue < 1 || c.Queue > MaxQueue:
		return refuse("queue: %d, 1 to %d accepted", c.Queue, MaxQueue)
	}
	return c.Arrivals.validate(c.Duration)
}

// Run builds the inputs, warms up, measures and checks the results. When ctx
// ends, Run returns what was measured so far with Interrupted set. The error is
// for a run that could not begin: a bad configuration, an input that could not
// be built, results that cannot fit.
func Run(ctx context.Context, cfg Config, target Target) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if cfg.Arena == 0 {
		cfg.Arena = DefaultArena
	}
	if cfg.Stages == nil {
		cfg.Stages = stage.New()
	}
	r := newRun(&cfg, target)
	if err := r.build(ctx); err != nil || ctx.Err() != nil {
		return r.unmeasured(ctx, err)
	}
	if !r.probe(ctx) || ctx.Err() != nil {
		return r.unmeasured(ctx, nil)
	}
	defer r.free() // nothing that is returned lies in the arenas
	if err := r.load(ctx); err != nil || r.res == nil {
		return r.unmeasured(ctx, err)
	}
	r.check(ctx)
	r.res.doubts = r.doubts()
	r.res.Interrupted = ctx.Err() != nil
	return r.res, nil
}

// unmeasured is what is returned where the window did not open: the error, unless the end of ctx
// is its cause, or operations have failed.
func (r *run) unmeasured(ctx context.Context, err error) (*Result, error) {
	res := r.before(ctx)
	if err != nil && ctx.Err() == nil && res.WarmupFailed == 0 {
		return nil, err
	}
	return res, nil
}

// free frees the arenas.
func (r *run) free() {
	for _, a := range r.arenas {
		_ = a.free()
	}
}

// build builds the inputs. A corpus that will not fit is refused after its first
// few inputs.
func (r *run) build(ctx context.Context) error {
	if r.cfg.Samples == 0 {
		return nil
	}
	ctx = resources.Phase(ctx, "inputs")
	stage := r.cfg.Stages.Start("inputs")
	defer func() { stage.End() }()
	begin := r.clock()
	inputs, err, _ := interruptible(ctx, func() ([]any, error) { return r.corpus(ctx) })
	r.inputs, r.eachInput = inputs, (r.clock()-begin)/time.Duration(r.cfg.Samples)
	return err
}

func (r *run) corpus(ctx context.Context) ([]any, error) {
	inputs := make([]any, r.cfg.Samples)
	bounded := r.cfg.Samples > weighed && r.cfg.Available > 0
	var before uint64
	if bounded {
		before = heap()
	}
	for i := range inputs {
		if ctx.Err() != nil {
			return nil, nil
		}
		input, err := Protect(func() (any, error) { return r.target.Input(ctx, uint64(i)) })
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		inputs[i] = input
		if bounded && i == weighed-1 {
			// A heap grows to twice what lives on it before it is collected.
			each := max(int64(heap())-int64(before), 0) / weighed
			if need := 2 * each * int64(r.cfg.Samples); uint64(need) > r.cfg.Available {
				return nil, fmt.Errorf("samples: %w", &zkbench.LimitError{What: "bytes of memory for the inputs", Estimate: need, Max: int64(r.cfg.Available)})
			}
		}
	}
	return inputs, nil
}

// weighed is the number of inputs whose memory is measured before the others
// are built.
const weighed = 16

// heap returns the bytes that live on the heap.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
