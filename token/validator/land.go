package validator

import (
	"context"
	"errors"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// maxLate is how often Land validates a request again that is late.
const maxLate = 64

// Land validates encoded requests and updates of the policy, and applies to a ledger those that hold, each by itself, in their
// order, in batches that the ledger takes. What is refused while the ledger's policy is another than the validator's is validated again under that: so a request
// behind an update is judged under what the update says, and one that raced with another validator's update too. What the ledger
// rejects for its time is validated again at the ledger's last time, so a validator whose clock lags lands requests too; a
// *ledger.TimeError is left where others have landed later ones maxLate times meanwhile. Result.Err is
// the validator's error, or the ledger's on the entry; err is Follow's, after which the results stand as they are.
func (v *Validator) Land(ctx context.Context, l ledger.Ledger, raws [][]byte, at time.Time) (results []Result, err error) {
	results = make([]Result, len(raws))
	left := make([]int, len(raws)) // indices of what is to be validated
	for i := range left {
		left[i] = i
	}
	for rounds := 0; ; rounds++ {
		version := v.current.Load().Version
		updated := v.land(ctx, l, raws, results, left, at)
		var refused, late []int
		last := at
		for _, i := range left {
			if _, ok := errors.AsType[*zkbench.CheckError](results[i].Err); ok {
				refused = append(refused, i)
			}
			if t, ok := errors.AsType[*ledger.TimeError](results[i].Err); ok {
				late, last = append(late, i), t.Last
			}
		}
		if !updated && len(refused) == 0 {
			return results, nil
		}
		if err := v.Follow(ctx, l); err != nil {
			return results, err
		}
		if left = refused; v.current.Load().Version == version {
			if left = late; !last.After(at) || rounds >= maxLate {
				return results, nil
			}
		}
		at = last
	}
}

// land validates and applies once what is left, and tells whether an update was among it that holds.
func (v *Validator) land(ctx context.Context, l ledger.Ledger, raws [][]byte, results []Result, left []int, at time.Time) (updated bool) {
	some := make([][]byte, len(left))
	for k, i := range left {
		some[k] = raws[i]
	}
	var entries []ledger.Entry
	var applied []int
	for k, r := range v.ValidateBatch(ctx, l, some, at) {
		results[left[k]] = r
		if r.Err == nil {
			updated = updated || r.Valid.Update != nil
			entries, applied = append(entries, r.Valid.Entry()), append(applied, left[k])
		}
	}
	for len(entries) > 0 {
		n := fit(entries)
		rejected, err := l.ApplyEach(ctx, entries[:n])
		for k, i := range applied[:n] {
			switch {
			case err != nil:
				results[i] = Result{Err: err}
			case rejected[k] != nil:
				results[i] = Result{Err: rejected[k]}
			}
		}
		entries, applied = entries[n:], applied[n:]
	}
	return updated
}

// fit is how many entries, from the first, a ledger takes in one batch: at least one.
func fit(entries []ledger.Entry) int {
	size := 0
	for n := range entries {
		if size += entries[n].Size(); n > 0 && (n == ledger.MaxBatch || size > ledger.MaxBatchBytes) {
			return n
		}
	}
	return len(entries)
}
