// Package runner applies load to an operation and measures it. A pacer hands out tickets: each
// is one scheduled operation, with a sequence number and an intended start. A bounded number
// of workers run these operations, and Run returns what was measured.
//
// In a closed loop a ticket is due when a worker is free: the load is what the
// workers can do. In an open loop a schedule says when tickets are due: the load
// is what users would send, and an operation waits if all workers are busy.
// Service time is measured from the actual start, response time from the intended
// one. A stall therefore lengthens the response times of all operations that queue
// during it (no coordinated omission).
//
// The runner knows nothing about the operation. Inputs come from a corpus indexed by
// sequence number. Results are kept and checked after the window, so that checks do
// not slow operations down. Operations that are still running when the run ends are
// listed with their age and not waited for: their goroutines keep running, but never
// touch the result.
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

// Target is the operation that a run measures. Run calls its methods from many goroutines.
type Target interface {
	// Input builds the input of operation seq. It must depend only on seq and the
	// target's seed, because the check may build the input again.
	Input(ctx context.Context, seq uint64) (any, error)
	// Run runs the timed operation. Its output may be empty. The worker copies the output
	// before it calls Run again.
	Run(ctx context.Context, input any) (output []byte, err error)
	// Check returns an error if output is not a correct result of Run for input.
	// It must not retain input or output.
	Check(ctx context.Context, input any, output []byte) error
}

// Config says how to run a Target. Its JSON form, with durations in ns, is sent to child
// processes, which may run another version of the program. Fields may therefore be added, but
// not removed or changed in meaning.
type Config struct {
	Workers  int           `json:"workers"`            // operations in flight, 1 to MaxWorkers
	Arrivals *Arrivals     `json:"arrivals,omitempty"` // nil: closed loop
	Starts   Starts        `json:"starts,omitempty"`   // open loop: how workers wait
	Queue    int           `json:"queue,omitempty"`    // open loop: tickets that may wait for a worker; 1 to MaxQueue
	Duration time.Duration `json:"duration"`           // length of the window; 0: until Count operations have ended
	Count    uint64        `json:"count,omitempty"`    // maximum number of tickets in the window; 0: no bound
	// Least keeps a closed loop's window open until this many operations have ended or failed,
	// however long they take. Duration may be shorter than one operation.
	Least uint64 `json:"least,omitempty"`
	Warmup

	// Grace is how long operations that are running when the window closes may take to end.
	// Operations that end within this time count as done, but not towards throughput. After
	// this time, the context of the others is cancelled, and they count as unfinished.
	Grace time.Duration `json:"grace"`

	// Samples is the number of inputs built before the run, at most MaxSamples. The window's
	// operation seq gets input seq mod Samples. What runs before the window gets inputs from the
	// last one backwards: so each operation has an input of its own if there are enough for all.
	// If Samples is 0 (closed loop only), each operation builds its own input, which is timed
	// separately.
	// Run refuses inputs that would take more than Available bytes. If Available is 0, no
	// bound is known.
	Samples   int    `json:"samples"`
	Available uint64 `json:"-"`

	Check Check  `json:"check"`
	Arena int64  `json:"arena,omitempty"` // bytes of memory that keeps results until they are checked; 0: DefaultArena
	Seed  uint64 `json:"seed"`

	// Alone counts the allocations of some operations one at a time before the
	// warm-up, with garbage collection off. Use it for operations that run on one
	// goroutine only: their counts then repeat exactly.
	Alone bool `json:"-"`

	// Classes are the kinds of operations in a mix. Class returns the kind of the
	// operation seq as an index into Classes. Set both or neither.
	Classes []string             `json:"-"`
	Class   func(seq uint64) int `json:"-"`

	// FailIf closes the window as soon as a percentile is certain to exceed its threshold.
	// Run does not judge the figures: use Threshold.Beyond on the record.
	FailIf []Threshold `json:"fail_if,omitempty"`

	Watch    func(Progress)      `json:"-"` // called about once per second of the window, by the goroutine that observes it; may be nil
	Stages   *stage.Recorder     `json:"-"` // receives the stages of the run; may be nil
	Profiler *resources.Profiler `json:"-"` // its window is opened and closed with the run's; may be nil
}

// Warmup says how long operations run before the window opens: until all conditions that are
// set have been met. The window opens while operations are running, so that the window is
// under load from its start.
type Warmup struct {
	Time       time.Duration `json:"warmup"`
	Ops        uint64        `json:"warmup_ops"`
	Stationary bool          `json:"warmup_stationary,omitempty"` // until the latency shows no trend
	// Limit ends the wait for Ops and Stationary; 0 means DefaultWarmupLimit or Time,
	// whichever is longer.
	Limit time.Duration `json:"warmup_limit,omitempty"`
}

func (w Warmup) none() bool { return w.Time == 0 && w.Ops == 0 && !w.Stationary }

// Policy says which results are checked after the window.
type Policy string

// Policies of a Check.
const (
	CheckFit    Policy = ""       // all if they fit into Config.Arena, else a seeded sample
	CheckAll    Policy = "all"    // all; Run refuses if they cannot fit into Config.Arena
	CheckSample Policy = "sample" // a seeded sample of N results
	CheckNone   Policy = "none"
)

// Check says which results are checked. If Policy is CheckSample, N is the number of results
// in the sample.
type Check struct {
	Policy Policy `json:"policy"`
	N      int    `json:"n,omitempty"`
}

// Limits and defaults of a Config.
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

// abandon is how long operations have to return after their context is cancelled. After
// that the run ends without them.
const abandon = 50 * time.Millisecond

// Validate checks the configuration; Run begins with the same checks. Validate returns
// ErrParams if a field is out of range, and a *zkbench.LimitError if there would be too many
// arrivals.
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
		return refuse("classes: %d, up to %d accepted, together with a function Class", len(c.Classes), MaxClasses)
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

// Run builds the inputs, warms up, measures, and checks the results. When ctx ends, Run
// returns what was measured so far, with Interrupted set. Run returns an error if the run
// could not begin. A run cannot begin if the configuration is invalid or an input cannot be
// built. If all results are to be checked, the memory for results (Config.Arena) must be able
// to hold them.
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
	defer r.free() // the result does not refer to the arenas
	if err := r.load(ctx); err != nil || r.res == nil {
		return r.unmeasured(ctx, err)
	}
	r.check(ctx)
	r.res.doubts = r.doubts()
	r.res.Interrupted = ctx.Err() != nil
	return r.res, nil
}

// unmeasured returns what Run returns if the window did not open: err, or a result without a
// window if ctx has ended or operations have failed.
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

// build builds the inputs. It measures the first few, and refuses the corpus if it would
// not fit into memory.
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
			// The heap grows to twice its live bytes before it is collected.
			each := max(int64(heap())-int64(before), 0) / weighed
			if need := 2 * each * int64(r.cfg.Samples); uint64(need) > r.cfg.Available {
				return nil, fmt.Errorf("samples: %w", &zkbench.LimitError{What: "bytes of memory for the inputs", Estimate: need, Max: int64(r.cfg.Available)})
			}
		}
	}
	return inputs, nil
}

// index returns the number of the input of an operation. The warm-up's follow those of the probe.
func (r *run) index(seq uint64) uint64 {
	n := uint64(len(r.inputs))
	if !(ticket{seq: seq}).inWarmup() {
		return seq % n
	}
	return n - 1 - (seq-warmupSeq+probed)%n
}

// weighed is the number of inputs whose memory is measured before the others
// are built.
const weighed = 16

// heap returns the live bytes on the heap.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
