package executor

import (
	"context"
	"runtime"
	"sync"
	"testing"
)

// Workers that a lowered GOMAXPROCS makes superfluous end at the next use, and
// idle ones neither spin nor are lost count of.
func TestPoolWorkersEnd(t *testing.T) {
	before := runtime.GOMAXPROCS(6)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	p := newPool()
	var arrived sync.WaitGroup
	arrived.Add(6)
	if err := p.Do(t.Context(), 6, func(context.Context, int) error {
		arrived.Done()
		arrived.Wait()
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if got := p.count(); got != 5 {
		t.Fatalf("%d workers after an operation of width 6, want 5", got)
	}
	for _, procs := range []int{3, 1} {
		runtime.GOMAXPROCS(procs)
		for p.count() != procs-1 {
			if err := p.Do(t.Context(), 2, func(context.Context, int) error { return nil }); err != nil {
				t.Fatal(err)
			}
			runtime.Gosched()
		}
	}
	if p.idle != 0 || len(p.queue) != 0 || p.waiting != 0 {
		t.Errorf("pool not empty: idle %d, queue %d, waiting %d", p.idle, len(p.queue), p.waiting)
	}
}

func (p *pool) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.workers
}
