package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// TestPayment: an issuer, an auditor, a validator and two wallets pay each other over the network, and the issuer approves
// what is redeemed.
func TestPayment(t *testing.T) {
	t.Parallel()
	s := newSystem(t, true, nil)
	ctx := t.Context()
	alice, bob := s.wallet("alice"), s.wallet("bob")
	program := s.issuerFor(peer.Issuer)
	anchor, number, err := program.Issue(ctx, "first", usd, service.Payment{To: alice.address(), Value: 100}, service.Payment{To: bob.address(), Value: 1})
	must.Do(t, err)
	golden.Equal(t, "record", uint64(1), number)
	r, found, err := alice.ledger.Record(ctx, anchor)
	must.Do(t, err)
	golden.Equal(t, "found", true, found && r.Seq == number)
	alice.holds("100")
	golden.Equal(t, "record of the payment", uint64(2), alice.pays(bob.address(), 30).Seq)
	alice.holds("70")
	bob.holds("31")

	sub := must.Get(bob.transfer.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{Value: 5}}}))(t)
	redeemed := must.Get(sub.Redeemed(0))(t)
	approver := s.issuerFor(peer.Wallet)
	must.Fail(t, approver.Approve(ctx, sub.Request, 0, token.Opening{Type: usd, Value: 6, Blinding: redeemed[0].Blinding}), zkbench.ErrPolicy, "another value")
	must.Fail(t, approver.Approve(ctx, sub.Request, 1, redeemed...), zkbench.ErrParams, "no such action")
	must.Do(t, approver.Approve(ctx, sub.Request, 0, redeemed...))
	bob.submit(sub)
	bob.holds("26")
}

// TestIssueOnce: a key issues once, whatever happens between, and for one purpose.
func TestIssueOnce(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	ctx := t.Context()
	alice := s.wallet("alice")
	pays := service.Payment{To: alice.address(), Value: 7}
	program := s.issuerFor(peer.Issuer)
	first, number, err := program.Issue(ctx, "a key", usd, pays)
	must.Do(t, err)
	for range 2 { // before and after the issuer has seen its record
		again, same, err := program.Issue(ctx, "a key", usd, pays)
		must.Do(t, err)
		golden.Equal(t, "anchor", first, again)
		golden.Equal(t, "record", number, same)
		must.Do(t, s.issuer.Sync(ctx, s.store))
	}
	other := pays
	other.Value++
	_, _, err = program.Issue(ctx, "a key", usd, other)
	must.Fail(t, err, zkbench.ErrAnchorConflict, "another value under the key")
	_, _, err = program.Issue(ctx, "a key", "EUR", pays)
	must.Fail(t, err, zkbench.ErrAnchorConflict, "another type under the key")
	for key, want := range map[string]error{"": zkbench.ErrParams, strings.Repeat("k", 129): zkbench.ErrParams} {
		_, _, err = program.Issue(ctx, key, usd, pays)
		must.Fail(t, err, want, "a key of %d bytes", len(key))
	}
	_, _, err = program.Issue(ctx, "nothing", usd)
	must.Fail(t, err, zkbench.ErrParams, "no payments")
	_, _, err = program.Issue(ctx, "nobody", usd, service.Payment{Value: 1})
	must.Fail(t, err, zkbench.ErrMalformed, "an issue to nobody")
	_, _, err = program.Issue(ctx, "too many", usd, make([]service.Payment, s.params.Policy.Limits.Outputs+1)...)
	must.Fail(t, err, zkbench.ErrLimit, "too many payments")
	golden.Equal(t, "records", uint64(1), s.records())
	alice.holds("7")
}

// dead is a submitter that loses requests, or their answers.
type dead struct {
	ledger.Submitter
	after bool
}

// Submit implements ledger.Submitter.
func (d dead) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	if d.after {
		if _, err := d.Submitter.Submit(ctx, requests); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%w: the line is dead", zkbench.ErrEnv)
}

// TestIssueAfterCrash: an issuer that ended between making an issue and its answer goes on with the same request.
func TestIssueAfterCrash(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(map[bool]string{false: "before the ledger", true: "after the ledger"}[after], func(t *testing.T) {
			t.Parallel()
			s := newSystem(t, false, nil)
			ctx := t.Context()
			alice := s.wallet("alice")
			pays := service.Payment{To: alice.address(), Value: 7}
			dies := must.Get(service.CreateVault(t.TempDir()+"/vault", s.store.Genesis()))(t)
			s.issuerURL = s.serveIssuer(dies, dead{s.submitter, after})
			o := s.options(peer.Issuer, peer.Issuer)
			o.Patience = -1
			program := must.Get(client.DialIssuer(ctx, s.issuerURL, o))(t)
			defer program.Close()
			_, _, err := program.Issue(ctx, "a key", usd, pays)
			must.Fail(t, err, zkbench.ErrOutcomeUnknown, "an issue without an answer")
			waits := 0
			for k, err := range dies.Submissions() {
				must.Do(t, err)
				waits += len(k.Request.Actions)
			}
			landed := 0
			for m, err := range dies.History() { // the vault may have found the request on the ledger already
				must.Do(t, err)
				if m.Status == service.Landed {
					landed++
				}
			}
			golden.Equal(t, "pending or landed", 1, max(waits, landed))
			if !after {
				golden.Equal(t, "landed before the ledger had it", 0, landed)
			}
			s.issuerURL = s.serveIssuer(dies, s.submitter)
			program = s.issuerFor(peer.Issuer)
			_, number, err := program.Issue(ctx, "a key", usd, pays)
			must.Do(t, err)
			golden.Equal(t, "record", uint64(1), number)
			golden.Equal(t, "records", uint64(1), s.records())
			alice.holds("7")
			must.Do(t, dies.Close())

			// Without its vault, the issuer cannot know what was issued under the key. The ledger does.
			s.issuerURL = s.serveIssuer(s.issued, s.submitter)
			_, _, err = s.issuerFor(peer.Issuer).Issue(ctx, "a key", usd, pays)
			must.Fail(t, err, zkbench.ErrAnchorConflict, "an issue whose vault was lost")
			golden.Equal(t, "records", uint64(1), s.records())
		})
	}
}

// TestLostAnswers: calls whose answers are lost after the server has acted are made again, and nothing is doubled.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	s := newSystem(t, true, nil)
	alice, bob := s.wallet("alice"), s.wallet("bob")
	program := s.issuerFor(peer.Issuer)
	const cut = 4
	s.cut.calls.Store(cut)
	_, number, err := program.Issue(t.Context(), "a key", usd, service.Payment{To: alice.address(), Value: 10})
	must.Do(t, err)
	golden.Equal(t, "record", uint64(1), number)
	alice.holds("10")
	for _, left := range []string{"8", "6", "4"} {
		s.cut.calls.Store(cut)
		alice.pays(bob.address(), 2)
		alice.holds(left)
	}
	s.cut.calls.Store(0)
	golden.Equal(t, "records", uint64(4), s.records())
	bob.holds("6")
	if seen := s.cut.seen.Load(); seen < cut {
		t.Errorf("%d connections were cut", seen)
	}
}

// TestPolicyMoves: an auditor that is behind follows the ledger before it signs, and one that is ahead says so.
func TestPolicyMoves(t *testing.T) {
	t.Parallel()
	s := newSystem(t, false, nil)
	ctx := t.Context()
	alice, bob := s.wallet("alice"), s.wallet("bob")
	before := must.Get(alice.ledger.Policy(ctx))(t)
	s.update(func(p *token.Policy) { p.Limits.Inputs-- })
	_, number, err := s.issuerFor(peer.Issuer).Issue(ctx, "a key", usd, service.Payment{To: alice.address(), Value: 10})
	must.Do(t, err)
	golden.Equal(t, "record", uint64(2), number)
	alice.holds("10")
	s.update(func(p *token.Policy) { p.Limits.Inputs-- })
	sub := must.Get(alice.transfer.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{To: bob.address(), Value: 4}}}))(t)
	alice.submit(sub)
	golden.Equal(t, "auditor's policy", uint64(2), s.auditor.Rules().Version)
	bob.holds("4")
	sub = must.Get(bob.transfer.Transfer(ctx, service.Order{Type: usd, Payments: []service.Payment{{To: alice.address(), Value: 1}}}))(t)
	err = sub.Audit(ctx, before, bob.auditor)
	if e, ok := errors.AsType[*ledger.PolicyError](err); !ok || e.Version != 0 || e.Current != 2 {
		t.Errorf("under an old policy: %v", err)
	}
	s.update(func(p *token.Policy) { p.Auditors = nil })
	must.Fail(t, sub.Audit(ctx, s.validator.Policy(), bob.auditor), zkbench.ErrParams, "an auditor whom the policy does not name")
	must.Fail(t, sub.Audit(ctx, before), zkbench.ErrParams, "no auditor")
	must.Fail(t, sub.Audit(ctx, before, bob.auditor, alice.auditor), zkbench.ErrParams, "an auditor twice")
}
