package server

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/ledger"
)

// A batcher has at most batches batches of requests at its submitter: while one is written, the next is validated.
const batches = 2

// batcher submits the requests of calls that arrive together in one batch. A call that arrives alone does not wait. A
// batch begins beside another one when it has as many requests: a request alone takes three times the processor time of
// one in a batch of 64. Clients take turns: each batch takes one call of each client that waits, then another one of each,
// and the next batch goes on with the client behind the last one.
type batcher struct {
	submitter ledger.Submitter
	sizes     func(requests int) // of batches; for metrics
	tracer    trace.Tracer

	mu      sync.Mutex
	waiting []*queue // of the clients, in the order of their turns; none is empty
	calls   int      // in them
	queued  load     // of them
	running int      // batches
	busy    int      // requests in them
}

// queue has the calls of one client, in their order.
type queue struct {
	client *allowance
	calls  []*call
}

// load is an amount of requests.
type load struct{ requests, bytes int }

func (l load) plus(o load) load { return load{l.requests + o.requests, l.bytes + o.bytes} }

func (l load) minus(o load) load { return load{l.requests - o.requests, l.bytes - o.bytes} }

// fits reports whether a batch may have so much. A single call always fits.
func (l load) fits() bool { return l.requests <= rpc.MaxRequests && l.bytes <= rpc.MaxMessage }

// call is the call of one client.
type call struct {
	requests [][]byte
	load     load
	span     trace.Span // of the call
	waiting  trace.Span // until a batch takes the call
	taken    bool       // a batch has it
	done     chan struct{}
	verdicts []ledger.Verdict
	err      error
}

// submit submits requests of a client, at most rpc.MaxRequests, and returns when the verdicts are there. If ctx ends before,
// it returns the cause; if the requests may have been submitted by then, an error that wraps zkbench.ErrOutcomeUnknown. The
// requests are decided on to the end in that case.
func (b *batcher) submit(ctx context.Context, client *allowance, requests [][]byte) ([]ledger.Verdict, error) {
	c := &call{requests: requests, load: load{requests: len(requests)}, done: make(chan struct{}), span: trace.SpanFromContext(ctx)}
	_, c.waiting = b.tracer.Start(ctx, "wait for a batch", requestsOf(len(requests)))
	for _, r := range requests {
		c.load.bytes += len(r)
	}
	b.mu.Lock()
	b.add(client, c)
	if b.running < batches {
		if calls := b.take(); calls != nil {
			go b.run(calls)
		}
	}
	b.mu.Unlock()
	select {
	case <-c.done:
		return c.verdicts, c.err
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !c.taken {
		b.remove(client, c)
		c.waiting.End()
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, context.Cause(ctx))
}

// of returns the index of a client's queue, -1 if it has none. b.mu is locked, as for the functions below.
func (b *batcher) of(client *allowance) int {
	return slices.IndexFunc(b.waiting, func(q *queue) bool { return q.client == client })
}

// add adds a call to those that wait.
func (b *batcher) add(client *allowance, c *call) {
	at := b.of(client)
	if at < 0 {
		at = len(b.waiting)
		b.waiting = append(b.waiting, &queue{client: client})
	}
	b.waiting[at].calls = append(b.waiting[at].calls, c)
	b.calls, b.queued = b.calls+1, b.queued.plus(c.load)
}

// remove removes a call that waits.
func (b *batcher) remove(client *allowance, c *call) {
	at := b.of(client)
	q := b.waiting[at]
	if q.calls = slices.DeleteFunc(q.calls, func(w *call) bool { return w == c }); len(q.calls) == 0 {
		b.waiting = slices.Delete(b.waiting, at, at+1)
	}
	b.calls, b.queued = b.calls-1, b.queued.minus(c.load)
}

// run submits a batch, and then others until none may begin.
func (b *batcher) run(calls []*call) {
	for calls != nil {
		var all [][]byte
		for _, c := range calls {
			all = append(all, c.requests...)
		}
		b.sizes(len(all))
		ctx, span := b.traceBatch(calls, len(all))
		var verdicts []ledger.Verdict
		// A panic must not end the process; those who wait get it as an error.
		err := executor.Serial().Do(ctx, 1, func(ctx context.Context, _ int) (err error) {
			verdicts, err = b.submitter.Submit(ctx, all)
			return err
		})
		if err == nil && len(verdicts) != len(all) {
			err = fmt.Errorf("%w: %d verdicts on %d requests", zkbench.ErrOutcomeUnknown, len(verdicts), len(all))
		}
		if err != nil {
			span.SetStatus(codes.Error, "")
		}
		span.End()
		for _, c := range calls {
			if c.err = err; err == nil {
				c.verdicts, verdicts = verdicts[:len(c.requests):len(c.requests)], verdicts[len(c.requests):]
			}
			close(c.done)
		}
		b.mu.Lock()
		b.running, b.busy = b.running-1, b.busy-len(all)
		calls = b.take()
		b.mu.Unlock()
	}
}

// take takes the calls of the next batch, or returns nil if none may begin.
func (b *batcher) take() (calls []*call) {
	if b.calls == 0 || b.queued.requests < b.busy && b.queued.fits() {
		return nil
	}
	var taken load
	for len(b.waiting) > 0 {
		q := b.waiting[0]
		c := q.calls[0]
		if next := taken.plus(c.load); len(calls) > 0 && !next.fits() {
			break
		}
		b.remove(q.client, c)
		if len(q.calls) > 0 { // its turn comes again after the others
			b.waiting = append(b.waiting[1:], q)
		}
		c.taken, taken, calls = true, taken.plus(c.load), append(calls, c)
	}
	b.running, b.busy = b.running+1, b.busy+taken.requests
	return calls
}
