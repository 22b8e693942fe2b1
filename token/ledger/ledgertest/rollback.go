package ledgertest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// RolledBack tests that a store notices when an earlier state of it is restored. Ten callers pay, and each begins
// again with its next payment. When each has paid a few times, RolledBack calls restore. Every payment that begins after
// that must fail, and the function told must return true for its error. That also holds for payments that would spend
// a token again which was spent before, and, after the first payment that failed, for calls about heads.
func RolledBack(t testing.TB, l ledger.Store, restore func(), told func(error) bool) {
	t.Helper()
	const callers = 10
	ctx := context.Background()
	issue := Issue("issue", callers)
	if err := l.Apply(ctx, []ledger.Entry{issue}); err != nil {
		t.Fatal(err)
	}
	payment := func(caller, k int, anchor string) []ledger.Entry {
		spent := issue.Creates[caller].ID
		if k > 0 {
			spent = token.ID(fmt.Sprintf("%d/%d/0", caller, k-1))
		}
		return []ledger.Entry{Spend(anchor, spent)}
	}
	var restored atomic.Bool
	var acknowledged [callers]int
	var paid, all sync.WaitGroup
	paid.Add(callers)
	for caller := range callers {
		all.Go(func() {
			for k := 0; ; k++ {
				late := restored.Load()
				err := l.Apply(ctx, payment(caller, k, fmt.Sprintf("%d/%d", caller, k)))
				if err == nil && late {
					t.Errorf("payment %d of caller %d is acknowledged after the earlier state was restored", k, caller)
				}
				if err != nil && late && !told(err) {
					t.Errorf("payment %d of caller %d: %v", k, caller, err)
				}
				if k == 3 || (err != nil && k < 3) {
					paid.Done()
				}
				if err != nil {
					return
				}
				acknowledged[caller] = k + 1
			}
		})
	}
	paid.Wait()
	if err := l.PutHead(ctx, 1, []byte("head"), true); err != nil {
		t.Error(err)
	}
	restore()
	restored.Store(true)
	all.Wait()
	for caller, n := range acknowledged {
		if n < 3 {
			t.Errorf("caller %d has paid %d times", caller, n)
		}
		for k := range n {
			if err := l.Apply(ctx, payment(caller, k, fmt.Sprintf("again %d/%d", caller, k))); !told(err) {
				t.Errorf("payment %d of caller %d, again: %v", k, caller, err)
			}
		}
	}
	if err := l.PutHead(ctx, 1, []byte("another head"), true); !told(err) {
		t.Errorf("a head after the earlier state was restored: %v", err)
	}
	for what, read := range map[string]func(context.Context) ([]byte, error){"head that counts": l.Head, "newest head": l.Proposed} {
		if signed, err := read(ctx); !told(err) {
			t.Errorf("%s after the earlier state was restored: %q, %v", what, signed, err)
		}
	}
}
