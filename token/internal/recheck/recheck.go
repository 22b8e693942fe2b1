// Package recheck validates the records of a ledger's log again. Each record is validated at its recorded
// time, against the state that the records before it produce. Records that do not depend on each other are
// validated in one batch.
package recheck

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/validator"
)

const (
	maxBatch = 256      // requests that are validated together
	maxBytes = 16 << 20 // their length in bytes
)

// State is the state of a ledger, to which a Checker applies the records that it has validated.
type State interface {
	validator.Tokens
	// Digest returns the digest of the request that has an anchor, and whether there is one.
	Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error)
	// Apply applies valid entries, in their order. If the last one updates the policy, the validator must be under
	// the new policy before it validates another record.
	Apply(ctx context.Context, entries []ledger.Entry) error
}

// Checker validates records in their order. It is not safe for concurrent use.
type Checker struct {
	validator *validator.Validator
	state     State
	waiting   []ledger.Record
	bytes     int
	touched   map[string]bool // anchors, and tokens made or spent, of what waits
	last      uint64
}

// New returns a checker. The first record that the checker gets must directly follow the last record that was
// applied to state.
func New(v *validator.Validator, state State) *Checker { return &Checker{validator: v, state: state} }

// Last returns the number of the last record that was validated and applied, or 0 if there is none.
func (c *Checker) Last() uint64 { return c.last }

// touches returns keys for the anchor and the tokens of a record.
func touches(r *ledger.Record) []string {
	all := []string{"anchor " + string(r.Anchor)}
	for _, id := range r.Spends {
		all = append(all, "token "+string(id))
	}
	for _, made := range r.Creates {
		all = append(all, "token "+string(made.ID))
	}
	return all
}

// mustWait reports whether a record can be validated only after those that wait.
func (c *Checker) mustWait(next *ledger.Record) bool {
	if len(c.waiting) == 0 {
		return false
	}
	last := &c.waiting[len(c.waiting)-1]
	return last.Update || next.Policy != last.Policy || len(c.waiting) == maxBatch || c.bytes+len(next.Request) > maxBytes || !next.Time.Equal(c.waiting[0].Time) ||
		slices.ContainsFunc(touches(next), func(k string) bool { return c.touched[k] })
}

// Add adds a record to those that wait to be validated. If the record may depend on waiting records, Add
// validates the waiting records first. Errors are as for Flush.
func (c *Checker) Add(ctx context.Context, next ledger.Record) error {
	if c.mustWait(&next) {
		if err := c.Flush(ctx); err != nil {
			return err
		}
	}
	if len(c.waiting) == 0 {
		c.touched = make(map[string]bool)
	}
	for _, k := range touches(&next) {
		c.touched[k] = true
	}
	c.waiting = append(c.waiting, next)
	c.bytes += len(next.Request)
	return nil
}

// Flush validates the records that wait and applies them to the state. It returns a *ledger.CorruptError that
// names the first record that is not valid. A record may depend on earlier records of its batch in a way that the
// log does not show. So if a record other than the batch's first is invalid, Flush applies the records before it
// and validates the record again, as the first of a new batch. Flush refuses only a record that is invalid as the
// first of a batch. After an error the checker must not be used again.
func (c *Checker) Flush(ctx context.Context) error {
	for len(c.waiting) > 0 {
		entries, err := c.valid(ctx)
		if err != nil && len(entries) == 0 {
			return err
		}
		err = c.state.Apply(ctx, entries)
		if bad, ok := errors.AsType[*zkbench.CheckError](err); ok {
			return ledger.Corruptf(place(&c.waiting[bad.Action]), "%s %d: %v", bad.Check, bad.Index, bad.Err)
		}
		if err != nil {
			return err
		}
		c.last = c.waiting[len(entries)-1].Seq
		c.waiting = c.waiting[len(entries):]
	}
	c.bytes = 0
	return nil
}

func place(r *ledger.Record) string { return fmt.Sprintf("request %d", r.Seq) }

// valid validates the records that wait, against the state. It returns the entries to apply, up to the first
// record that is not valid, and the error of that record.
func (c *Checker) valid(ctx context.Context) (entries []ledger.Entry, err error) {
	raws := make([][]byte, len(c.waiting))
	for i := range c.waiting {
		raws[i] = c.waiting[i].Request
	}
	for i, result := range c.validator.ValidateBatch(ctx, c.state, raws, c.waiting[0].Time) {
		record := &c.waiting[i]
		if _, refused := errors.AsType[*zkbench.CheckError](result.Err); refused {
			return entries, ledger.Corruptf(place(record), "not valid: %v", result.Err)
		}
		if result.Err != nil {
			return nil, result.Err
		}
		made := result.Valid.Entry()
		if err := entry.Check(record, &made); err != nil {
			return entries, err
		}
		if _, found, err := c.state.Digest(ctx, record.Anchor); err != nil {
			return nil, err
		} else if found {
			return entries, ledger.Corruptf(place(record), "an earlier request has its anchor")
		}
		entries = append(entries, made)
	}
	return entries, nil
}
