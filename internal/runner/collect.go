package runner

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
)

// ErrorCount is an error and how often its message was seen.
type ErrorCount struct {
	Err   error
	Count uint64
}

// countError adds e to counts. Beyond errorMessages distinct messages the rest
// is counted under the first.
func countError(counts []ErrorCount, e ErrorCount) []ErrorCount {
	text := e.Err.Error()
	for i := range counts {
		if counts[i].Err.Error() == text {
			counts[i].Count += e.Count
			return counts
		}
	}
	if len(counts) == errorMessages {
		counts[0].Count += e.Count
		return counts
	}
	return append(counts, e)
}

// close takes the workers out of the hands of operations that still run, and
// fixes the length of the phase.
func (r *running) close() {
	r.elapsed = 0
	open := false
	for _, w := range r.workers {
		w.mu.Lock()
		w.closed = true
		r.elapsed = max(r.elapsed, w.last)
		open = open || w.started > w.done+w.failed
		w.mu.Unlock()
	}
	if open { // what was spent on unfinished operations is time without throughput
		r.elapsed = r.clock()
	}
}

// collect merges the workers of a closed phase.
func (r *running) collect(cfg *Config) *Result {
	res := &Result{Workers: cfg.Workers, Elapsed: r.elapsed, Latency: newHistogram(), Input: newHistogram()}
	var m2, jitter float64
	var transitions uint64
	for _, w := range r.workers {
		res.Latency.Merge(w.latency)
		if w.input != nil {
			res.Input.Merge(w.input)
		}
		if w.done > 0 { // pairwise merge of means and squared deviations (Chan et al. 1979)
			n, m := float64(res.Done), float64(w.done)
			d := w.mean - res.Mean
			res.Mean += d * m / (n + m)
			m2 += w.m2 + d*d*n*m/(n+m)
		}
		res.Started += w.started
		res.Done += w.done
		res.Failed += w.failed
		jitter += w.jitter
		transitions += w.transition
		for _, e := range w.errors {
			res.Errors = countError(res.Errors, e)
		}
	}
	res.Unfinished = res.Started - res.Done - res.Failed
	if res.Done > 1 {
		res.StdDev = math.Sqrt(m2 / float64(res.Done-1))
	}
	if transitions > 0 {
		res.Jitter = jitter / float64(transitions)
	}
	slices.SortStableFunc(res.Errors, func(a, b ErrorCount) int { return cmp.Compare(b.Count, a.Count) })
	return res
}

// check checks the results that were kept, on all processors. It stops when ctx
// ends: Checked says how far it came.
func (r *running) check(ctx context.Context, res *Result) {
	work := make(chan kept)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), max(1, len(r.workers))) {
		wg.Go(func() {
			for k := range work {
				_, err := call(func() (any, error) { return nil, r.target.Check(ctx, k.input, k.output) })
				if err != nil && ctx.Err() != nil {
					return // cancelled, so it says nothing about the result
				}
				mu.Lock()
				res.Checked++
				if err != nil {
					res.CheckFailed++
					if res.CheckErr == nil {
						res.CheckErr = err
					}
				}
				mu.Unlock()
			}
		})
	}
feed:
	for _, w := range r.workers {
		for _, k := range w.kept {
			select {
			case work <- k:
			case <-ctx.Done():
				break feed
			}
		}
	}
	close(work)
	wg.Wait()
}
