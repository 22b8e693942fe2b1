// Package groupcommit serves stores with a single writer. It lets several callers share one transaction. Each
// caller hands over a job, for example a batch to write. Jobs that arrive during a commit wait, and go into the
// next transaction together. The package does not know what a commit does with its jobs.
package groupcommit

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
)

// Queue holds the jobs that wait for a transaction. It is safe for concurrent use.
type Queue[J any] struct {
	fit    func(jobs []J) int
	commit func(jobs []J)
	// writer is a token. A goroutine that has put it there commits, or keeps others from committing.
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

// group holds the calls of one commit.
type group struct {
	staying  atomic.Int64 // callers of DoOrLeave that wait for it and whose contexts have not ended
	panicked any          // what the commit panicked with, once it is over
}

// New returns a queue. The function fit returns how many of the jobs, counted from the first, go into one
// transaction. If fit returns less than 1, one job goes into the transaction. The function commit carries
// out one transaction, and must store each job's result in the job. The function commit may keep the slice
// jobs. The queue never calls commit concurrently, and runs it on a goroutine that ends when commit returns.
// If commit panics, the callers that wait for it panic too.
func New[J any](fit func(jobs []J) int, commit func(jobs []J)) *Queue[J] {
	return &Queue[J]{fit: fit, commit: commit, writer: make(chan struct{}, 1)}
}

// Outcome says what happened to a job.
type Outcome int

const (
	// Withdrawn: no commit has taken the job, and none will.
	Withdrawn Outcome = iota
	// Left: the caller has left after a commit took the job. From then on the job belongs to that commit
	// alone.
	Left
	// Done: the job's commit is over.
	Done
)

// Do queues the job, waits until it is committed, and returns true. If ctx ends while the job is still queued,
// Do removes it and returns false. Once a commit has taken the job, Do waits for the commit even if ctx ends.
func (q *Queue[J]) Do(ctx context.Context, job J) bool {
	c, outcome := q.await(ctx, job)
	if outcome == Left {
		c.end()
	}
	return outcome != Withdrawn
}

// DoOrLeave works like Do, but the caller need not wait for the commit. A commit must end soon after the
// contexts of all its callers have ended. If ctx ends after a commit has taken the job, DoOrLeave returns Left.
// The last caller that still waits for a commit does not leave; it waits until the commit is over. Do not use
// both Do and DoOrLeave on the same queue.
func (q *Queue[J]) DoOrLeave(ctx context.Context, job J) Outcome {
	c, outcome := q.await(ctx, job)
	if outcome == Left && c.group.staying.Add(-1) == 0 {
		c.end()
		return Done
	}
	return outcome
}

// Exclusive calls the function work at a moment when no commit runs, and keeps commits from starting until the
// function returns.
func (q *Queue[J]) Exclusive(work func()) {
	q.writer <- struct{}{}
	defer func() { <-q.writer }()
	work()
}

// Idle waits until the running commit is over and returns true. It returns false if ctx ends before that.
func (q *Queue[J]) Idle(ctx context.Context) bool {
	select {
	case q.writer <- struct{}{}:
		<-q.writer
		return true
	case <-ctx.Done():
		return false
	}
}

// await queues the job and waits until its commit or ctx ends. If no commit runs, a waiting caller begins one
// for all jobs that wait.
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

// end waits until the call's commit is over. If the commit panicked, end panics too.
func (c *call[J]) end() {
	<-c.done
	if p := c.group.panicked; p != nil {
		panic(p)
	}
}

// write commits the jobs that wait. It has the writer token and returns it.
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

// withdraw removes a call that no transaction has taken. It reports whether it did.
func (q *Queue[J]) withdraw(c *call[J]) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.calls, c)
	if i >= 0 {
		q.calls = slices.Delete(q.calls, i, i+1)
	}
	return i >= 0
}

// take removes the first calls, as many as fit, and returns them with their jobs.
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
