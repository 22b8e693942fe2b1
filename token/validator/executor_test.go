package validator_test

import (
	"context"
	"errors"
	"fmt"
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

// refusing is an executor of which one call of Do fails: after a number of calls that do not, it runs only the first of
// the tasks, or none.
type refusing struct {
	executor.Executor
	left *int
	runs int
}

var errRefused = errors.New("refused")

func (r refusing) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	*r.left--
	if *r.left != -1 {
		return r.Executor.Do(ctx, n, task)
	}
	if err := executor.Serial().Do(ctx, min(n, r.runs), task); err != nil {
		return err
	}
	return errRefused
}

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
// request is valid, good or bad.
func TestExecutorFails(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	raws := s.batchOf(ids, 9, 4)
	for runs := range 2 {
		for calls := 0; ; calls++ {
			left := calls
			v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), refusing{exectest.Wide(2), &left, runs}, smallTables, 100))(t)
			left = calls // calls of New do not count
			results := v.ValidateBatch(t.Context(), s.ledger, raws, s.at)
			if left >= 0 { // none was refused
				for i, r := range results {
					golden.Equal(t, fmt.Sprintf("request %d is valid", i), i != 4, r.Err == nil)
				}
				if calls < 8 {
					t.Errorf("only %d calls", calls)
				}
				break
			}
			for i, r := range results {
				if r.Err == nil || r.Valid != nil {
					t.Errorf("request %d is valid after call %d has failed with %d tasks run", i, calls, runs)
				}
			}
		}
	}
}

// TestBatchOnEveryExecutor: the verdicts do not depend on the executor.
func TestBatchOnEveryExecutor(t *testing.T) {
	s, ids := funded(t, token.RedeemOwner)
	raws := s.batchOf(ids, 20, 0, 7, 19)
	raws[11] = raws[11][:len(raws[11])-1]
	exectest.Each(t, func(t *testing.T, ex executor.Executor) {
		v := must.Get(validator.New(s.params, ledgertest.Genesis(t, s.params), ex, smallTables, 100))(t)
		for i, r := range v.ValidateBatch(t.Context(), s.ledger, raws, s.at) {
			golden.Equal(t, fmt.Sprintf("request %d is valid", i), i != 0 && i != 7 && i != 11 && i != 19, r.Err == nil)
		}
	})
}
