package transfer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// ledger has the unspent tokens by their ids.
type ledger map[string]token.Token

// view is what a verifier asks.
func (l ledger) view() action.View {
	return action.LookUp(func(_ context.Context, id token.ID) (token.Token, error) {
		t, ok := l[string(id)]
		if !ok {
			return token.Token{}, fmt.Errorf("%w: no unspent token %q", zkbench.ErrPolicy, id)
		}
		return t, nil
	})
}

// apply does what a verified action says.
func (l ledger) apply(tx string, a *action.Received) {
	for _, in := range a.Inputs {
		delete(l, string(in.ID))
	}
	for j, t := range a.Outputs {
		l[fmt.Sprintf("%s/%d", tx, j)] = t
	}
}

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A token is issued to Alice, who pays Bob and keeps the change. Mallory makes up a token, and Alice spends hers under two ids:
// both proofs hold, and the ledger does not have these tokens.
func Example() {
	ctx, ex, onLedger := context.Background(), executor.Pool(), make(ledger)
	pp := got(token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.Bulletproof}, token.Tuning{}))

	// The issuer makes a token of 100 and hands its opening to Alice.
	issue := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: []byte("alice"), Value: 100}}, Anchor: "tx 1",
	}))
	raw := got(issue.Prove(ctx))

	// Everybody verifies the issue. That it is the issuer's is for a signature to say (package request).
	issued := got(action.Decode(pp, token.Issue, raw))
	fmt.Println("tx 1:", issued.Verify(ctx, ex, onLedger.view(), "tx 1"))
	onLedger.apply("tx 1", issued)

	transfer := func(anchor token.Anchor, outputs []action.Output, owned ...action.Owned) *action.Received {
		sender := got(action.NewSender(ctx, ex, pp, owned))
		draft := got(sender.Transfer(ctx, action.Spec{Outputs: outputs, Metadata: []byte("lunch"), Anchor: anchor}))
		return got(action.Decode(pp, token.Transfer, got(draft.Prove(ctx))))
	}

	// Alice spends it under two ids: 200 out of 100.
	hers := action.Owned{Input: action.Input{ID: []byte("tx 1/0"), Token: issued.Outputs[0]}, Opening: issue.Openings[0]}
	again := hers
	again.ID = []byte("tx 1/1")
	twice := transfer("tx 2", []action.Output{{Owner: []byte("alice"), Value: 200}}, hers, again)
	fmt.Println("tx 2, twice:", twice.Verify(ctx, ex, onLedger.view(), "tx 2"))

	// Mallory makes up a token of 4,000,000,000.
	made := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{Outputs: []action.Output{{Owner: []byte("mallory"), Value: 4_000_000_000}}, Anchor: "tx 0"}))
	forged := transfer("tx 2", []action.Output{{Owner: []byte("mallory"), Value: 4_000_000_000}}, action.Owned{
		Input: action.Input{ID: []byte("tx 0/0"), Token: made.Outputs[0]}, Opening: made.Openings[0],
	})
	fmt.Println("tx 2, made up:", forged.Verify(ctx, ex, onLedger.view(), "tx 2"))

	// Alice pays Bob. Everybody verifies the transfer, in its transaction and in no other.
	paid := transfer("tx 2", []action.Output{{Owner: []byte("bob"), Value: 30}, {Owner: []byte("alice"), Value: 70}}, hers)
	fmt.Println("tx 3:", paid.Verify(ctx, ex, onLedger.view(), "tx 3"))
	fmt.Println("tx 2:", paid.Verify(ctx, ex, onLedger.view(), "tx 2"))
	onLedger.apply("tx 2", paid)

	// It is spent now.
	fmt.Println("tx 2, again:", paid.Verify(ctx, ex, onLedger.view(), "tx 2"))
	// Output:
	// tx 1: <nil>
	// tx 2, twice: action 0: inputs 1: policy broken: no unspent token "tx 1/1"
	// tx 2, made up: action 0: inputs 0: policy broken: no unspent token "tx 0/0"
	// tx 3: action 0: proof: proof rejected
	// tx 2: <nil>
	// tx 2, again: action 0: inputs 0: policy broken: no unspent token "tx 1/0"
}
