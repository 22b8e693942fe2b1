package service_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/request"
)

// TestLargestRequest: a party of a deal fills the request up to the limits of the encodings, with actions that nobody has verified. What the
// other party has signed is read again all the same: its vault follows the log, and frees the tokens.
func TestLargestRequest(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 100), w.party(t, w.key(t, "bob"))
	w.give(t, bob, bond, 9)
	sub := sent(t, swap(t, alice, bob, "deal"))
	output, note := token.Token{Owner: []byte{2}, Commitment: make([]byte, 32)}, make([]byte, token.MaxNote)
	filled := action.Action{Outputs: []token.Token{output, output}, Notes: [][]byte{note, note}, Metadata: make([]byte, token.MaxMetadata)}
	raw := must.Get(filled.Encode(make([]byte, 1<<20)))(t)
	for len(sub.Request.Actions) < request.MaxActions {
		sub.Request.Actions = append(sub.Request.Actions, request.Action{Kind: token.Issue, ProofType: token.CSP, Raw: raw})
		sub.Information.Actions = append(sub.Information.Actions, audit.Action{Sealed: &audit.Sealed{Copies: []audit.Copy{{Ciphertext: make([]byte, 70_000)}}}})
	}
	if raw, info := encodings(t, sub); len(raw)+len(info) <= token.MaxRequest {
		t.Fatalf("%d and %d bytes", len(raw), len(info))
	}
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	wantKept(t, alice.Vault, 1, "what she has signed")
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, alice.Release(ctx, sub.Request.Anchor))
	alice.has(t, 100, "what is released")
	golden.Equal(t, "findings", 0, len(must.Get(alice.Compare(ctx, w.ledger))(t)))
}
