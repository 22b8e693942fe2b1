package service_test

import (
	"crypto/sha256"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// governed returns a world whose policy one administrator changes.
func governed(t testing.TB, edit func(*token.Policy)) *world {
	t.Helper()
	return newWorld(t, func(p *token.PublicParams) {
		p.Policy.Administrators = token.Administrators{Identities: [][]byte{key(t, "administrator").Identity()}, Threshold: 1}
		if edit != nil {
			edit(&p.Policy)
		}
	})
}

// update lands an update of the policy, and the validator follows it.
func (w *world) update(t testing.TB, edit func(*token.Policy)) {
	t.Helper()
	current := w.validator.Policy()
	next := current.Clone()
	edit(next)
	u := must.Get(policy.New(w.genesis.ID(), current, next))(t)
	must.Do(t, u.Sign(current, key(t, "administrator")))
	raw := must.Get(u.Encode())(t)
	w.ledger.apply(must.Get(w.validator.Validate(t.Context(), validator.TokenFunc(w.ledger.Token), raw, blockTime))(t))
	must.Do(t, w.validator.Follow(t.Context(), w.ledger))
}

// TestNewcomers: an issuer and an auditor whom an update names begin with the parameters, and learn from the ledger that they are
// meant; those whom it leaves out issue and sign no more, and still have their records.
func TestNewcomers(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	w.fund(t, alice, 5)
	w.update(t, func(p *token.Policy) {
		p.Issuers = ledgertest.Issuers(key(t, "another issuer").Identity())
		p.Auditors = ledgertest.Auditors(t, key(t, "another auditor").Identity())
	})
	vaults := [2]*service.Vault{w.vault(t), w.vault(t)}
	t.Cleanup(func() {
		for _, v := range vaults {
			must.Do(t, v.Close())
		}
	})
	ex := executor.Serial()
	issuer := must.Get(service.NewIssueService(w.params, "", smallTables, ex, vaults[0], key(t, "another issuer")))(t)
	auditor := must.Get(service.NewAuditorService(w.params, smallTables, ex, vaults[1], service.Auditor{
		Signer: key(t, "another auditor"), Key: ledgertest.AuditorKey(t, key(t, "another auditor").Identity()),
		Policy: service.SignAll{}, Authorities: []identity.Identity{w.authority.Identity()},
	}))(t)
	must.FailGet(issuer.Issue(ctx, paying(alice.address(t), 7)))(t, zkbench.ErrParams, "an issuer who has not followed")
	must.Do(t, issuer.Sync(ctx, w.ledger))
	must.Do(t, alice.Sync(ctx, w.ledger))
	sub := must.Get(issuer.Issue(ctx, paying(alice.address(t), 7)))(t)
	raw, info := encodings(t, sub)
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrParams, "an auditor who has not followed")
	none := func(ledgers.Record) error { return nil }
	must.Get(auditor.Reconcile(ctx, w.ledger, none))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	must.Get(w.auditor.Reconcile(ctx, w.ledger, none))(t)
	_, _, err = w.auditor.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrParams, "the auditor of before")
	must.FailGet(w.issuer.Issue(ctx, paying(alice.address(t), 7)))(t, zkbench.ErrParams, "the issuer of before")

	former := w.auditor
	w.auditor = auditor
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 12, "what both issuers have issued")

	// The auditor of before, started again, has what it has signed.
	again := must.Get(service.NewAuditorService(w.params, smallTables, ex, w.audited, w.audits(t, service.SignAll{})))(t)
	kept, _, err := again.Signed(w.ledger.log[0].Anchor)
	must.Do(t, err)
	was, _, err := former.Signed(w.ledger.log[0].Anchor)
	must.Do(t, err)
	golden.Equal(t, "what was signed", was, kept)
	if len(kept) == 0 || slices.Equal(kept, raw) {
		t.Error("another record")
	}
}

// TestOwnerKinds: what the policy lets nobody own is not paid to, nor issued, nor made as change, so no token waits for what no validator
// accepts; a lock's token goes where the lock says.
func TestOwnerKinds(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice, bob, carol := w.funded(t, "alice", 100, 30), w.party(t, w.pseudonyms(t, "Bob")), w.party(t, w.key(t, "carol"))
	preimage := []byte("a secret")
	lock := must.Get(service.Locked(sha256.Sum256(preimage), uint64(blockTime.Add(time.Hour).Unix()), alice.address(t), carol.address(t)))(t)
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(lock, 30)))(t))
	w.update(t, func(p *token.Policy) { p.Owners = token.OwnerPseudonym | token.OwnerHashLock })
	must.Get(w.auditor.Reconcile(ctx, w.ledger, func(ledgers.Record) error { return nil }))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	for _, p := range []*party{alice, bob, carol} {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	for name, o := range map[string]service.Order{
		"payee": paying(carol.address(t), 100), "change": paying(bob.address(t), 10), "in a lock": paying(lock, 100),
	} {
		must.FailGet(alice.pay.Transfer(ctx, o))(t, zkbench.ErrPolicy, "%s", name)
		alice.has(t, 100, name)
	}
	must.FailGet(w.issuer.Issue(ctx, paying(carol.address(t), 1)))(t, zkbench.ErrPolicy, "issued")
	wantKept(t, w.issued, 0, "none of what was refused")
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 100)))(t))
	w.land(t, must.Get(carol.pay.Claim(ctx, carol.locked(t)[0].ID, preimage))(t))
	must.Do(t, carol.Sync(ctx, w.ledger))
	carol.has(t, 30, "what was in the lock")
}
