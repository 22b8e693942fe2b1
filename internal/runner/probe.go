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
	probed    = 4               // inputs
	probeTime = time.Second     // once it has passed, no further pass begins
	probeHeap = uint64(1 << 30) // B that a pass may allocate while collections are off
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
		input, err := protect(func() (any, error) { return r.target.Input(ctx, warmupSeq-1) })
		if err != nil {
			return nil
		}
		inputs = []any{input}
	}
	begin := r.clock()
	single := r.pass(ctx, inputs[:1])
	r.fastest = single.time
	if !r.cfg.Alone || !single.ok || single.bytes*float64(len(inputs)) > float64(probeHeap) {
		return nil
	}
	if runtime.GOMAXPROCS(0) > 1 {
		// A goroutine that changes its processor finds other pools.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	last := measured{}
	for ctx.Err() == nil && r.clock()-begin < probeTime {
		p := r.pass(ctx, inputs)
		if !p.ok {
			return nil
		}
		r.fastest = min(r.fastest, p.time)
		if last.ok && p.allocs == last.allocs && p.bytes == last.bytes {
			n := float64(len(inputs))
			r.alone = alone{true, p.allocs / n, p.bytes / n}
			return nil
		}
		last = p
		if r.probes > 8*probed {
			return nil
		}
	}
	return nil
}

// measured is what a pass over some inputs took.
type measured struct {
	ok            bool
	allocs, bytes float64       // in all
	time          time.Duration // of the fastest operation
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
		r.probes++
		r.resultSize = max(r.resultSize, len(output))
	}
	runtime.ReadMemStats(&after)
	p.allocs = float64(after.Mallocs - before.Mallocs)
	p.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	return p
}

// expected returns the number of operations that the window will start at most,
// about: no worker is faster than the fastest operation.
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
