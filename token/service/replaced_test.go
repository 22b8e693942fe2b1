package service_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// TestStolenIssuer: the issuer's key is replaced while the system runs: the stolen one issues nothing that an auditor or a validator takes,
// whoever follows knows, after a crash too, and what was issued before is money.
func TestStolenIssuer(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	thief := must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t)
	w.update(t, func(p *token.Policy) { p.Issuers = ledgertest.Issuers(key(t, "issuer 2").Identity()) })
	raw, info := encodings(t, thief)
	signature, _, err := w.auditor.Sign(ctx, raw, info)
	must.Do(t, err, "an auditor who has not heard of it")
	thief.Request.Auditors[0] = signature
	_, err = w.validator.Validate(ctx, validator.TokenFunc(w.ledger.Token), must.Get(thief.Request.Encode())(t), blockTime)
	must.Fail(t, err, zkbench.ErrPolicy, "by the stolen key")
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	again := must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 2)))(t)
	raw, info = encodings(t, again)
	_, _, err = w.auditor.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrPolicy, "an auditor who has heard of it")
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	must.FailGet(w.issuer.Issue(ctx, paying(alice.address(t), 3)))(t, zkbench.ErrParams, "by who is no issuer any more")

	path := w.path()
	vault := must.Get(service.CreateVault(path, w.genesis))(t)
	next := must.Get(service.NewIssueService(w.params, "", smallTables, serial, vault, key(t, "issuer 2")))(t)
	must.FailGet(next.Issue(ctx, paying(alice.address(t), 4)))(t, zkbench.ErrParams, "before it has heard of it")
	must.Do(t, next.Sync(ctx, w.ledger))
	must.Do(t, vault.Close())
	vault = must.Get(service.OpenVault(path, w.genesis))(t)
	defer vault.Close()
	next = must.Get(service.NewIssueService(w.params, "", smallTables, serial, vault, key(t, "issuer 2")))(t)
	w.land(t, must.Get(next.Issue(ctx, paying(alice.address(t), 5)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 105, "what was issued before, and by the new key")
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(service.Address{}, 105)))(t))
}

// TestStolenAuditor: another auditor takes over. Addresses that were sealed to the old one are refused by name, and new ones, and tokens at
// old ones, are not.
func TestStolenAuditor(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.pseudonyms(t, "Bob"))
	w.fund(t, alice, 100)
	old := bob.address(t)
	second := key(t, "auditor 2")
	w.update(t, func(p *token.Policy) { p.Auditors = ledgertest.Auditors(t, second.Identity()) })
	vault := w.vault(t)
	defer vault.Close()
	who := w.audits(t, service.SignAll{})
	who.Signer, who.Key = second, ledgertest.AuditorKey(t, second.Identity())
	w.auditor = must.Get(service.NewAuditorService(w.params, smallTables, serial, vault, who))(t)
	must.Get(w.auditor.Reconcile(ctx, w.ledger, func(ledger.Record) error { return nil }))(t)
	early := must.Get(alice.pay.Transfer(ctx, paying(old, 30)))(t)
	must.FailGet(w.submit(t, early))(t, zkbench.ErrPolicy, "by a payer who has not heard of it")
	must.Do(t, alice.Discard(ctx, early.Request.Anchor))
	must.Do(t, alice.Sync(ctx, w.ledger))
	_, err := alice.pay.Transfer(ctx, paying(old, 30))
	must.Fail(t, err, zkbench.ErrPolicy, "an address that was sealed to the auditor before")
	golden.Contains(t, err.Error(), "the auditors of policy 1", "must make a new one")
	must.Do(t, bob.Sync(ctx, w.ledger))
	report := w.land(t, must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 30)))(t))
	golden.Equal(t, "the payer, whose token is older than the auditor", "Alice", report.Actions[0].Inputs[0].Owners[0].Name)

	// An update that leaves the auditor's key alone leaves addresses alone.
	kept := bob.address(t)
	w.update(t, func(p *token.Policy) { p.Limits.Metadata = 5 })
	must.Get(w.auditor.Reconcile(ctx, w.ledger, func(ledger.Record) error { return nil }))(t)
	must.Do(t, alice.Sync(ctx, w.ledger))
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(kept, 10)))(t))
	must.FailGet(alice.pay.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{Value: 1}}, Metadata: make([]byte, 6)}))(t, zkbench.ErrLimit, "a limit of the policy that it has followed")
}

// TestAuditOfBefore: what an auditor has signed under one policy is not good under the next.
func TestAuditOfBefore(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	sub := must.Get(w.issuer.Issue(ctx, withType("EUR", paying(alice.address(t), 5))))(t)
	raw, info := encodings(t, sub)
	signature, _, err := w.auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	w.update(t, func(p *token.Policy) { p.Issuers[0].Types = []string{usd} })
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	_, _, err = w.auditor.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrPolicy, "signed again")
	sub.Request.Auditors[0] = signature
	_, err = w.validator.Validate(ctx, validator.TokenFunc(w.ledger.Token), must.Get(sub.Request.Encode())(t), blockTime)
	must.Fail(t, err, zkbench.ErrSignature, "an issue of EUR under a policy that lets nobody issue it")
	good := must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 5)))(t)
	w.update(t, func(p *token.Policy) { p.Limits.Metadata = 9 })
	_, err = w.submit(t, good)
	must.Fail(t, err, zkbench.ErrSignature, "by an auditor who has not followed")
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	w.land(t, good)
}

// TestForgedUpdate: a log with an update which administrators have not signed is refused, and the vault stays where it is.
func TestForgedUpdate(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 5)
	current := w.validator.Policy()
	next := current.Clone()
	next.Issuers = ledgertest.Issuers(key(t, "thief").Identity())
	u := must.Get(policy.New(w.genesis.ID(), current, next))(t)
	w.ledger.append(t, must.Get(u.Encode())(t))
	if err := alice.Sync(ctx, w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want a policy without signatures refused", err)
	}
	if _, err := w.auditor.Reconcile(ctx, w.ledger, nil); !isCorrupt(err) {
		t.Errorf("%v, want the auditor to refuse it too", err)
	}
	w.ledger.log = w.ledger.log[:len(w.ledger.log)-1]
	must.Do(t, alice.Sync(ctx, w.ledger))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 6, "under the policy of before")
}
