package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Issue returns an entry that creates n tokens. Each id is the anchor, a slash, and a number from 0
// to n-1.
func Issue(anchor string, n int) ledger.Entry {
	e := ledger.Entry{Anchor: []byte(anchor), Digest: [32]byte{1}, Request: []byte("issue " + anchor)}
	for i := range n {
		e.Creates = append(e.Creates, ledger.Created{ID: token.ID(fmt.Sprintf("%s/%d", anchor, i)), Token: []byte("token")})
	}
	return e
}

// Spend returns an entry that spends the tokens with the given ids and creates one token.
func Spend(anchor string, ids ...token.ID) ledger.Entry {
	e := Issue(anchor, 1)
	e.Spends = ids
	return e
}

// Concurrent tests that every token is spent once, and that the log names the entry that spent it. In the
// test, 64 goroutines spend the same tokens, each in its own order, as single tokens and as overlapping
// pairs, while other goroutines read.
func Concurrent(t *testing.T, l ledger.Store) {
	const workers, tokens = 64, 16
	ctx := context.Background()
	issue := Issue("issue", tokens)
	if err := l.Apply(ctx, []ledger.Entry{issue}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	winners := map[string]string{} // token -> anchor
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			order := rand.New(rand.NewPCG(1, uint64(w)))
			for i, k := range order.Perm(tokens) {
				ids := []token.ID{issue.Creates[k].ID}
				if order.IntN(2) == 0 {
					ids = append(ids, issue.Creates[(k+1)%tokens].ID)
				}
				e := Spend(fmt.Sprintf("w%d/%d", w, i), ids...)
				var err error
				if order.IntN(2) == 0 {
					err = l.Apply(ctx, []ledger.Entry{e})
				} else {
					var rejected []error
					if rejected, err = l.ApplyEach(ctx, []ledger.Entry{e}); err == nil {
						err = rejected[0]
					}
				}
				switch {
				case err == nil:
					mu.Lock()
					for _, id := range ids {
						if other, taken := winners[string(id)]; taken {
							t.Errorf("%s spent by %s and %s", id, other, e.Anchor)
						}
						winners[string(id)] = string(e.Anchor)
					}
					mu.Unlock()
				case !errors.Is(err, zkbench.ErrSpent):
					t.Error(err)
				}
				if _, err := l.Token(ctx, ids[0]); err == nil && len(ids) == 1 {
					t.Errorf("%s is unspent after it was spent", ids[0])
				}
			}
		})
	}
	wg.Wait()
	spent := map[string]string{}
	for _, r := range Records(t, l, 0) {
		for _, id := range r.Spends {
			if winners[string(id)] != string(r.Anchor) {
				t.Errorf("request %d: %s spends %s, which %s has won", r.Seq, r.Anchor, id, winners[string(id)])
			}
			if _, twice := spent[string(id)]; twice {
				t.Errorf("request %d: %s is spent twice", r.Seq, id)
			}
			spent[string(id)] = string(r.Anchor)
		}
	}
	if len(spent) != len(winners) {
		t.Errorf("%d tokens spent in the log, %d won", len(spent), len(winners))
	}
	for _, c := range issue.Creates {
		if _, err := l.Token(ctx, c.ID); (err == nil) == (winners[string(c.ID)] != "") {
			t.Errorf("%s: %v, won by %q", c.ID, err, winners[string(c.ID)])
		}
	}
}

// same has 64 goroutines apply one batch at the same time. The batch must be applied once, and every call
// must return nil.
func same(t *testing.T, l Verifier) {
	ctx := context.Background()
	batch := []ledger.Entry{Issue("a", 1), Spend("b", token.ID("a/0"))}
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if err := l.Apply(ctx, batch); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := len(Records(t, l, 0)); n != len(batch) {
		t.Errorf("%d records, want %d", n, len(batch))
	}
}

// verifyWhileApplying verifies a ledger while batches are applied. Every snapshot must pass.
func verifyWhileApplying(t *testing.T, l Verifier) {
	t.Helper()
	const batches = 100
	ctx := context.Background()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for k := range batches {
			if err := l.Apply(ctx, StreamBatch(0, k)); err != nil {
				t.Error(err)
			}
		}
	}()
	for applying := true; applying; {
		select {
		case <-done:
			applying = false
		default:
		}
		if _, err := l.Verify(ctx, nil); err != nil {
			t.Fatal(err)
		}
	}
	if n := Applied(t, l)[0]; n != batches {
		t.Errorf("%d batches, want %d", n, batches)
	}
}
