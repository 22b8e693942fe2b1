package transfer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/issue"
	"github.com/zkbench/zkbench/token/transfer"
)

// A token is issued to Alice, who pays Bob and keeps the change.
func Example() {
	must := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	ctx, ex := context.Background(), executor.Pool()
	pp, err := token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.Bulletproof})
	must(err)

	// The issuer makes a token of 100 and hands its opening to Alice.
	issued, openings, err := issue.Issue(ctx, ex, pp, "USD", []issue.Output{{Owner: []byte("alice"), Value: 100}}, nil, []byte("tx 1"), nil)
	must(err)
	raw, err := issued.Encode()
	must(err)

	// Everybody verifies the issue.
	onLedger, err := issue.Decode(pp, raw)
	must(err)
	must(onLedger.Verify(ctx, ex, pp, []byte("tx 1")))

	// Alice spends it.
	sender, err := transfer.NewSender(ctx, ex, pp, []transfer.Owned{{
		Input:   transfer.Input{ID: []byte("tx 1/0"), Token: onLedger.Outputs[0]},
		Opening: openings[0],
	}})
	must(err)
	outputs := []transfer.Output{{Owner: []byte("bob"), Value: 30}, {Owner: []byte("alice"), Value: 70}}
	action, _, err := sender.Transfer(ctx, outputs, []byte("lunch"), []byte("tx 2"), nil)
	must(err)
	raw, err = action.Encode()
	must(err)

	// Everybody verifies the transfer, in its transaction and in no other.
	received, err := transfer.Decode(pp, raw)
	must(err)
	fmt.Println("tx 2:", received.Verify(ctx, ex, pp, []byte("tx 2")))
	fmt.Println("tx 3:", received.Verify(ctx, ex, pp, []byte("tx 3")))
	// Output:
	// tx 2: <nil>
	// tx 3: action 0: proof: proof rejected
}
