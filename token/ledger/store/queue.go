package store

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"sync/atomic"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/groupcommit"
	"github.com/zkbench/zkbench/token/ledger"
)

// Call is one call of Apply, ApplyEach or ApplyState.
type Call struct {
	ctx      context.Context // of the caller
	entries  []ledger.Entry
	encoded  [][]byte
	size     int    // bytes of encoded
	each     bool   // reject entries, not the batch
	state    []byte // nil: leave what is there
	rejected []error
	err      error
}

// NewCall checks the limits of a batch and encodes its entries; with each,
// entries are rejected one by one. The error is the batch's.
func NewCall(ctx context.Context, batch []ledger.Entry, each bool) (*Call, error) {
	if n := len(batch); n > ledger.MaxBatch {
		return nil, &zkbench.LimitError{What: "entries of a batch", Estimate: int64(n), Max: ledger.MaxBatch}
	}
	c := &Call{ctx: ctx, entries: batch, encoded: make([][]byte, len(batch)), each: each}
	if each {
		c.rejected = make([]error, len(batch))
	}
	for i := range batch {
		if err := batch[i].Check(i); err != nil {
			if !each {
				return nil, err
			}
			c.rejected[i] = err
			continue
		}
		// Room for a store's checksum, and a little for the lengths.
		c.encoded[i] = batch[i].Append(make([]byte, 0, len(batch[i].Request)+512))
		if c.size += len(c.encoded[i]); c.size > ledger.MaxBatchBytes {
			return nil, &zkbench.LimitError{What: "bytes of a batch", Estimate: int64(c.size), Max: ledger.MaxBatchBytes}
		}
	}
	return c, nil
}

// NewStateCall makes the call of ApplyState, as NewCall that of Apply.
func NewStateCall(ctx context.Context, batch []ledger.Entry, state []byte) (*Call, error) {
	if n := len(state); n > ledger.MaxState {
		return nil, &zkbench.LimitError{What: "bytes of state", Estimate: int64(n), Max: ledger.MaxState}
	}
	c, err := NewCall(ctx, batch, false)
	if err == nil {
		c.state = state
	}
	return c, err
}

// own makes the call independent of the caller's memory, which is the caller's again
// while a commit may still have the call.
func (c *Call) detach() (err error) {
	entries := make([]ledger.Entry, len(c.entries))
	for i, raw := range c.encoded {
		if raw == nil { // rejected
			continue
		}
		if entries[i], err = ledger.DecodeEntry(raw); err != nil {
			return err
		}
	}
	c.entries, c.state = entries, bytes.Clone(c.state)
	return nil
}

// Entries yields the entries that are not rejected yet.
func (c *Call) Entries() iter.Seq[*ledger.Entry] {
	return func(yield func(*ledger.Entry) bool) {
		for i := range c.entries {
			if (!c.each || c.rejected[i] == nil) && !yield(&c.entries[i]) {
				return
			}
		}
	}
}

// Encoded yields all entries, each with its encoding, nil of one that is rejected already.
func (c *Call) Encoded() iter.Seq2[*ledger.Entry, []byte] {
	return func(yield func(*ledger.Entry, []byte) bool) {
		for i := range c.entries {
			if !yield(&c.entries[i], c.encoded[i]) {
				return
			}
		}
	}
}

// Err returns why the batch was not applied, nil if it was.
func (c *Call) Err() error { return c.err }

// wanted returns a context that ends when those of all calls have, for the cause
// of the last, and what releases it.
func wanted(calls []*Call) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	left := new(atomic.Int64)
	left.Store(int64(len(calls)))
	stops := make([]func() bool, len(calls))
	for i, c := range calls {
		stops[i] = context.AfterFunc(c.ctx, func() {
			if left.Add(-1) == 0 {
				cancel(c.ctx.Err())
			}
		})
	}
	return ctx, func() {
		for _, stop := range stops {
			stop()
		}
		cancel(nil)
	}
}

// Queue is the group commit of a store with one writer: calls that wait while
// others are committed share the next transaction.
type Queue struct {
	calls *groupcommit.Queue[*Call]
	leave bool // callers leave a commit
}

// NewQueue returns the queue of a store whose commits cannot be called back: a call
// that a commit has is waited for, whatever becomes of its context. It never calls
// commit twice at once. commit does the calls, which together are within the limits
// of one batch, in one transaction; its error is that of every call.
func NewQueue(commit func(calls []*Call) error) *Queue {
	return newQueue(false, commit)
}

// NewLeavingQueue is NewQueue for a store whose commits end soon after their context,
// which ends when those of all their calls have. A caller whose context ends while a
// commit has its call gets zkbench.ErrOutcomeUnknown at once, unless it is that
// commit's last, who gets commit's error.
func NewLeavingQueue(commit func(ctx context.Context, calls []*Call) error) *Queue {
	return newQueue(true, func(calls []*Call) error {
		ctx, release := wanted(calls)
		defer release()
		return commit(ctx, calls)
	})
}

func newQueue(leave bool, commit func(calls []*Call) error) *Queue {
	return &Queue{leave: leave, calls: groupcommit.New(fit, func(calls []*Call) {
		if err := commit(calls); err != nil {
			for _, c := range calls {
				c.err = err
			}
		}
	})}
}

// fit is how many of the calls, from the first, are within the limits of one batch.
func fit(calls []*Call) int {
	entries, size := 0, 0
	for n, c := range calls {
		entries, size = entries+len(c.entries), size+c.size
		if entries > ledger.MaxBatch || size > ledger.MaxBatchBytes {
			return n
		}
	}
	return len(calls)
}

// Apply is ledger.Store.Apply.
func (q *Queue) Apply(ctx context.Context, batch []ledger.Entry) error {
	return q.ApplyState(ctx, batch, nil)
}

// ApplyState implements ledger.Store.
func (q *Queue) ApplyState(ctx context.Context, batch []ledger.Entry, state []byte) error {
	c, err := NewStateCall(ctx, batch, state)
	if err != nil {
		return err
	}
	return q.submit(c)
}

// ApplyEach is ledger.Store.ApplyEach.
func (q *Queue) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	c, err := NewCall(ctx, batch, true)
	if err != nil {
		return nil, err
	}
	if err := q.submit(c); err != nil {
		return nil, err
	}
	return c.rejected, nil
}

// Exclusive does work while nothing is committed.
func (q *Queue) Exclusive(work func()) { q.calls.Exclusive(work) }

// Idle waits until the commit that runs is over, or returns the error of ctx, which
// has ended before.
func (q *Queue) Idle(ctx context.Context) error {
	if !q.calls.Idle(ctx) {
		return ctx.Err()
	}
	return nil
}

// submit waits until the call is committed, or withdrawn or left with its context.
func (q *Queue) submit(c *Call) error {
	if !q.leave {
		if !q.calls.Do(c.ctx, c) {
			return c.ctx.Err()
		}
		return c.err
	}
	if err := c.detach(); err != nil {
		return err
	}
	switch q.calls.DoOrLeave(c.ctx, c) {
	case groupcommit.Withdrawn:
		return c.ctx.Err()
	case groupcommit.Left:
		return fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, c.ctx.Err())
	}
	return c.err
}
