package service_test

import (
	"errors"
	"slices"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
)

// limits sets the limit of metadata, which tells policies apart here.
func limits(n int) func(p *token.Policy) { return func(p *token.Policy) { p.Limits.Metadata = n } }

// under fails the test unless the party pays under a policy that allows so many bytes of metadata, and no more.
func (p *party) under(t *testing.T, n int) {
	t.Helper()
	o := paying(service.Address{}, 1)
	o.Metadata = make([]byte, n+1)
	must.FailGet(p.pay.Transfer(t.Context(), o))(t, zkbench.ErrLimit, "%d bytes of metadata", n+1)
	o.Metadata = make([]byte, n)
	sub := must.Get(p.pay.Transfer(t.Context(), o))(t)
	must.Do(t, p.Discard(t.Context(), sub.Request.Anchor))
}

// TestLyingUpdate: an update in the log under another anchor, of another policy, twice, or left out, is refused, and the vault neither keeps it nor stays
// behind what the log shows.
func TestLyingUpdate(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 5)
	w.update(t, limits(11))
	w.update(t, limits(12))
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	w.fund(t, alice, 1)
	alice.under(t, 12)
	for name, lie := range map[string]func([]ledgers.Record) []ledgers.Record{
		"another anchor":        func(log []ledgers.Record) []ledgers.Record { log[1].Anchor = []byte("x"); return log },
		"the next one's anchor": func(log []ledgers.Record) []ledgers.Record { log[1].Anchor = policy.Anchor(2); return log },
		"no update":             func(log []ledgers.Record) []ledgers.Record { log[1].Update = false; return log },
		"under another policy":  func(log []ledgers.Record) []ledgers.Record { log[1].Policy = 1; return log },
		"the second first":      func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[2], log[1], log[3]) },
		"the first left out":    func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[2], log[3]) },
		"both left out":         func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[3]) },
		"the first, twice":      func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[1], log[1], log[2], log[3]) },
	} {
		p := w.party(t, w.key(t, "alice"))
		must.Do(t, p.Sync(ctx, copyOf{w.ledger, 1}))
		if err := p.Sync(ctx, w.ledger.lying(lie)); !isCorrupt(err) {
			t.Errorf("%s: %v, want a corrupt ledger", name, err)
		}
		must.Do(t, p.Sync(ctx, w.ledger), name)
		p.under(t, 12)
		must.Do(t, p.Close())
		if _, err := auditorOf(t, w, service.SignAll{}).Reconcile(ctx, w.ledger.lying(lie), func(ledgers.Record) error { return nil }); !isCorrupt(err) {
			t.Errorf("%s: the auditor: %v, want a corrupt ledger", name, err)
		}
	}
	// What a ledger answers about an update's anchor is worth nothing until its log has the update.
	p := w.party(t, w.key(t, "alice"))
	short := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record { return log[:1] })
	must.Do(t, p.Sync(ctx, short))
	p.under(t, 10)
}

// TestWrongUpdate: a vault that has kept an update which does not hold, or lost one, opens under the policy before it, names it, and has the right one from
// an honest ledger, with all behind it and all that it has kept besides.
func TestWrongUpdate(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 5, 6)
	for _, n := range []int{11, 12, 13} {
		w.update(t, limits(n))
	}
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Get(alice.pay.Transfer(ctx, paying(service.Address{}, 5)))(t)
	for name, edit := range map[string]func(b *bbolt.Bucket, right []byte) error{
		"of another anchor": func(b *bbolt.Bucket, _ []byte) error {
			return b.Put(policy.Anchor(2), service.Seal("policies", policy.Anchor(2), w.ledger.log[3].Request))
		},
		"unsigned": func(b *bbolt.Bucket, right []byte) error {
			bad := slices.Clone(right)
			bad[len(bad)-1] ^= 1
			return b.Put(policy.Anchor(2), service.Seal("policies", policy.Anchor(2), bad))
		},
		"nonsense": func(b *bbolt.Bucket, _ []byte) error {
			return b.Put(policy.Anchor(2), service.Seal("policies", policy.Anchor(2), []byte{0x81}))
		},
		"damaged": func(b *bbolt.Bucket, _ []byte) error { return b.Put(policy.Anchor(2), []byte("x")) },
		"lost":    func(b *bbolt.Bucket, _ []byte) error { return b.Delete(policy.Anchor(2)) },
	} {
		t.Run(name, func(t *testing.T) {
			must.Do(t, alice.Close())
			editFile(t, alice.path, func(tx *bbolt.Tx) error { return edit(tx.Bucket([]byte("policies")), w.ledger.log[2].Request) })
			v := must.Get(service.OpenVault(alice.path, w.genesis))(t)
			alice.Wallet = must.Get(service.NewWallet(w.params, v, alice.keys))(t)
			alice.pay = w.transfer.With(alice.Wallet)
			alice.under(t, 11)
			findings := must.Get(alice.Compare(ctx, w.ledger))(t)
			if named := slices.ContainsFunc(findings, func(f service.Finding) bool { return f.Kind == service.PolicyWrong }); named == (name == "lost") {
				t.Errorf("findings %v", findings)
			}
			withheld := newMemory(w.genesis)
			withheld.log = w.ledger.log
			if err := alice.Sync(ctx, withheld); !isCorrupt(err) {
				t.Errorf("%v, want a ledger that does not have what the vault has followed", err)
			}
			must.Do(t, alice.Sync(ctx, w.ledger))
			alice.under(t, 13)
			wantKept(t, alice.Vault, 1, "what waits")
			golden.Equal(t, "findings", nil, must.Get(alice.Compare(ctx, w.ledger))(t))
			// And it is kept.
			must.Do(t, alice.Close())
			v = must.Get(service.OpenVault(alice.path, w.genesis))(t)
			alice.Wallet = must.Get(service.NewWallet(w.params, v, alice.keys))(t)
			alice.pay = w.transfer.With(alice.Wallet)
			alice.under(t, 13)
		})
	}
}

// TestTwoReaders: an issuer and an auditor with one vault each follow the log from its first record, and the policy to the same updates; the one that comes
// second refuses another update than the first has followed.
func TestTwoReaders(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	ctx := t.Context()
	w.update(t, limits(11))
	both := must.Get(service.NewIssueService(w.params, "", smallTables, serial, w.audited, key(t, "issuer")))(t)
	w.check(t, w.audited)
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	current := w.params.Policy.Clone()
	next := current.Clone()
	limits(12)(next)
	u := must.Get(policy.New(w.genesis.ID(), current, next))(t)
	must.Do(t, u.Sign(current, key(t, "administrator")))
	other := w.ledger.lying(func([]ledgers.Record) []ledgers.Record {
		return []ledgers.Record{w.recorded(t, 1, must.Get(u.Encode())(t))}
	})
	if err := both.Sync(ctx, other); !isCorrupt(err) {
		t.Errorf("%v, want another update of one policy refused", err)
	}
	must.Do(t, both.Sync(ctx, w.ledger))
	w.update(t, limits(13))
	must.Do(t, both.Sync(ctx, w.ledger))
	w.update(t, limits(14))
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	must.Do(t, both.Sync(ctx, w.ledger))
	alice := w.party(t, w.key(t, "alice"))
	o := paying(alice.address(t), 1)
	o.Metadata = make([]byte, 14)
	w.land(t, must.Get(both.Issue(ctx, o))(t))
	must.Do(t, both.Sync(ctx, w.ledger))
	golden.Equal(t, "landed", 1, must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t))
}

// TestAnotherUpdate: a vault that has followed a log with another update, signed by the administrators too, follows the one that a ledger has taken when it begins
// anew, also after it was opened again.
func TestAnotherUpdate(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 5)
	current := w.params.Policy.Clone()
	next := current.Clone()
	limits(12)(next)
	u := must.Get(policy.New(w.genesis.ID(), current, next))(t)
	must.Do(t, u.Sign(current, key(t, "administrator")))
	must.Do(t, alice.Sync(ctx, w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		return append(log, w.recorded(t, 2, must.Get(u.Encode())(t)))
	})))
	alice.under(t, 12)
	w.update(t, limits(11))
	if err := alice.Sync(ctx, w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want another log", err)
	}
	must.Do(t, alice.FollowAnew(ctx))
	must.Do(t, alice.Close())
	v := must.Get(service.OpenVault(alice.path, w.genesis))(t)
	alice.Wallet = must.Get(service.NewWallet(w.params, v, alice.keys))(t)
	alice.pay = w.transfer.With(alice.Wallet)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.under(t, 11)
	alice.has(t, 5, "of the honest log")
}

// TestStrayBeforeUpdate: an update behind a stray that nobody has taken is followed when that is taken, and not before.
func TestStrayBeforeUpdate(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	for range 2 {
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t))
	}
	w.update(t, func(p *token.Policy) { p.Issuers[0].Types = []string{"EUR"} })
	fresh := auditorOf(t, w, service.SignAll{})
	raw, info := encodings(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t))
	stop, told := errors.New("stop"), 0
	_, err := fresh.Reconcile(ctx, w.ledger, func(r ledgers.Record) error {
		if told++; told == 2 {
			return stop
		}
		return nil
	})
	must.Fail(t, err, stop, "the second stray is not taken")
	_, _, err = fresh.Sign(ctx, raw, info)
	must.Do(t, err, "under the policy of the place")
	told = 2
	must.Get(fresh.Reconcile(ctx, w.ledger, func(r ledgers.Record) error { told++; return nil }))(t)
	golden.Equal(t, "told of, in all", 3, told)
	_, _, err = fresh.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrPolicy, "under the update")
}
