// Package groupcommit lets the callers of a store with one writer share its
// transactions: jobs that come while others are committed wait, and go into the next
// transaction together. It promises nothing of what a commit does with its jobs.
package groupcommit

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// Queue is the jobs that wait for a transaction. It is safe for concurrent use.
type Queue[J any] struct {
	fit    func(jobs []J) int
	commit func(jobs []J)
	// writer is a token: who has put it there commits, or keeps others from it.
	writer chan struct{}

	mu    sync.Mutex
	calls []*call[J] // that no transaction has taken
}

// call is one call of Do or DoOrLeave.
type call[J any] struct {
	job   J
	group *group        // once it is taken
	done  chan struct{} // closed when the job's commit is over
}

// group is the calls that one commit has.
type group struct {
	staying  atomic.Int64 // callers of DoOrLeave who wait for it, whose contexts live
	panicked any          // what the commit panicked with, once it is over
}

// New returns a queue. fit says how many of the jobs, from the first, go into one
// transaction; one always does. commit does them and leaves in each what became of it.
// It is never called twice at once, and the slice is its own. It runs on a goroutine
// that ends with it. If it panics, so do the callers who wait for it.
func New[J any](fit func(jobs []J) int, commit func(jobs []J)) *Queue[J] {
	return &Queue[J]{fit: fit, commit: commit, writer: make(chan struct{}, 1)}
}

// Outcome is what became of a job.
type Outcome int

const (
	// Withdrawn: no commit has had the job, and none will.
	Withdrawn Outcome = iota
	// Left: a commit has the job, which is that commit's alone from here on.
	Left
	// Done: a commit has had the job.
	Done
)

// Do queues the job, waits until it is committed, and returns true. It returns false
// when ctx ends while the job waits, which then takes no part; a job that a commit has
// is waited for, whatever becomes of ctx.
func (q *Queue[J]) Do(ctx context.Context, job J) bool {
	c, outcome := q.await(ctx, job)
	if outcome == Left {
		c.end()
	}
	return outcome != Withdrawn
}

// DoOrLeave is Do for a commit that ends soon after the contexts of all its callers
// have: a caller whose ctx ends while a commit has the job leaves, unless it is the
// last of that commit's, who waits for its end. The two are not for one queue.
func (q *Queue[J]) DoOrLeave(ctx context.Context, job J) Outcome {
	c, outcome := q.await(ctx, job)
	if outcome == Left && c.group.staying.Add(-1) == 0 {
		c.end()
		return Done
	}
	return outcome
}

// Exclusive does work while nothing is committed.
func (q *Queue[J]) Exclusive(work func()) {
	q.writer <- struct{}{}
	defer func() { <-q.writer }()
	work()
}

// Idle waits until the commit that runs is over, and returns true, or false when ctx
// has ended before.
func (q *Queue[J]) Idle(ctx context.Context) bool {
	select {
	case q.writer <- struct{}{}:
		<-q.writer
		return true
	case <-ctx.Done():
		return false
	}
}

// await queues the job and waits for the end of its commit, or of ctx. Whoever waits
// begins a commit when none runs, for all that wait.
func (q *Queue[J]) await(ctx context.Context, job J) (*call[J], Outcome) {
	if ctx.Err() != nil {
		return nil, Withdrawn
	}
	c := q.put(job)
	for {
		select {
		case <-c.done:
			c.end()
			return c, Done
		case <-ctx.Done():
			if q.withdraw(c) {
				return c, Withdrawn
			}
			return c, Left
		case q.writer <- struct{}{}:
			go q.write()
		}
	}
}

// end waits for the end of the call's commit, and goes on with its panic.
func (c *call[J]) end() {
	<-c.done
	if p := c.group.panicked; p != nil {
		panic(p)
	}
}

// write commits what waits. It has the token, and gives it back.
func (q *Queue[J]) write() {
	defer func() { <-q.writer }()
	g, calls, jobs := q.take()
	if len(jobs) == 0 {
		return
	}
	defer func() {
		for _, c := range calls {
			close(c.done)
		}
	}()
	g.panicked = "the commit has ended its goroutine"
	defer func() {
		if p := recover(); p != nil {
			g.panicked = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
		}
	}()
	q.commit(jobs)
	g.panicked = nil
}

// put queues a job.
func (q *Queue[J]) put(job J) *call[J] {
	c := &call[J]{job: job, done: make(chan struct{})}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.calls = append(q.calls, c)
	return c
}

// withdraw takes back a call that no transaction has taken.
func (q *Queue[J]) withdraw(c *call[J]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.calls, c)
	if i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
	}
	return i >= 0
}

// take returns the first calls, as many as fit, and their jobs.
func (q *Queue[J]) take() (*group, []*call[J], []J) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.calls) == 0 {
		return nil, nil, nil
	}
	jobs := make([]J, len(q.calls))
	for i, c := range q.calls {
		jobs[i] = c.job
	}
	n := max(1, q.fit(jobs))
	calls := slices.Clone(q.calls[:n])
	q.calls = slices.Delete(q.calls, 0, n)
	g := &group{}
	g.staying.Store(int64(n))
	for _, c := range calls {
		c.group = g
	}
	return g, calls, jobs[:n:n]
}
