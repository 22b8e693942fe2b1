package validator_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/transcript"
)

// TestVectors: parameters, actions and requests from fixed seeds, byte by byte: what is
// submitted, what is signed, and what a ledger then holds.
func TestVectors(t *testing.T) {
	s := newSystem(t, token.RedeemOwner)
	s.owners = s.owners[:2] // Ed25519, whose signatures draw nothing
	var out strings.Builder
	line := func(name string, value []byte) { fmt.Fprintf(&out, "%s %x\n", name, value) }
	seed := func(label string) io.Reader { return transcript.XOF("zkbench/v1/test", []byte(label)) }
	submit := func(anchor string, kind token.Kind, d *action.Draft, spends int) {
		raw := must.Get(d.Prove(t.Context()))(s)
		a := request.Action{Kind: kind, ProofType: token.CSP, Raw: raw, Spends: make([]request.Spend, spends)}
		if kind == token.Issue {
			a.Issuer = s.issues()
		}
		r := &request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}
		encoded := s.sign(r, s.owners[:spends])
		message, digest := r.Message(s.id), r.Digest(s.id)
		line(anchor+" action", raw)
		line(anchor+" message", message[:])
		line(anchor+" digest", digest[:])
		line(anchor+" request", encoded)
		for i, c := range s.apply(encoded, d.Openings...).Creates {
			line(fmt.Sprintf("%s token %d id", anchor, i), c.ID)
			line(fmt.Sprintf("%s token %d", anchor, i), c.Token)
		}
	}

	params := must.Get(s.params.Encode())(s)
	line("params", params)
	genesis := ledgertest.Genesis(t, s.params)
	line("params digest", genesis.Params[:])
	line("genesis", genesis.Append(nil))
	line("ledger id", s.id[:])
	outputs := func(values ...uint64) (all []action.Output) {
		for i, v := range values {
			all = append(all, output(s.owners[i].Identity(), v))
		}
		return all
	}
	issue := must.Get(action.NewIssue(t.Context(), executor.Serial(), s.pp, "USD",
		action.Spec{Outputs: outputs(100, 55), Anchor: request.ActionAnchor(s.id, []byte("issue"), 0), Rand: seed("issue")}))(s)
	submit("issue", token.Issue, issue, 0)

	owned := make([]action.Owned, 2)
	for i := range owned {
		id := request.OutputID([]byte("issue"), 0, i)
		stored := must.Get(token.DecodeToken(s.pp.PointLen(), s.ledger[string(id)]))(s)
		owned[i] = action.Owned{Input: action.Input{ID: id, Token: *stored}, Opening: issue.Openings[i]}
	}
	sender := must.Get(action.NewSender(t.Context(), executor.Serial(), s.pp, owned))(s)
	// The second output redeems.
	moved := must.Get(sender.Transfer(t.Context(), action.Spec{
		Outputs: append(outputs(150), output(identity.Identity(nil), 5)), Metadata: []byte("metadata"),
		Anchor: request.ActionAnchor(s.id, []byte("transfer"), 0), Rand: seed("transfer"),
	}))(s)
	submit("transfer", token.Transfer, moved, 2)
	golden.Check(t, "token/request_bn254_bits8.txt", out.String())
}
