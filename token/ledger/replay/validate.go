package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/validator"
)

const (
	maxBatch   = 256      // requests that are validated together
	maxBytes   = 16 << 20 // of them
	identities = 4096     // that are kept parsed
)

// validation validates every request of a log again, at its stored time, under the policy of its place, against the
// ledger as the requests before it have left it, and compares what it does with what the log
// says of it; in batches of requests that do not depend on each other. That ledger is
// built beside, in a temporary directory.
type validation struct {
	validator *validator.Validator
	dir       string
	state     ledger.Ledger // after what was flushed
	waiting   []ledger.Record
	bytes     int
	touched   map[string]bool // anchors, and tokens made or spent, of what waits
}

func newValidation(params *token.PublicParams, genesis ledger.Genesis) (*validation, error) {
	checks, err := validator.New(params, genesis, executor.Pool(), token.Tuning{}, identities)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "zkbench-replay-")
	if err != nil {
		return nil, err
	}
	state, err := bolt.Create(filepath.Join(dir, FileName), genesis)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &validation{validator: checks, dir: dir, state: state}, nil
}

func (v *validation) close() error { return errors.Join(v.state.Close(), os.RemoveAll(v.dir)) }

// touches names the anchor and the tokens of a record.
func touches(r *ledger.Record) []string {
	all := []string{"anchor " + string(r.Anchor)}
	for _, id := range r.Spends {
		all = append(all, "token "+string(id))
	}
	for _, c := range r.Creates {
		all = append(all, "token "+string(c.ID))
	}
	return all
}

// mustWait tells whether a record can only be validated after those that wait.
func (v *validation) mustWait(next *ledger.Record) bool {
	if len(v.waiting) == 0 {
		return false
	}
	last := &v.waiting[len(v.waiting)-1]
	return last.Update || next.Policy != last.Policy || len(v.waiting) == maxBatch || v.bytes+len(next.Request) > maxBytes || !next.Time.Equal(v.waiting[0].Time) ||
		slices.ContainsFunc(touches(next), func(k string) bool { return v.touched[k] })
}

// add adds a record to those that wait, after it has validated them if it must.
func (v *validation) add(ctx context.Context, next ledger.Record) error {
	if v.mustWait(&next) {
		if err := v.flush(ctx); err != nil {
			return err
		}
	}
	if len(v.waiting) == 0 {
		v.touched = make(map[string]bool)
	}
	for _, k := range touches(&next) {
		v.touched[k] = true
	}
	v.waiting = append(v.waiting, next)
	v.bytes += len(next.Request)
	return nil
}

// flush validates what waits and applies it to the state. What does not hold is a
// *ledger.CorruptError that names the request. A request is only refused as the first
// of a batch: behind others it may depend on them in a way that the log does not say.
func (v *validation) flush(ctx context.Context) error {
	for len(v.waiting) > 0 {
		entries, err := v.valid(ctx)
		if err != nil && len(entries) == 0 {
			return err
		}
		err = v.state.Apply(ctx, entries)
		if c, ok := errors.AsType[*zkbench.CheckError](err); ok {
			return ledger.Corruptf(fmt.Sprintf("request %d", v.waiting[c.Action].Seq), "%s %d: %v", c.Check, c.Index, c.Err)
		}
		if err != nil {
			return err
		}
		v.waiting = v.waiting[len(entries):]
		if err := v.validator.Follow(ctx, v.state); err != nil {
			return err
		}
	}
	v.bytes = 0
	return nil
}

// valid validates what waits, against the state. It returns what is to be applied, up
// to the first request that does not hold, and why that does not.
func (v *validation) valid(ctx context.Context) (entries []ledger.Entry, err error) {
	raws := make([][]byte, len(v.waiting))
	for i := range v.waiting {
		raws[i] = v.waiting[i].Request
	}
	for i, result := range v.validator.ValidateBatch(ctx, v.state, raws, v.waiting[0].Time) {
		record := &v.waiting[i]
		place := fmt.Sprintf("request %d", record.Seq)
		if _, refused := errors.AsType[*zkbench.CheckError](result.Err); refused {
			return entries, ledger.Corruptf(place, "not valid: %v", result.Err)
		}
		if result.Err != nil {
			return nil, result.Err
		}
		made := result.Valid.Entry()
		if err := entry.Check(record, &made); err != nil {
			return entries, err
		}
		if _, found, err := v.state.Digest(ctx, record.Anchor); err != nil {
			return nil, err
		} else if found {
			return entries, ledger.Corruptf(place, "its anchor stands for a request before it")
		}
		entries = append(entries, made)
	}
	return entries, nil
}
