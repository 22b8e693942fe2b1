package executor

import (
	"bytes"
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// Workers that a lowered GOMAXPROCS makes superfluous end at the next use, and
// idle ones neither spin nor are lost count of.
func TestPoolWorkersEnd(t *testing.T) {
	setProcs(t, 6)
	p := newPool()
	together := barrier(6)
	must.Do(t, p.Do(t.Context(), 6, func(context.Context, int) error { together(); return nil }))
	golden.Equal(t, "workers after an operation of width 6", 5, p.count())
	for _, procs := range []int{3, 1} {
		runtime.GOMAXPROCS(procs)
		for p.count() != procs-1 {
			must.Do(t, p.Do(t.Context(), 2, func(context.Context, int) error { return nil }))
			runtime.Gosched()
		}
	}
	golden.Equal(t, "idle, queue, waiting", [3]int{}, [3]int{p.idle, len(p.queue), p.waiting})
}

func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers
}

// labelled counts the goroutines that carry a label.
func labelled(t *testing.T, key, value string) (n int64) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, pprof.Lookup("goroutine").WriteTo(&b, 0))
	p := must.Get(profile.Parse(&b))(t)
	for _, s := range p.Sample {
		if slices.Contains(s.Label[key], value) {
			n += s.Value[0]
		}
	}
	return n
}

// Goroutines that run tasks carry the profiler labels of the context that Do was
// given, those of nested calls included, and the pool's drop them.
func TestWorkersCarryLabels(t *testing.T) {
	const procs = 3
	setProcs(t, procs)
	for _, ex := range []Executor{Unbounded(), newPool()} {
		t.Run("exec="+ex.Name(), func(t *testing.T) {
			for _, phase := range []string{"first", "second"} {
				for _, nested := range []bool{false, true} {
					do := func(ctx context.Context) {
						arrived, counted := barrier(procs), barrier(procs)
						var inside int64
						if err := ex.Do(ctx, procs, func(_ context.Context, i int) error {
							arrived()
							if i == 0 {
								inside = labelled(t, "phase", phase)
							}
							counted()
							return nil
						}); err != nil {
							t.Error(err)
						}
						// Who waits for the outer call may be beside those inside the nested one.
						if inside < procs || inside > procs && !nested {
							t.Errorf("phase=%s nested=%v: %d goroutines with the label, want %d", phase, nested, inside, procs)
						}
					}
					pprof.Do(t.Context(), pprof.Labels("phase", phase), func(ctx context.Context) {
						if !nested {
							do(ctx)
						} else if err := ex.Do(ctx, 2, func(ctx context.Context, i int) error {
							if i == 0 {
								do(ctx)
							}
							return nil
						}); err != nil {
							t.Error(err)
						}
					})
					// A goroutine of unbounded may still be on its way out.
					if left := labelled(t, "phase", phase); ex.Name() == "pool" && left != 0 {
						t.Errorf("phase=%s nested=%v: %d goroutines keep the label", phase, nested, left)
					}
				}
			}
		})
	}
}

// A worker that is started and finds nothing to do does not keep the labels of
// who started it.
func TestIdleWorkerHasNoLabels(t *testing.T) {
	setProcs(t, 2)
	p := newPool()
	idle := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.idle
	}
	pprof.Do(t.Context(), pprof.Labels("phase", "starter"), func(context.Context) {
		p.mu.Lock()
		p.wake(1)
		p.mu.Unlock()
		for idle() == 0 {
			runtime.Gosched()
		}
	})
	golden.Equal(t, "goroutines that keep the label", 0, labelled(t, "phase", "starter"))
}
