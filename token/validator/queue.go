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
	// MaxBatch is the most requests that a Queue validates together.
	MaxBatch = 4096
	// MaxWaiting is how many bytes of requests wait in a Queue at most, each counted as waitingCost more.
	MaxWaiting  = 256 << 20
	waitingCost = 1 << 10
)

// Batching says how a Queue makes batches.
type Batching struct {
	Max  int           // requests of a batch, 1 to MaxBatch
	Wait time.Duration // how long the first request of a batch waits for others at most
}

// Queue is the front of a validator that serves many callers: their requests are
// collected into batches, one of which is validated at a time. A batch begins when it
// is full, or when its first request has waited for so long; while it runs, the next
// one collects, so that under load batches fill without anybody's waiting for them,
// and what a full batch leaves over goes into the next without a wait of its own.
//
// A request's verdict is that of Validator.Validate. Requests of one batch do not see
// each other: of two that spend one token both are accepted, as two calls at one time
// would be, and the ledger applies one of them.
//
// A Queue has no goroutine while no request waits. It is safe for concurrent use.
type Queue struct {
	v      *Validator
	tokens Tokens
	at     func() time.Time
	limits Batching

	mu      sync.Mutex
	waiting []*call
	bytes   int         // of them, as MaxWaiting counts
	most    int         // MaxWaiting
	timer   *time.Timer // of the first of them; nil: none of them has to wait
	due     bool        // the batch begins when it can, full or not
	running bool
	closed  bool
	last    time.Time     // that of the last batch
	stopped chan struct{} // closed when closed is set and nothing runs or waits
}

// call is a caller's request.
type call struct {
	raw    []byte
	bytes  int      // as MaxWaiting counts
	batch  *running // nil: waits
	result chan Result
}

// running is a batch that is being validated.
type running struct {
	callers int // who still wait for it
	giveUp  context.CancelFunc
}

// NewQueue returns a queue in front of v, for requests on one ledger. at gives the
// validator's clock; it is called once for each batch, and a time before that of the batch before becomes this. If it becomes further
// ahead of the clock than the policy allows, the requests of the batch get a *ledger.AheadError. NewQueue returns ErrParams for
// a Batching that is not accepted.
func NewQueue(v *Validator, tokens Tokens, at func() time.Time, b Batching) (*Queue, error) {
	switch {
	case b.Max < 1 || b.Max > MaxBatch:
		return nil, fmt.Errorf("%w: batches of %d requests, accepted are 1 to %d", zkbench.ErrParams, b.Max, MaxBatch)
	case b.Wait < 0:
		return nil, fmt.Errorf("%w: a wait of %v, accepted is 0s or more", zkbench.ErrParams, b.Wait)
	}
	return &Queue{v: v, tokens: tokens, at: at, limits: b, most: MaxWaiting, stopped: make(chan struct{})}, nil
}

// Validate validates an encoded request together with what other callers bring. When
// ctx ends it returns the cause at once, and takes the request back if no batch has it
// yet; the others of a batch do not notice, unless all have gone, which ends the batch.
// After Close the error is an fs.ErrClosed, and a *zkbench.LimitError while as much waits as MaxWaiting: come again later.
func (q *Queue) Validate(ctx context.Context, raw []byte) (*Valid, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	c := &call{raw: raw, bytes: waitingCost + min(len(raw), token.MaxRequest), result: make(chan Result, 1)}
	if len(raw) <= token.MaxRequest { // who leaves early may use the buffer again
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

// Close refuses requests from now on, has those that wait validated without waiting
// for more, and returns when the last caller has an answer. Closing twice does no
// harm.
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

// join puts a call among those that wait.
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
			if q.timer == timer { // one that was stopped too late is another batch's
				q.timer, q.due = nil, true
				q.begin()
			}
		})
		q.timer = timer
	}
	q.begin()
	return nil
}

// leave takes a call back.
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

// disarm stops the timer when nobody waits any more. The caller has the lock, as of those below.
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

// stop tells Close that all is done.
func (q *Queue) stop() {
	if q.closed && !q.running {
		close(q.stopped)
	}
}

// run validates batches as long as there are some.
func (q *Queue) run() {
	for q.batch() {
	}
}

// batch validates one batch, and returns false when there was none.
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

// time is that of the next batch: no block is older than the one before, whatever the clock does.
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

// take takes the next batch. Its context ends when all its callers have left, and is
// not a caller's: they come and go.
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
