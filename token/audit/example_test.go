package audit_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// An auditor learns from the openings what a request hides: its type, value and owner. An opening of another value is
// refused.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	signer := func(seed byte) identity.Signer {
		return got(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))))
	}
	issuer, alice := signer(1), signer(2)
	params := got(token.NewPublicParams("BN254", 32, token.CSP))
	params.Policy.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
	genesis := got(ledger.NewGenesis(params))
	auditor := got(audit.New(params, genesis, ex, token.Tuning{}, nil))

	pp := got(params.Crypto(token.CSP, token.Tuning{}))
	draft := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: alice.Identity(), Value: 100}}, Anchor: request.ActionAnchor(genesis.ID(), []byte("tx 1"), 0),
	}))
	r := &request.Request{Anchor: []byte("tx 1"), Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP, Raw: got(draft.Prove(ctx)), Issuer: &request.Issuer{Identity: issuer.Identity()},
	}}}
	opening := draft.Openings[0]
	for _, opening.Value = range []uint64{100, 50} {
		report, err := auditor.Check(ctx, r, &audit.Information{Actions: []audit.Action{{
			Outputs: []audit.Item{{Opening: opening, Owners: make([]audit.Owner, 1)}}, // empty: the owner is not a pseudonym
		}}})
		if err != nil {
			fmt.Println("refused")
			continue
		}
		out := report.Actions[0].Outputs[0]
		fmt.Println(report.Actions[0].Kind, out.Value, report.Actions[0].Type, "alice's:", string(out.Owners[0].Key) == string(got(identity.Key(alice.Identity()))))
	}
	// Output:
	// issue 100 USD alice's: true
	// refused
}
