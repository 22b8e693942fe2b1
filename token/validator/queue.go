package validator

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

const (
	// MaxBatch is the maximum number of requests that a Queue validates together.
	MaxBatch = 4096
	// MaxWaiting is the maximum number of bytes of the requests that wait in a Queue. Each request counts 1
	// KiB more than its length.
	MaxWaiting  = 256 << 20
	waitingCost = 1 << 10
)

// Batching configures how a Queue forms batches.
type Batching struct {
	Max  int           // maximum number of requests in a batch, 1 to MaxBatch
	Wait time.Duration // maximum time that the first request of a batch waits for others
}

// Queue collects the requests of many callers into batches, and has a Validator validate one batch at a time.
// The Validator starts on a batch when the batch is full, or when its first request has waited for
// Batching.Wait. While it validates a batch, the next one collects requests, so under load batches fill
// without waiting. Requests that do not fit into a full batch go into the next one, on which the Validator
// then starts without waiting.
//
// The verdict on a request is the same as that of Validator.Validate. Requests of one batch do not affect
// each other. If two of them spend the same token, the Queue accepts both, as two concurrent calls of
// Validate would, and the ledger applies only one.
//
// A Queue has no goroutine while no request waits. It is safe for concurrent use.
type Queue struct {
	v      *Validator
	tokens Tokens
	at     func() time.Time
	limits Batching

	mu      sync.Mutex
	waiting []*call
	bytes   int         // of waiting requests, as MaxWaiting counts
	most    int         // MaxWaiting
	timer   *time.Timer // of the first waiting request; nil if none has to wait
	due     bool        // the batch begins when it can, full or not
	running bool
	closed  bool
	last    time.Time     // time of the last batch
	stopped chan struct{} // closed when closed is set and nothing runs or waits
}

// call is one caller's request.
type call struct {
	raw    []byte
	bytes  int      // as MaxWaiting counts
	batch  *running // nil while it waits
	result chan Result
}

// running is a batch that is being validated.
type running struct {
	callers int // that still wait for it
	giveUp  context.CancelFunc
}

// NewQueue returns a queue that validates requests with v. The parameter tokens is the view in which the
// queue looks up the ledger's tokens. The validator's clock is the function at; the queue calls it once for
// each batch. If the clock's time is before the time of the last batch, the queue uses the last batch's time
// again. If the last batch's time is further ahead of the clock than the policy allows, the requests of the
// new batch get a *ledger.AheadError. NewQueue returns ErrParams if b is out of bounds.
func NewQueue(v *Validator, tokens Tokens, at func() time.Time, b Batching) (*Queue, error) {
	switch {
	case b.Max < 1 || b.Max > MaxBatch:
		return nil, fmt.Errorf("%w: batches of %d requests, accepted are 1 to %d", zkbench.ErrParams, b.Max, MaxBatch)
	case b.Wait < 0:
		return nil, fmt.Errorf("%w: a wait of %v, accepted is 0s or more", zkbench.ErrParams, b.Wait)
	}
	return &Queue{v: v, tokens: tokens, at: at, limits: b, most: MaxWaiting, stopped: make(chan struct{})}, nil
}

// Validate validates an encoded request together with the requests of other callers. If ctx ends, Validate
// returns the context's cause at once, and withdraws the request if it is not in a batch yet. The other
// requests of a batch are not affected; a batch stops when all its callers have left.
//
// Validate returns a *zkbench.LimitError while the queue is full (MaxWaiting); the caller may try again
// later. After Close it returns an error that wraps fs.ErrClosed.
func (q *Queue) Validate(ctx context.Context, raw []byte) (*Valid, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := &call{raw: raw, bytes: waitingCost + min(len(raw), token.MaxRequest), result: make(chan Result, 1)}
	if len(raw) <= token.MaxRequest { // a caller that leaves early may use the buffer again
		c.raw = slices.Clone(raw)
	}
	if err := q.join(c); err != nil {
		return nil, err
	}
	select {
	case r := <-c.result:
		return r.Valid, r.Err
	case <-ctx.Done():
		q.leave(c)
		return nil, context.Cause(ctx)
	}
}

// Close refuses new requests, validates the waiting ones at once, and returns when every caller has an
// answer. Close may be called more than once.
func (q *Queue) Close() error {
	q.mu.Lock()
	if !q.closed {
		q.closed, q.due = true, true
		q.begin()
		q.stop()
	}
	q.mu.Unlock()
	<-q.stopped
	return nil
}

// join adds a call to those that wait.
func (q *Queue) join(c *call) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fmt.Errorf("validator: queue: %w", fs.ErrClosed)
	}
	if n := q.bytes + c.bytes; n > q.most {
		return &zkbench.LimitError{What: "bytes of requests that wait", Estimate: int64(n), Max: int64(q.most)}
	}
	q.waiting, q.bytes = append(q.waiting, c), q.bytes+c.bytes
	switch {
	case q.due:
	case q.limits.Wait == 0:
		q.due = true
	case len(q.waiting) == 1:
		var timer *time.Timer
		timer = time.AfterFunc(q.limits.Wait, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			if q.timer == timer { // otherwise it was stopped too late, and belongs to an earlier batch
				q.timer, q.due = nil, true
				q.begin()
			}
		})
		q.timer = timer
	}
	q.begin()
	return nil
}

// leave withdraws a call.
func (q *Queue) leave(c *call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.batch != nil {
		if c.batch.callers--; c.batch.callers == 0 {
			c.batch.giveUp()
		}
		return
	}
	q.waiting, q.bytes = slices.DeleteFunc(q.waiting, func(w *call) bool { return w == c }), q.bytes-c.bytes
	if len(q.waiting) == 0 {
		q.disarm()
	}
}

// disarm stops the timer. The caller must hold the lock, as for begin, ready and stop.
func (q *Queue) disarm() {
	if q.timer != nil {
		q.timer.Stop()
		q.timer = nil
	}
	q.due = q.closed
}

// begin starts the goroutine that validates batches, if there is something to do.
func (q *Queue) begin() {
	if !q.running && q.ready() {
		q.running = true
		go q.run()
	}
}

func (q *Queue) ready() bool {
	return len(q.waiting) > 0 && (q.due || len(q.waiting) >= q.limits.Max)
}

// stop lets Close return if nothing runs any more.
func (q *Queue) stop() {
	if q.closed && !q.running {
		close(q.stopped)
	}
}

// run validates batches until there are none.
func (q *Queue) run() {
	for q.batch() {
	}
}

// batch validates one batch, and returns false if there was none.
func (q *Queue) batch() bool {
	calls, ctx, done := q.take()
	if calls == nil {
		return false
	}
	defer done()
	raws := make([][]byte, len(calls))
	for i, c := range calls {
		raws[i] = c.raw
	}
	at, err := q.time()
	if err != nil {
		for _, c := range calls {
			c.result <- Result{Err: err}
		}
		return true
	}
	for i, r := range q.v.validate(ctx, q.tokens, raws, at) {
		calls[i].result <- r
	}
	return true
}

// time returns the time of the next batch, which is not before that of the last one, whatever the clock does.
func (q *Queue) time() (time.Time, error) {
	clock := q.at()
	q.mu.Lock()
	defer q.mu.Unlock()
	at, err := q.v.blockTime(clock, q.last)
	if err == nil {
		q.last = at
	}
	return at, err
}

// take takes the next batch, and returns nil calls if there is none. The batch's context is not a caller's,
// because callers come and go; it ends when all callers of the batch have left.
func (q *Queue) take() ([]*call, context.Context, context.CancelFunc) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.ready() {
		q.running = false
		q.stop()
		return nil, nil, nil
	}
	n := min(q.limits.Max, len(q.waiting))
	calls := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	q.disarm()
	q.due = q.due || len(q.waiting) > 0
	ctx, done := context.WithCancel(context.Background())
	b := &running{callers: n, giveUp: done}
	for _, c := range calls {
		c.batch = b
		q.bytes -= c.bytes
	}
	return calls, ctx, done
}
