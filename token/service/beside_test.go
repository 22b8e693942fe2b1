package service_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestEverythingAtOnce: payers who use their anchors again, and pay, discard, release and
// submit, beside Syncs that run all the time. No money is made or lost.
func TestEverythingAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	ctx := context.Background()
	const tokens, value = 24, 10
	alice := w.funded(t, "alice", slices.Repeat([]uint64{value}, tokens)...)

	var ledger sync.Mutex // the auditor's yes and the ledger's are one step
	var landed, refused atomic.Int32
	pay := func(rng *rand.Rand, anchor string) error {
		to, err := alice.Address(nil)
		if err != nil {
			return err
		}
		sub, err := alice.pay.Transfer(ctx, anchored(anchor, paying(to, 1+rng.Uint64N(2*value))))
		if errors.Is(err, zkbench.ErrPolicy) || errors.Is(err, zkbench.ErrAnchorConflict) || errors.Is(err, zkbench.ErrSpent) {
			return nil // no funds; the anchor waits for a Sync; the token was found spent
		}
		if err != nil {
			return err
		}
		// Sync drops what it has found dead: then there is nothing to take back.
		known := func(err error) error {
			if errors.Is(err, zkbench.ErrParams) {
				return nil
			}
			return err
		}
		switch rng.IntN(4) {
		case 0:
			return known(alice.Discard(ctx, sub.Request.Anchor))
		case 1:
			if err := known(alice.Release(ctx, sub.Request.Anchor)); err != nil {
				return err
			}
		}
		ledger.Lock()
		_, err = w.submit(t, sub)
		ledger.Unlock()
		if err != nil { // an anchor that has landed, or an input that is spent
			refused.Add(1)
			return known(alice.Discard(ctx, sub.Request.Anchor))
		}
		landed.Add(1)
		return nil
	}

	var payers, settlers sync.WaitGroup
	var done atomic.Bool
	for i := range 3 {
		payers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(i), 1))
			for range 40 {
				if err := pay(rng, fmt.Sprintf("%d/%d", i, rng.IntN(20))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 3 {
		settlers.Go(func() {
			for !done.Load() {
				if err := alice.Sync(ctx, w.ledger); err != nil {
					t.Error(err)
				}
			}
		})
	}
	payers.Wait()
	done.Store(true)
	settlers.Wait()

	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 0, "all of which have landed or can never")
	if got := alice.balance(t); got != tokens*value || alice.Taken() != 0 {
		t.Errorf("%d of %d, %d tokens taken", got, tokens*value, alice.Taken())
	}
	if landed.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d landed and %d refused: the test is to see both", landed.Load(), refused.Load())
	}
}
