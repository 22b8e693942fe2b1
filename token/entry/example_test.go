package entry_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A client computes from a request what a ledger must record of it, and refuses a record that says otherwise.
func Example() {
	ctx, ex, id := context.Background(), executor.Serial(), token.LedgerID{1}
	pp := got(token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.CSP}, token.Tuning{}))
	draft := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: []byte("alice"), Value: 100}}, Anchor: request.ActionAnchor(id, []byte("tx 1"), 0),
	}))
	r := &request.Request{Anchor: []byte("tx 1"), Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP, Raw: got(draft.Prove(ctx)), Issuer: &request.Issuer{Identity: []byte("issuer")},
	}}}

	parsed := got(entry.Parse(id, pp.PointLen(), got(r.Encode())))
	fmt.Printf("%s spends %d and creates %d\n", parsed.Entry.Anchor, len(parsed.Entry.Spends), len(parsed.Entry.Creates))

	record := ledger.Record{Seq: 1, Entry: parsed.Entry}
	fmt.Println("refused:", entry.Check(&record, &parsed.Entry) != nil)
	record.Creates = nil
	fmt.Println("refused without the token:", entry.Check(&record, &parsed.Entry) != nil)
	// Output:
	// tx 1 spends 0 and creates 1
	// refused: false
	// refused without the token: true
}
