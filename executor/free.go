package executor

import (
	"context"
	"reflect"
	"runtime"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"time"
)

// Cut returns into how many tasks to cut work of the given size, each of at least the given least
// size: as many as would run at once now, at least one. For the pool and for unbounded these are one
// more than the processors without work, for a Recorder its width or a task's share of it, for all
// others its width, or GOMAXPROCS if the width is 0.
//
// Use Cut for work that takes more processor time in several tasks than in one. A program that keeps all
// processors busy with operations hardly cuts them. Other work is cut by its size alone.
// A task should take at least 50 µs, since a parked processor takes some of them to wake up.
func Cut(ex Executor, size, least int) int {
	most := size / max(1, least)
	if most <= 1 {
		return 1
	}
	if f, ok := ex.(interface{ free() int }); ok {
		return min(f.free(), most)
	}
	return min(atOnce(ex), most)
}

// Ranges calls do for ranges from lo to hi-1 that together are 0 to n-1, each in a task of its own. The
// n pieces of work are alike. There are Cut(ex, n, least) ranges.
func Ranges(ctx context.Context, ex Executor, n, least int, do func(ctx context.Context, lo, hi int) error) error {
	tasks := Cut(ex, n, least)
	if r, ok := ex.(*Recorder); ok && r.records() {
		r.next = reflect.ValueOf(do).Pointer()
	}
	return ex.Do(ctx, tasks, func(ctx context.Context, i int) error {
		return do(ctx, i*n/tasks, (i+1)*n/tasks)
	})
}

func (p *pool) free() int   { return 1 + idle() }
func (unbounded) free() int { return 1 + idle() }

func (r *Recorder) free() int {
	switch {
	case r.records():
		return r.share
	case r.owner.Load() != 0: // another goroutine records
		return 1
	}
	return r.width
}

// goroutines are the metrics of goroutines that have a processor, or wait for one.
var goroutines = sync.Pool{New: func() any {
	return &[2]metrics.Sample{{Name: "/sched/goroutines/running:goroutines"}, {Name: "/sched/goroutines/runnable:goroutines"}}
}}

// idle returns the number of processors that no goroutine uses or waits for. BenchmarkCut measures it.
func idle() int {
	procs := runtime.GOMAXPROCS(0)
	if procs == 1 {
		return 0
	}
	samples := goroutines.Get().(*[2]metrics.Sample)
	defer goroutines.Put(samples)
	metrics.Read(samples[:])
	n := procs + released.recently()
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return procs - 1
		}
		n -= int(s.Value.Uint64())
	}
	return min(max(0, n), procs-1)
}

// released counts the helpers of the last call of Do. For some time after it, the runtime looks for
// work on their processors before it stops them, and counts these as busy.
var released releases

type releases struct {
	at atomic.Int64 // ns since began
	n  atomic.Int32
}

var began = time.Now()

// lookingTime is longer than the runtime looks for work.
const lookingTime = 100 * time.Microsecond

func (r *releases) note(helpers int) {
	r.n.Store(int32(helpers))
	r.at.Store(int64(time.Since(began)))
}

func (r *releases) recently() int {
	if n := r.n.Load(); n > 0 && time.Since(began)-time.Duration(r.at.Load()) < lookingTime {
		return int(n)
	}
	return 0
}
