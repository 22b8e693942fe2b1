package transfer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// A token is issued to Alice, who pays Bob and keeps the change.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx, ex := context.Background(), executor.Pool()
	pp, err := token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.Bulletproof}, token.Tuning{})
	must(err)

	// The issuer makes a token of 100 and hands its opening to Alice.
	issue, err := action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: []byte("alice"), Value: 100}}, Anchor: "tx 1",
	})
	must(err)
	raw, err := issue.Prove(ctx)
	must(err)

	// Everybody verifies the issue.
	onLedger, err := action.Decode(pp, token.Issue, raw)
	must(err)
	must(onLedger.Verify(ctx, ex, "tx 1"))

	// Alice spends it.
	sender, err := action.NewSender(ctx, ex, pp, []action.Owned{{
		Input:   action.Input{ID: []byte("tx 1/0"), Token: onLedger.Outputs[0]},
		Opening: issue.Openings[0],
	}})
	must(err)
	transfer, err := sender.Transfer(ctx, action.Spec{
		Outputs:  []action.Output{{Owner: []byte("bob"), Value: 30}, {Owner: []byte("alice"), Value: 70}},
		Metadata: []byte("lunch"), Anchor: "tx 2",
	})
	must(err)
	raw, err = transfer.Prove(ctx)
	must(err)

	// Everybody verifies the transfer, in its transaction and in no other.
	received, err := action.Decode(pp, token.Transfer, raw)
	must(err)
	fmt.Println("tx 2:", received.Verify(ctx, ex, "tx 2"))
	fmt.Println("tx 3:", received.Verify(ctx, ex, "tx 3"))
	// Output:
	// tx 2: <nil>
	// tx 3: action 0: proof: proof rejected
}
