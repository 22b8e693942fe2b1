package runner

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/runner/resources"
)

// alone holds the allocations of one operation, counted with nothing else running. They
// repeat exactly: two passes over the same inputs agreed.
type alone struct {
	ok            bool
	allocs, bytes float64 // per operation
}

const (
	probed       = 4                // number of inputs
	passes       = 6                // maximum number of passes over them
	probeTime    = time.Second      // approximate time, unless two passes over one input take longer
	probeLongest = 10 * time.Second // an operation that takes longer is not counted alone
	probeHeap    = uint64(1 << 30)  // B that passes may allocate while garbage collection is off
	checkHeap    = uint64(8 << 20)  // B that a check may allocate before memory is returned to the system
)

// probe runs a few operations one at a time before the warm-up. It measures how large
// results are and how long an operation takes, which sizes the arena. With Config.Alone
// it also counts what operations allocate. It returns false if an operation fails or the
// first result is wrong; then the case is not measured.
func (r *run) probe(ctx context.Context) bool {
	if r.cfg.Check.Policy == CheckNone && !r.cfg.Alone {
		return true
	}
	ctx = resources.Phase(ctx, "probe")
	stage := r.cfg.Stages.Start("probe")
	defer func() { stage.End() }()
	inputs := r.inputs[max(len(r.inputs)-probed, 0):]
	if len(inputs) == 0 {
		input, err, ended := interruptible(ctx, func() (any, error) { return r.target.Input(ctx, warmupSeq-1) })
		if err != nil {
			return r.count(ctx, measured{}, fmt.Errorf("input: %w", err))
		}
		if !ended {
			return true
		}
		inputs = []any{input}
	}
	last, err, ended := interruptible(ctx, func() (measured, error) { return r.pass(ctx, inputs[:1]) })
	if !ended {
		return true
	}
	if !r.count(ctx, last, err) || !r.checkFirst(ctx) {
		return false
	}
	if !r.cfg.Alone || last.time > probeLongest || last.bytes*float64(len(inputs)) > float64(probeHeap) {
		return true
	}
	comparable := true // the last pass had the same number of operations
	if last.time > probeTime/(2*probed) {
		inputs = inputs[:1] // the same number of passes, with fewer operations
	} else {
		comparable = false
	}
	if runtime.GOMAXPROCS(0) > 1 {
		// A goroutine that moves to another processor finds other pools.
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	}
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	garbage := 0.0 // of all passes
	for range passes {
		p, err, ended := interruptible(ctx, func() (measured, error) { return r.pass(ctx, inputs) })
		if !ended {
			return true
		}
		if !r.count(ctx, p, err) {
			return false
		}
		if comparable && p.allocs == last.allocs && p.bytes == last.bytes {
			n := float64(len(inputs))
			r.alone = alone{true, p.allocs / n, p.bytes / n}
			return true
		}
		last, comparable = p, true
		if garbage += p.bytes; garbage+p.bytes > float64(probeHeap) {
			return true
		}
	}
	return true
}

// count records the figures of a pass, and returns false if one of its operations failed.
func (r *run) count(ctx context.Context, p measured, err error) bool {
	if err != nil && cancelled(ctx, err) {
		return true
	}
	r.probes += p.operations
	if err != nil {
		r.probes++
		r.errors = countError(r.errors, ErrorCount{Err: err, Count: 1, Before: true})
		return false
	}
	r.fastest = min(r.fastest, p.time)
	r.resultSize = max(r.resultSize, p.size)
	if r.cfg.Check.Policy != CheckNone {
		r.results = append(r.results, p.last)
	}
	return true
}

// checkFirst checks the first result, and returns false if it is wrong.
func (r *run) checkFirst(ctx context.Context) bool {
	if r.cfg.Check.Policy == CheckNone || len(r.results) == 0 {
		return true
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err, ended := interruptible(ctx, func() (struct{}, error) { return struct{}{}, r.results[0].check(ctx, r.target) })
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > checkHeap {
		debug.FreeOSMemory() // else the window's resident set would include it
	}
	if err == nil || !ended || ctx.Err() != nil {
		return true
	}
	r.wrong = err
	return false
}

// result holds the output of an operation with its input.
type result struct {
	input  any
	output []byte
}

func (r result) check(ctx context.Context, target Target) error {
	return target.Check(ctx, r.input, r.output)
}

// measured holds the figures of a pass over some inputs.
type measured struct {
	operations    uint64        // number that succeeded
	allocs, bytes float64       // totals
	time          time.Duration // of the fastest operation
	size          int           // of the largest result, B
	last          result        // of the last operation
}

// pass runs an operation on each input. It stops at the first that fails.
func (r *run) pass(ctx context.Context, inputs []any) (measured, error) {
	p := measured{time: never}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, input := range inputs {
		begin := r.clock()
		output, err := operation(ctx, r.target, input)
		p.time = min(p.time, r.clock()-begin)
		if err != nil {
			return p, err
		}
		p.operations++
		p.size = max(p.size, len(output))
		p.last = result{input, output}
	}
	runtime.ReadMemStats(&after)
	p.allocs = float64(after.Mallocs - before.Mallocs)
	p.bytes = float64(after.TotalAlloc - before.TotalAlloc)
	p.last.output = slices.Clone(p.last.output) // the operation may reuse the memory
	return p, nil
}

// expected estimates the number of operations that the window will start, from the
// fastest operation before it.
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
