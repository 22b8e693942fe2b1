package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// UnderPolicy returns a copy of e, as if it had been accepted under the given version of the
// policy.
func UnderPolicy(policy uint64, e ledger.Entry) ledger.Entry {
	e.Policy = policy
	return e
}

// Update returns an entry that updates the policy from the given version to the next one.
func Update(policy uint64) ledger.Entry {
	e := UnderPolicy(policy, Issue(fmt.Sprintf("update %d", policy+1), 0))
	e.Update = true
	return e
}

// stale fails the test unless err rejects the entry with index action because of these policy
// versions.
func stale(t *testing.T, what string, err error, action int, version, current uint64) {
	t.Helper()
	c, ok := errors.AsType[*zkbench.CheckError](err)
	p, also := errors.AsType[*ledger.PolicyError](err)
	if !ok || !also || c.Check != "policy" || c.Action != action || c.Index != -1 || *p != (ledger.PolicyError{Version: version, Current: current}) || !errors.Is(err, zkbench.ErrPolicy) {
		t.Errorf("%s: %v, want entry %d under policy %d rejected at %d", what, err, action, version, current)
	}
}

// policies tests that an entry is accepted only under the version of the policy that is current at
// its position, also within a batch.
func policies(t *testing.T, l Verifier) {
	ctx := context.Background()
	Apply(t, l, Issue("a", 2))
	stale(t, "ahead", l.Apply(ctx, []ledger.Entry{UnderPolicy(1, Issue("b", 1))}), 0, 1, 0)
	stale(t, "behind an update", l.Apply(ctx, []ledger.Entry{Issue("b", 1), Update(0), Issue("c", 1)}), 2, 0, 1)
	if _, err := l.Token(ctx, token.ID("b/0")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("of a batch that was rejected: %v", err)
	}
	// Rejected entries have not raised the version. Each entry is checked at its own position.
	rejected, err := l.ApplyEach(ctx, []ledger.Entry{Issue("b", 1), UnderPolicy(1, Issue("c", 1)), Update(0), UnderPolicy(1, Issue("d", 1)), Issue("e", 1), Update(0)})
	if err != nil || rejected[0] != nil || rejected[2] != nil || rejected[3] != nil || rejected[5] != nil { // the last entry is the third one again
		t.Fatal(rejected, err)
	}
	stale(t, "before the update", rejected[1], 1, 1, 0)
	stale(t, "after the update", rejected[4], 4, 0, 1)
	Apply(t, l, Issue("a", 2), Update(0)) // applied before, so their policies do not matter
	stale(t, "later", l.Apply(ctx, []ledger.Entry{Spend("f", token.ID("a/0"))}), 0, 0, 1)
	other := Update(0)
	other.Digest[0]++
	if err := l.Apply(ctx, []ledger.Entry{other}); !errors.Is(err, zkbench.ErrAnchorConflict) {
		t.Errorf("a competing update: %v", err)
	}
	Apply(t, l, UnderPolicy(1, Spend("f", token.ID("a/0"))), Update(1), Update(2))
	if r, found, err := l.Record(ctx, []byte("update 3")); err != nil || !found || !r.Update || r.Policy != 2 || r.Seq != 7 {
		t.Errorf("%+v, %v, %v", r, found, err)
	}
	if _, found, err := l.Record(ctx, []byte("update 4")); err != nil || found {
		t.Errorf("a record that is not there: %v, %v", found, err)
	}
	var versions []uint64
	for _, r := range Records(t, l, 1) {
		versions = append(versions, r.Policy)
	}
	if want := []uint64{0, 0, 0, 1, 1, 1, 2}; !slices.Equal(versions, want) {
		t.Errorf("policies %v, want %v", versions, want)
	}
}

// raceOfUpdate tests entries that race with updates. Goroutines apply entries under the last
// version that they know while others raise it. Each entry must be in the log under the version
// that the updates before it made, and rejected entries must not be there.
func raceOfUpdate(t *testing.T, l Verifier) {
	const workers, entries, updates = 8, 20, 10
	ctx := context.Background()
	var known, rejected atomic.Uint64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range entries {
				for {
					version := known.Load()
					e := UnderPolicy(version, Issue(fmt.Sprintf("w%d/%d", w, i), 1))
					err := l.Apply(ctx, []ledger.Entry{e})
					if p, ok := errors.AsType[*ledger.PolicyError](err); ok && p.Version == version && p.Current > version {
						rejected.Add(1)
						continue
					}
					if err != nil {
						t.Error(err)
					}
					break
				}
			}
		})
	}
	for range 2 { // two administrators, each with all updates
		wg.Go(func() {
			for v := range uint64(updates) {
				if err := l.Apply(ctx, []ledger.Entry{Update(v)}); err != nil {
					t.Error(err)
				}
				known.Store(max(known.Load(), v+1))
			}
		})
	}
	wg.Wait()
	version, count := uint64(0), 0
	for _, r := range Records(t, l, 1) {
		if r.Policy != version {
			t.Errorf("request %d: under policy %d, want %d", r.Seq, r.Policy, version)
		}
		if r.Update {
			version++
		}
		count++
	}
	if version != updates || count != workers*entries+updates {
		t.Errorf("%d updates, %d records", version, count)
	}
	t.Logf("%d rejected", rejected.Load())
}
