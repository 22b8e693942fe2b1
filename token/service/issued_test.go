package service_test

import (
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/service"
)

// TestIssueOnceAtATime: callers who give one order at the same time get one submission, and its place on the ledger when it is there.
func TestIssueOnceAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	o := service.Order{Anchor: []byte("an issue"), Type: usd, Payments: []service.Payment{{To: alice.address(t), Value: 5}}}
	subs := make([]*service.Submission, 4)
	var callers sync.WaitGroup
	for i := range subs {
		callers.Go(func() { subs[i], _, _ = w.issuer.IssueOnce(t.Context(), o) })
	}
	callers.Wait()
	for i, sub := range subs {
		if sub == nil {
			t.Fatalf("caller %d got nothing", i)
		}
		golden.Equal(t, "request", must.Get(subs[0].Request.Encode())(t), must.Get(sub.Request.Encode())(t))
	}
	w.land(t, subs[1])
	must.Do(t, w.issuer.Sync(t.Context(), w.ledger))
	sub, m, err := w.issuer.IssueOnce(t.Context(), o)
	must.Do(t, err)
	if sub != nil || m == nil || m.Number != 1 {
		t.Errorf("after it has landed: %v, %+v", sub, m)
	}
	_, _, err = w.issuer.IssueOnce(t.Context(), service.Order{Type: usd, Payments: o.Payments})
	must.Fail(t, err, zkbench.ErrParams, "no anchor")
	o.Anchor = []byte("another")
	sub, _, err = w.issuer.IssueOnce(t.Context(), o)
	must.Do(t, err)
	must.Do(t, w.issued.Discard(t.Context(), sub.Request.Anchor))
	_, _, err = w.issuer.IssueOnce(t.Context(), o)
	must.Fail(t, err, zkbench.ErrAnchorConflict, "an issue that was discarded")
}
