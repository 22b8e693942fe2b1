package server

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/ledger"
)

// A batcher has at most batches batches of requests at its submitter: while one is written, the next is validated.
const batches = 2

// batcher submits the requests of calls that arrive together in one batch. A call that arrives alone does not wait. A
// batch begins beside another one when it has as many requests: a request alone takes three times the processor time of
// one in a batch of 64.
type batcher struct {
	submitter ledger.Submitter
	sizes     func(requests int) // of batches; for metrics

	mu      sync.Mutex
	waiting []*call
	running int // batches
	busy    int // requests in them
}

// call is the call of one client.
type call struct {
	requests [][]byte
	taken    bool // a batch has it
	done     chan struct{}
	verdicts []ledger.Verdict
	err      error
}

// submit submits requests, at most rpc.MaxRequests, and returns when the verdicts are there. If ctx ends before, it
// returns the cause; if the requests may have been submitted by then, an error that wraps zkbench.ErrOutcomeUnknown. The
// requests are decided on to the end in that case.
func (b *batcher) submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	c := &call{requests: requests, done: make(chan struct{})}
	b.mu.Lock()
	b.waiting = append(b.waiting, c)
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
		b.waiting = slices.DeleteFunc(b.waiting, func(w *call) bool { return w == c })
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, context.Cause(ctx))
}

// run submits a batch, and then others until none may begin.
func (b *batcher) run(calls []*call) {
	for calls != nil {
		var all [][]byte
		for _, c := range calls {
			all = append(all, c.requests...)
		}
		b.sizes(len(all))
		var verdicts []ledger.Verdict
		// A panic must not end the process; those who wait get it as an error.
		err := executor.Serial().Do(context.Background(), 1, func(ctx context.Context, _ int) (err error) {
			verdicts, err = b.submitter.Submit(ctx, all)
			return err
		})
		if err == nil && len(verdicts) != len(all) {
			err = fmt.Errorf("%w: %d verdicts on %d requests", zkbench.ErrOutcomeUnknown, len(verdicts), len(all))
		}
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

// take takes the calls of the next batch, or returns nil if none may begin. b.mu is locked.
func (b *batcher) take() (calls []*call) {
	n, requests, size := 0, 0, 0
	for _, c := range b.waiting {
		bytes := 0
		for _, r := range c.requests {
			bytes += len(r)
		}
		if n > 0 && (requests+len(c.requests) > rpc.MaxRequests || size+bytes > rpc.MaxMessage) {
			break
		}
		n, requests, size = n+1, requests+len(c.requests), size+bytes
	}
	full := n < len(b.waiting)
	if n == 0 || requests < b.busy && !full {
		return nil
	}
	calls = slices.Clone(b.waiting[:n])
	b.waiting = slices.Delete(b.waiting, 0, n)
	for _, c := range calls {
		c.taken = true
	}
	b.running, b.busy = b.running+1, b.busy+requests
	return calls
}
