package service_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/ledger"
)

// TestNotesOfThePolicy: the policy says with which KEM openings are encrypted to payees. A payer refuses an address that asks for another one, and
// an auditor a request that has notes of another one, as a payer who does not follow the policy makes it.
func TestNotesOfThePolicy(t *testing.T) {
	w := governed(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 100), w.party(t, w.key(t, "bob"))
	old := bob.address(t)
	late := must.Get(alice.pay.Transfer(ctx, paying(old, 10)))(t)
	w.update(t, func(p *token.Policy) { p.Notes = token.MLKEM768X25519 })
	must.Get(w.auditor.Reconcile(ctx, w.ledger, func(ledger.Record) error { return nil }))(t)
	_, err := w.submit(t, late)
	c, ok := err.(*zkbench.CheckError)
	if !ok || c.Check != audit.Owners || c.Action != 0 {
		t.Errorf("notes under the KEM of the policy before: %v", err)
	}
	must.Do(t, alice.Discard(ctx, late.Request.Anchor))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, bob.Sync(ctx, w.ledger))
	must.FailGet(alice.pay.Transfer(ctx, paying(old, 10)))(t, zkbench.ErrPolicy, "an address of the policy before")
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 10)))(t))
	must.Do(t, bob.Sync(ctx, w.ledger))
	bob.has(t, 10, "paid with a note of the policy")
	golden.Equal(t, "KEM", token.MLKEM768X25519, bob.address(t).Members[0].Payee.KEM)
}
