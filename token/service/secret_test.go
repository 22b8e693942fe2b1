package service_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// TestKnownSourceIsNotEnough: who knows an order, what its Rand gave and all openings,
// makes the same commitments only with the secret of the issuer, or of the owner of
// the first input.
func TestKnownSourceIsNotEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	known := func(anchor string, to service.Address) service.Order {
		o := anchored(anchor, paying(to, 100))
		o.Rand = bytes.NewReader(make([]byte, 32))
		return o
	}
	spec := func(anchor string, to service.Address, signer string) action.Spec {
		s := action.Spec{Outputs: []action.Output{{Owner: to.Owner, Value: 100}}, Anchor: request.ActionAnchor([]byte(anchor), 0), Rand: bytes.NewReader(make([]byte, 32))}
		if signer != "" {
			s.Key = must.Get(service.SignerSecret(key(t, signer), nil))(t)
		}
		return s
	}
	same := func(d *action.Draft, sub *service.Submission) bool {
		return bytes.Equal(d.Outputs[0].Commitment, sub.Deliveries[0].Token.Commitment)
	}
	to := alice.address(t)
	issued := must.Get(w.issuer.Issue(t.Context(), known("issue", to)))(t)
	for signer, want := range map[string]bool{"": false, "alice": false, "issuer": true} {
		d := must.Get(action.NewIssue(t.Context(), executor.Serial(), pp, usd, spec("issue", to, signer)))(t)
		golden.Equal(t, fmt.Sprintf("issue, with the secret of %q: same commitments", signer), want, same(d, issued))
	}
	must.Do(t, alice.Receive(t.Context(), issued.Deliveries...))
	w.land(t, issued)
	must.Do(t, alice.Sync(t.Context(), w.ledger))

	bob := w.party(t, w.key(t, "bob")).address(t)
	paid := must.Get(alice.pay.Transfer(t.Context(), known("pay", bob)))(t)
	got := issued.Deliveries[0]
	for signer, want := range map[string]bool{"": false, "issuer": false, "alice": true} {
		sender := must.Get(action.NewSender(t.Context(), executor.Serial(), pp, []action.Owned{{Input: action.Input{ID: got.ID, Token: got.Token}, Opening: got.Opening}}))(t)
		d := must.Get(sender.Transfer(t.Context(), spec("pay", bob, signer)))(t)
		golden.Equal(t, fmt.Sprintf("transfer, with the secret of %q: same commitments", signer), want, same(d, paid))
	}
}
