package validator_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

// batchOf returns requests of one payment each. Those whose numbers are in bad have a changed proof.
func (s *system) batchOf(ids []token.ID, n int, bad ...int) (raws [][]byte) {
	for i := range n {
		anchor := fmt.Sprintf("pay %d", i)
		a, _ := s.moved(anchor, 0, "", ids[:1], output(s.owners[1].Identity(), 100))
		for _, b := range bad {
			if b == i {
				a.Raw[len(a.Raw)-1] ^= 1
			}
		}
		raws = append(raws, s.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, []identity.Signer{s.owners[0]}))
	}
	return raws
}

// TestExecutorFails: whichever of a validator's calls of its executor fails, and however many of the tasks have run, no
// request is valid, good or bad, of the part of the batch that the call is for.
func TestExecutorFails(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	failsOn(t, s, s.batchOf(ids, 9, 4), 9)
	failsOn(t, s, s.batchOf(ids, 33, 4), 16, 33)
}

// failsOn: a batch has parts that end before the given requests.
func failsOn(t *testing.T, s *system, raws [][]byte, ends ...int) {
	for runs := range 2 {
		for calls := 0; ; calls++ {
			var left atomic.Int64
			v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), exectest.Refusing(exectest.Wide(2), &left, runs), smallTables, 100))(t)
			left.Store(int64(calls)) // calls of New do not count
			results := v.ValidateBatch(t.Context(), s.ledger, raws, s.at)
			if left.Load() >= 0 { // none was refused
				for i, r := range results {
					golden.Equal(t, fmt.Sprintf("request %d is valid", i), i != 4, r.Err == nil)
				}
				if calls < 8 {
					t.Errorf("only %d calls", calls)
				}
				break
			}
			from, failed := 0, 0
			for _, end := range ends {
				valid, good := 0, end-from
				if from <= 4 && 4 < end {
					good--
				}
				for i, r := range results[from:end] {
					if (r.Err == nil) != (r.Valid != nil) || i+from == 4 && r.Err == nil {
						t.Errorf("request %d after call %d has failed: valid %v, error %v", i+from, calls, r.Valid != nil, r.Err)
					}
					if r.Err == nil {
						valid++
					}
				}
				if valid == 0 {
					failed++
				} else if valid != good {
					t.Errorf("%d of %d good requests of a part are valid after call %d has failed with %d tasks run", valid, good, calls, runs)
				}
				from = end
			}
			if failed == 0 || calls == 0 && failed < len(ends) {
				t.Errorf("%d parts have failed after call %d has failed with %d tasks run", failed, calls, runs)
			}
		}
	}
}

// TestContextEnds: whenever a context ends in a validator's work, be it the caller's or that of the executor's tasks, every
// request has a verdict, and none is valid that would not be otherwise.
func TestContextEnds(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	raws := s.batchOf(ids, 5, 3)
	for _, ex := range []executor.Executor{executor.Serial(), exectest.Wide(2)} {
		asked, err := exectest.EachEnded(t, ex, func(ctx context.Context, ex executor.Executor) error {
			v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), ex, smallTables, 100))(t)
			var ended error
			for i, r := range v.ValidateBatch(ctx, s.ledger, raws, s.at) {
				if (r.Err == nil) != (r.Valid != nil) || i == 3 && r.Err == nil {
					t.Errorf("request %d: valid %v, error %v", i, r.Valid != nil, r.Err)
				}
				if i != 3 {
					ended = errors.Join(ended, r.Err)
				}
			}
			return ended
		})
		must.Do(t, err)
		if asked < 20 {
			t.Errorf("asked only %d times", asked)
		}
	}
}

// TestBatchOnEveryExecutor: the verdicts do not depend on the executor.
func TestBatchOnEveryExecutor(t *testing.T) {
	s, ids := funded(t, token.RedeemOwner)
	raws := s.batchOf(ids, 40, 0, 7, 39) // in up to two parts
	raws[11] = raws[11][:len(raws[11])-1]
	exectest.Each(t, func(t *testing.T, ex executor.Executor) {
		v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), ex, smallTables, 100))(t)
		for i, r := range v.ValidateBatch(t.Context(), s.ledger, raws, s.at) {
			golden.Equal(t, fmt.Sprintf("request %d is valid", i), i != 0 && i != 7 && i != 11 && i != 39, r.Err == nil)
		}
	})
}

// TestPanicInPart: of a batch in two parts, only the request over which the validator panics fails.
func TestPanicInPart(t *testing.T) {
	t.Parallel()
	const bad = 20 // in the second part
	s, ids := funded(t, token.RedeemOwner)
	raws := s.batchOf(ids, 33)
	a, _ := s.moved("bad", 0, "", ids[1:2], output(s.owners[1].Identity(), 100))
	raws[bad] = s.sign(&request.Request{Anchor: []byte("bad"), Actions: []request.Action{a}}, s.owners[1:2])
	v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), exectest.Wide(2), smallTables, 100))(t)
	for i, r := range v.ValidateBatch(t.Context(), fragile{s.ledger, ids[1]}, raws, s.at) {
		if i != bad {
			must.Do(t, r.Err, i)
			golden.Equal(t, "anchor", fmt.Sprint("pay ", i), string(r.Valid.Anchor))
		} else if p, is := errors.AsType[*executor.PanicError](r.Err); !is || p.Value != "over "+string(ids[1]) {
			t.Errorf("%v, want a panic", r.Err)
		}
	}
}
