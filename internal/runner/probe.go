package runner

import (
	"context"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/zkbench/zkbench/internal/meter"
)

// alone are the allocations of one operation, counted with nothing else running.
// They repeat exactly: two passes over the same inputs agreed.
type alone struct {
	ok            bool
	allocs, bytes float64 // per operation
}

const (
	probed       = 4                // inputs
	passes       = 6                // over them, at most
	probeTime    = time.Second      // about, unless two passes over one input take longer
	probeLongest = 10 * time.Second // of an operation that is counted alone
	probeHeap    = uint64(1 << 30)  // B that a pass may allocate while collections are off
)

// probe runs a few operations one at a time before the warm-up. It learns what
// the arena needs, how large a result is and how long an operation takes; where
// the configuration says that operations run alone, what they allocate. An
// operation that fails here fails in the window too, and is counted there.
func (r *run) probe(ctx context.Context) error {
	if r.cfg.Check.Policy == CheckNone && !r.cfg.Alone {
		return nil
	}
	ctx = meter.Phase(ctx, "probe")
	stage := r.cfg.Stages.Start("probe")
	defer func() { stage.End() }()
	inputs := r.inputs[:min(probed, len(r.inputs))]
	if len(inputs) == 0 {
		input, err := Protect(func() (any, error) { return r.target.Input(ctx, warmupSeq-1) })
		if err != nil {
			return nil
		}
		inputs = []any{input}
	}
	last, ended := interruptible(ctx, func() measured { return r.pass(ctx, inputs[:1]) })
	r.count(last)
	if !ended || !r.cfg.Alone || !last.ok || last.time > probeLongest || last.bytes*float64(len(inputs)) > float64(probeHeap) {
		return nil
	}
	if last.time > probeTime/(2*probed) {
		inputs = inputs[:1] // as many passes, of fewer operations
	} else {
		last.ok = false // of another length
	}
	if runtime.GOMAXPROCS(0) > 1 {
		// A goroutine that changes its processor finds other pools.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range passes {
		p, ended := interruptible(ctx, func() measured { return r.pass(ctx, inputs) })
		r.count(p)
		if !ended || !p.ok {
			return nil
		}
		if last.ok && p.allocs == last.allocs && p.bytes == last.bytes {
			n := float64(len(inputs))
			r.alone = alone{true, p.allocs / n, p.bytes / n}
			return nil
		}
		last = p
	}
	return nil
}

// count notes what a pass has shown.
func (r *run) count(p measured) {
	if p.operations > 0 {
		r.probes += p.operations
		r.fastest = min(r.fastest, p.time)
		r.resultSize = max(r.resultSize, p.size)
	}
}

// measured is what a pass over some inputs took.
type measured struct {
	ok            bool
	operations    uint64
	allocs, bytes float64       // in all
	time          time.Duration // of the fastest operation
	size          int           // of the greatest result, B
}

func (r *run) pass(ctx context.Context, inputs []any) measured {
	p := measured{ok: true, time: never}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, input := range inputs {
		begin := r.clock()
		output, err := operation(ctx, r.target, input)
		p.time = min(p.time, r.clock()-begin)
		if err != nil {
			p.ok = false
		}
		p.operations++
		p.size = max(p.size, len(output))
	}
	runtime.ReadMemStats(&after)
	p.allocs = float64(after.Mallocs - before.Mallocs)
	p.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return p
}

// interruptible returns what f returns, or false when ctx ends and f does not end
// soon after: its goroutine is left behind then, with what it has.
func interruptible[T any](ctx context.Context, f func() T) (result T, ended bool) {
	done := make(chan T, 1)
	go func() { done <- f() }()
	select {
	case result = <-done:
		return result, true
	case <-ctx.Done():
	}
	timer := time.NewTimer(abandon)
	defer timer.Stop()
	select {
	case result = <-done:
		return result, true
	case <-timer.C:
		return result, false
	}
}

// expected returns the number of operations that the window will start, about,
// by the fastest operation that was seen before it.
func (r *run) expected() float64 {
	most := 1e15
	if r.cfg.Count > 0 {
		most = float64(r.cfg.Count)
	}
	if r.cfg.Duration == 0 {
		return most
	}
	if r.cfg.Arrivals != nil {
		return min(most, r.cfg.Arrivals.Expected(r.cfg.Duration))
	}
	return min(most, float64(r.cfg.Workers)*float64(r.cfg.Duration)/float64(max(r.fastest, 1)))
}
