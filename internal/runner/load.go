package runner

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// run is one run from its inputs to its result.
type run struct {
	cfg    *Config
	target Target

	inputs    []any
	eachInput time.Duration // mean time to build an input

	probes     uint64        // operations of the probe
	fastest    time.Duration // fastest operation of the probe
	resultSize int           // largest result of the probe, B
	results    []result      // some results of the probe
	errors     []ErrorCount  // of the probe's operations
	wrong      error         // from the check of the probe's first result; nil: it is right
	alone      alone
	unsettled  string // why the warm-up reached its limit; empty: it did not

	spins   bool // workers spin until a ticket is due
	pacer   pacer
	shards  []*shard
	workers []*worker
	group   sync.WaitGroup // the workers' goroutines
	arenas  []*arena       // of the warm-up, if any, and of the window
	warm    *phase         // nil: no warm-up
	window  *phase

	origin         time.Time    // all times of the run count from it
	opening, close atomic.Int64 // the window's edges since origin, ns; math.MaxInt64: not yet

	series *series
	res    *Result
}

func newRun(cfg *Config, target Target) *run {
	r := &run{cfg: cfg, target: target, origin: time.Now(), fastest: never}
	r.opening.Store(math.MaxInt64)
	r.close.Store(math.MaxInt64)
	return r
}

func (r *run) opened() time.Duration { return time.Duration(r.opening.Load()) }
func (r *run) end() time.Duration    { return time.Duration(r.close.Load()) }

func (r *run) phaseOf(t ticket) *phase {
	if t.inWarmup() {
		return r.warm
	}
	return r.window
}

// prepare allocates everything that the workers write to.
func (r *run) prepare(operations context.Context) {
	open := r.cfg.Arrivals != nil
	r.shards = make([]*shard, min(r.cfg.Workers, maxShards))
	for i := range r.shards {
		s := &shard{tallies: newTallies(open), spare: newTallies(open), classes: make([]tally, len(r.cfg.Classes))}
		if r.cfg.Samples == 0 {
			s.input = new(tally)
		}
		r.shards[i] = s
	}
	r.workers = make([]*worker, r.cfg.Workers)
	for i := range r.workers {
		w := &worker{shard: r.shards[i%len(r.shards)], previous: -1}
		w.shard.workers = append(w.shard.workers, w)
		r.workers[i] = w
	}
	r.spins = open && r.cfg.Starts.spins(r.cfg.Workers)
	r.pacer.closed, r.pacer.count, r.pacer.least = !open, r.cfg.Count, r.cfg.Least
	if open {
		r.pacer.queue = make([]ticket, r.cfg.Queue)
	}
	r.window = &phase{ctx: resources.Labelled(operations, "window"), ended: make(chan struct{})}
	if !r.cfg.Warmup.none() {
		r.warm = &phase{ctx: resources.Labelled(operations, "warm-up"), ended: make(chan struct{})}
	}
	r.series = newSeries(r.cfg, r.shards)
}

// load runs the warm-up and the window. If ctx ends before the window opens, r.res stays nil.
func (r *run) load(ctx context.Context) error {
	operations, giveUp := context.WithCancel(ctx)
	defer giveUp()
	r.prepare(operations)

	idle := make(chan struct{})
	start := func() {
		for _, w := range r.workers {
			r.group.Go(func() { r.work(w) })
		}
		go func() { r.group.Wait(); close(idle) }()
	}
	if r.warm != nil {
		if err := r.keepWarm(); err != nil {
			return err
		}
		begin := r.clock()
		r.startSchedule(true, begin)
		start()
		err := r.warmUp(ctx, begin)
		if err == nil && ctx.Err() == nil {
			err = r.plan()
		}
		if err != nil || ctx.Err() != nil {
			r.finish(ctx, idle, giveUp)
			return err
		}
	} else if err := r.plan(); err != nil {
		return err
	}

	stage := r.cfg.Stages.Start("window")
	if err := r.cfg.Profiler.OpenWindow(); err != nil {
		r.finish(ctx, idle, giveUp)
		return fmt.Errorf("profiles: %w", err)
	}
	m := resources.Start()
	begin := r.clock()
	if r.cfg.Duration > 0 {
		r.close.Store(int64(begin + r.cfg.Duration))
	}
	r.opening.Store(int64(begin))
	r.startSchedule(false, begin)
	if r.cfg.Duration > 0 {
		r.pacer.deadline.Store(int64(begin + r.cfg.Duration))
	}
	created := uint64(0) // goroutines that the runner itself starts in the window
	if r.warm != nil {
		close(r.warm.ended)
	} else {
		start()
		created = uint64(len(r.workers)) + 1
	}
	r.observe(ctx, m, idle)
	r.finish(ctx, idle, giveUp)
	usage := m.Stop()
	usage.Goroutines -= min(usage.Goroutines, created)
	stage.End()
	if err := r.cfg.Profiler.CloseWindow(); err != nil {
		return fmt.Errorf("profiles: %w", err)
	}
	r.collect(usage)
	return nil
}

func (r *run) startSchedule(warmup bool, begin time.Duration) {
	var s *schedule
	seq := uint64(0)
	switch {
	case warmup:
		seq = warmupSeq
		if r.cfg.Arrivals != nil {
			s = r.cfg.Arrivals.warmup(r.cfg.Seed)
		}
	case r.cfg.Arrivals != nil:
		s = r.cfg.Arrivals.schedule(r.cfg.Duration, r.cfg.Seed)
	}
	r.pacer.start(s, begin, seq)
}

// Constants of the warm-up. It judges stationarity by the mean latencies of time
// slots, each long enough for some operations of every worker.
const (
	warmupPoll    = 10 * time.Millisecond
	warmupSlots   = 12 // the latest ones, which are judged
	warmupSlotOps = 4  // operations per worker in a slot, at least
	warmupSlotMin = 50 * time.Millisecond
)

// warmUp returns when the warm-up has lasted long enough, or ctx ends.
func (r *run) warmUp(ctx context.Context, begin time.Duration) error {
	stage := r.cfg.Stages.Start("warm-up")
	defer func() { stage.End() }()
	limit := r.cfg.Warmup.Limit
	if limit == 0 {
		limit = max(DefaultWarmupLimit, r.cfg.Warmup.Time)
	}
	ops := r.cfg.Warmup.Ops - min(r.cfg.Warmup.Ops, r.probes)
	timer := time.NewTimer(0)
	defer timer.Stop()
	var ended, slotOps uint64
	var spent, slotTime time.Duration
	slotBegin := begin
	var means []float64
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
		}
		timer.Reset(warmupPoll)
		ended, spent = 0, 0
		for _, s := range r.shards {
			s.mu.Lock()
			ended, spent = ended+s.warmed, spent+s.warmTime
			s.mu.Unlock()
		}
		now := r.clock()
		if n := ended - slotOps; n >= uint64(warmupSlotOps*r.cfg.Workers) && now-slotBegin >= warmupSlotMin {
			means = append(means, float64(spent-slotTime)/float64(n))
			slotOps, slotTime, slotBegin = ended, spent, now
		}
		if now-begin < r.cfg.Warmup.Time {
			continue
		}
		reason := ""
		switch {
		case ended < ops:
			reason = fmt.Sprintf("%d of %d operations had ended", ended, ops)
		case !r.cfg.Warmup.Stationary:
		case len(means) < warmupSlots:
			reason = fmt.Sprintf("%d operations had ended, too few to judge their trend", ended)
		case !stat.Stationary(means[len(means)-warmupSlots:]):
			reason = "the latency still had a trend"
		}
		if reason == "" {
			return nil
		}
		if now-begin >= limit {
			r.unsettled = fmt.Sprintf("the warm-up stopped at its limit of %v: %s", limit, reason)
			return nil
		}
	}
}

// memorySampling is the interval at which memory is sampled in the window.
const memorySampling = 100 * time.Millisecond

// observe fills the series until the window ends.
func (r *run) observe(ctx context.Context, m *resources.Meter, idle <-chan struct{}) {
	begin := r.opened()
	deadline := never
	if r.cfg.Duration > 0 {
		deadline = begin + r.cfg.Duration
	}
	interval := begin + r.series.interval
	sample := begin + memorySampling
	timer := time.NewTimer(0)
	defer timer.Stop()
	extended := false // beyond the deadline, because Least operations have not ended
	hopeless := ""    // which threshold is certain to fail
	for open := true; open; {
		if hopeless != "" {
			deadline = r.clock()
		}
		timer.Reset(max(min(deadline, interval, sample)-r.clock(), 0))
		ended, backlog := false, 0
		select {
		case <-ctx.Done():
			ended = true
		case <-idle: // every ticket has been used
			ended = true
		case <-timer.C:
		}
		now := r.clock()
		if ended && ctx.Err() == nil && now < deadline && r.cfg.Arrivals != nil && r.cfg.Count == 0 {
			// The last arrival has been served, but the window has not ended.
			idle = nil
			continue
		}
		if !ended && now >= deadline && hopeless == "" && r.lacking() {
			extended = true
			r.extend()
			deadline = now + extension
			continue
		}
		if ended || now >= deadline {
			open = false
			backlog = r.pacer.backlog(min(now, r.end()))
			switch {
			case ctx.Err() != nil || hopeless != "":
				r.close.Store(int64(min(now, r.end())))
			case extended || now < deadline: // all operations have run
				r.close.Store(int64(r.lastEnd()))
			}
			r.res = &Result{Oldest: r.pacer.end(r.end()), Hopeless: hopeless}
			close(r.window.ended)
		}
		if now >= sample || !open {
			r.series.usage = m.Sample()
			sample = now + memorySampling
		}
		if now >= interval || !open {
			if open {
				backlog = r.pacer.backlog(now)
			}
			r.series.add(func() time.Duration { return min(r.clock(), r.end()) - begin }, backlog)
			r.watch(now-begin, backlog)
			if open {
				hopeless = r.hopeless(now - begin)
			}
			for interval <= now {
				interval += r.series.interval
			}
		}
	}
}

// extension is the interval at which a window open beyond its deadline is checked.
const extension = 5 * time.Millisecond

// lacking reports whether the window must stay open beyond its deadline.
func (r *run) lacking() bool {
	if r.cfg.Arrivals != nil {
		return false
	}
	ended := uint64(0)
	for _, s := range r.shards {
		s.mu.Lock()
		ended += s.done + s.failed
		s.mu.Unlock()
	}
	return ended < r.cfg.Least
}

// extend reopens the window. Operations that have ended since the deadline are not late.
func (r *run) extend() {
	r.close.Store(math.MaxInt64)
	for _, s := range r.shards {
		s.mu.Lock()
		s.tallies.done += s.late
		s.late = 0
		s.mu.Unlock()
	}
}

// lastEnd returns when the window's last operation ended, or when the window opened if none has.
func (r *run) lastEnd() time.Duration {
	last := r.opened()
	for _, s := range r.shards {
		s.mu.Lock()
		last = max(last, s.last)
		s.mu.Unlock()
	}
	return last
}

// finish ends the operations that are running: it waits for the grace period, cancels
// them, and closes the shards so that those still running write nothing more.
func (r *run) finish(ctx context.Context, idle <-chan struct{}, giveUp context.CancelFunc) {
	r.pacer.ended.Store(true)
	if r.warm != nil && r.opened() == never {
		close(r.warm.ended)
	}
	if ctx.Err() == nil && r.opened() < never {
		wait(ctx, idle, r.cfg.Grace)
	}
	giveUp()
	wait(context.Background(), idle, abandon)
	now := r.clock()
	for _, s := range r.shards {
		s.mu.Lock()
		s.closed = true
		for _, w := range s.workers {
			if !w.busy || r.res == nil {
				continue
			}
			u := record.Unfinished{Seq: w.ticket.seq, Age: now - w.since, Wait: w.since - w.ticket.intended}
			if w.ticket.inWarmup() {
				r.res.Outlasting = append(r.res.Outlasting, u)
			} else {
				r.res.Unfinished = append(r.res.Unfinished, u)
			}
		}
		s.mu.Unlock()
	}
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
