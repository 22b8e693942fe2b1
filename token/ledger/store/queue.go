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

// Call is one call of Apply, ApplyEach or ApplyState. Its exported methods are for the store that
// commits it.
type Call struct {
	ctx      context.Context // of the caller
	entries  []ledger.Entry
	encoded  [][]byte
	size     int    // bytes of encoded
	each     bool   // reject single entries, not the whole batch
	state    []byte // nil keeps the stored bytes
	rejected []error
	err      error
}

// NewCall checks the limits of a batch and encodes its entries. If the parameter each is true, an entry
// that exceeds a limit is rejected by itself, as for ApplyEach. Otherwise NewCall returns the error of
// that entry. NewCall returns a *zkbench.LimitError if the batch has too many entries or bytes.
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
		// 512 bytes leave room for a store's checksum and the lengths of fields.
		c.encoded[i] = batch[i].Append(make([]byte, 0, len(batch[i].Request)+512))
		if c.size += len(c.encoded[i]); c.size > ledger.MaxBatchBytes {
			return nil, &zkbench.LimitError{What: "bytes of a batch", Estimate: int64(c.size), Max: ledger.MaxBatchBytes}
		}
	}
	return c, nil
}

// NewStateCall returns a call of ApplyState. It returns the errors of NewCall, and a
// *zkbench.LimitError if state is too long.
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

// detach copies the call's entries and state. A caller that leaves may modify its memory while a
// commit still reads the call.
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

// Entries yields the entries that have not been rejected so far.
func (c *Call) Entries() iter.Seq[*ledger.Entry] {
	return func(yield func(*ledger.Entry) bool) {
		for i := range c.entries {
			if (!c.each || c.rejected[i] == nil) && !yield(&c.entries[i]) {
				return
			}
		}
	}
}

// Encoded yields all entries with their encodings. The encoding is nil if NewCall rejected the
// entry.
func (c *Call) Encoded() iter.Seq2[*ledger.Entry, []byte] {
	return func(yield func(*ledger.Entry, []byte) bool) {
		for i := range c.entries {
			if !yield(&c.entries[i], c.encoded[i]) {
				return
			}
		}
	}
}

// Err returns the reason why the batch was not applied, or nil if it was.
func (c *Call) Err() error { return c.err }

// wanted returns a context that ends when the contexts of all calls have ended, and a function that
// releases it. Its cause is the error of the last context to end.
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

// Queue implements group commit for a store with one writer: calls that arrive during a commit
// wait, and share the next transaction.
type Queue struct {
	calls *groupcommit.Queue[*Call]
	leave bool // callers may leave while a commit has their call
}

// NewQueue returns a queue for a store whose commits cannot be interrupted. Once a commit has taken a
// call, the caller waits for the commit even if the call's context ends.
//
// The function commit writes the calls in one transaction. If it returns an error, every call gets that
// error. The queue never runs commit twice at once, and the calls that it passes to commit are together
// within the limits of one batch.
func NewQueue(commit func(calls []*Call) error) *Queue {
	return newQueue(false, commit)
}

// NewLeavingQueue returns a queue for a store whose commits end soon after their context ends. The
// context of a commit ends when the contexts of all its calls have ended. If a caller's context ends
// after a commit has taken the call, the caller gets zkbench.ErrOutcomeUnknown at once. The last
// remaining caller of a commit waits instead, and gets the error of the function commit. In all other
// ways the queue works like one that NewQueue returns.
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

// fit returns how many of the calls, from the first, are together within the limits of one batch.
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

// Apply implements ledger.Store.
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

// ApplyEach implements ledger.Store.
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

// Exclusive calls the function work at a moment when nothing is being committed.
func (q *Queue) Exclusive(work func()) { q.calls.Exclusive(work) }

// Idle waits for the running commit to end. It returns the error of ctx if ctx ends first.
func (q *Queue) Idle(ctx context.Context) error {
	if !q.calls.Idle(ctx) {
		return ctx.Err()
	}
	return nil
}

// submit waits until the call is committed, is withdrawn, or has been left because its context
// ended.
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
