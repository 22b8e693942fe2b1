package executor

import (
	"context"
	"runtime"
	"runtime/pprof"
	"slices"
	"sync"
)

// Pool returns the pool that the whole process shares. Its width is GOMAXPROCS, read at each use.
// One caller and the workers that run its tasks occupy at most that many processors, however deeply
// calls of Do are nested. Workers without work are parked. If GOMAXPROCS is lowered, surplus
// workers end at the next use.
//
// Workers run tasks under the profiler labels of the context given to Do. Do not use the pool for
// the first time inside a testing/synctest bubble: the bubble would own the workers.
func Pool() Executor { return shared }

var shared = newPool()

// pool keeps these invariants under mu:
//
//   - A run is in queue from enter to leave, unless a worker found it exhausted.
//   - workers counts the live worker goroutines. idle counts those of them that are parked and have
//     not been signalled.
//   - limit returns how many workers may live: one fewer than the processors, since the caller uses
//     one, plus one for every caller that is blocked in leave, since it leaves its processor
//     unused.
//
// Progress does not depend on any worker. The caller claims tasks until none is left, and waits
// only for workers that are inside a task. So a lost wake-up costs time but never progress. Nesting
// cannot deadlock: a worker inside a task blocks only on tasks that have been started, and the
// innermost of them blocks on none.
type pool struct {
	mu      sync.Mutex
	wakeup  *sync.Cond
	queue   []*entry // oldest first: outer, coarser tasks before nested ones
	workers int
	idle    int
	waiting int
}

func newPool() *pool {
	p := new(pool)
	p.wakeup = sync.NewCond(&p.mu)
	return p
}

// entry is a run's place in the queue.
type entry struct {
	*run
	helpers int           // workers inside work
	helped  int           // workers that have been
	left    chan struct{} // non-nil once the caller waits for the last helper
}

func (p *pool) Name() string { return poolName }

func (p *pool) Width() int { return runtime.GOMAXPROCS(0) }

func (p *pool) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	if n <= 1 {
		return serial{}.Do(ctx, n, task)
	}
	if p.Width() == 1 {
		p.trim()
		return serial{}.Do(ctx, n, task)
	}
	e := &entry{run: newRun(ctx, n, task)}
	defer e.cancel(nil)
	func() {
		p.enter(e)
		defer p.leave(e) // also when a task ends the caller's goroutine
		e.work()
	}()
	return e.result(ctx)
}

// trim lets surplus workers end.
func (p *pool) trim() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wake(0)
}

func (p *pool) enter(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, e)
	p.wake(int(e.n) - 1)
}

func (p *pool) leave(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(e)
	defer func() { released.note(e.helped) }()
	if e.helpers == 0 {
		return
	}
	e.left = make(chan struct{})
	p.waiting++
	if len(p.queue) > 0 {
		p.wake(1)
	}
	p.mu.Unlock()
	<-e.left
	p.mu.Lock()
	p.waiting--
}

func (p *pool) limit() int { return runtime.GOMAXPROCS(0) - 1 + p.waiting }

// wake makes up to n more workers look for work, and makes surplus parked ones look and end. It
// uncounts each idle worker that it signals, so that two calls in a row do not count on the same
// one.
func (p *pool) wake(n int) {
	limit := p.limit()
	n = min(n, limit) + max(0, p.workers-limit)
	for ; n > 0 && p.idle > 0; n-- {
		p.idle--
		p.wakeup.Signal()
	}
	for ; n > 0 && p.workers < limit; n-- {
		p.workers++
		go p.worker()
	}
}

func (p *pool) worker() {
	pprof.SetGoroutineLabels(context.Background()) // drop the labels inherited from the goroutine that started it
	for e := p.take(); e != nil; e = p.take() {
		p.help(e)
	}
}

// take returns a run to help with, or nil if the worker must end. It parks while there is no run.
func (p *pool) take() *entry {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.workers > p.limit() {
			p.workers--
			if len(p.queue) > 0 && p.idle > 0 {
				p.idle-- // the wake-up that ends here was meant for a worker that stays
				p.wakeup.Signal()
			}
			return nil
		}
		p.queue = slices.DeleteFunc(p.queue, func(e *entry) bool { return e.exhausted() })
		if len(p.queue) > 0 {
			e := p.queue[0]
			e.helpers++
			e.helped++
			return e
		}
		p.idle++
		p.wakeup.Wait()
	}
}

func (p *pool) help(e *entry) {
	alive := false
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if e.helpers--; e.helpers == 0 && e.left != nil {
			close(e.left)
		}
		if !alive { // a task ended this goroutine
			p.workers--
		}
	}()
	pprof.SetGoroutineLabels(e.ctx)
	e.work()
	pprof.SetGoroutineLabels(context.Background()) // a parked worker keeps no context alive
	alive = true
}

func (p *pool) drop(e *entry) {
	if i := slices.Index(p.queue, e); i >= 0 {
		p.queue = slices.Delete(p.queue, i, i+1)
	}
}
