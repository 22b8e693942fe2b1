package action_test

import (
	"context"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
)

// ledger has the unspent tokens by their ids, and the anchors of all actions. Who may spend a token, and who may issue,
// is for signatures to say: package validator checks them, and all of this.
type ledger struct {
	tokens  map[string]token.Token
	anchors map[token.Anchor]bool
}

// view returns the view that a verifier asks.
func (l *ledger) view() action.View {
	return action.LookUp(func(_ context.Context, id token.ID) (token.Token, error) {
		t, ok := l.tokens[string(id)]
		if !ok {
			return token.Token{}, fmt.Errorf("%w: no unspent token %q", zkbench.ErrPolicy, id)
		}
		return t, nil
	})
}

// land verifies an action, and does what it says. The same action does not land again.
func (l *ledger) land(ctx context.Context, ex executor.Executor, anchor token.Anchor, a *action.Received) error {
	if l.anchors[anchor] {
		return fmt.Errorf("%w: %s has landed", zkbench.ErrAnchorConflict, anchor)
	}
	if err := a.Verify(ctx, ex, l.view(), anchor); err != nil {
		return err
	}
	l.anchors[anchor] = true
	for _, in := range a.Inputs {
		delete(l.tokens, string(in.ID))
	}
	for j, t := range a.Outputs {
		if len(t.Owner) > 0 { // one without an owner is redeemed
			l.tokens[fmt.Sprintf("%s/%d", anchor, j)] = t
		}
	}
	return nil
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
	ctx, ex := context.Background(), executor.Pool()
	onLedger := &ledger{make(map[string]token.Token), make(map[token.Anchor]bool)}
	pp := got(token.NewCryptoParams(token.Config{Curve: "BN254", Bits: 32, ProofType: token.Bulletproof}, token.Tuning{}))

	// The issuer makes a token of 100 and hands its opening to Alice.
	issue := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: []byte("alice"), Value: 100}}, Anchor: "tx 1",
	}))
	raw := got(issue.Prove(ctx))

	// Everybody verifies the issue.
	issued := got(action.Decode(pp, token.Issue, raw))
	fmt.Println("tx 1:", onLedger.land(ctx, ex, "tx 1", issued))

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
	fmt.Println("tx 2, twice:", onLedger.land(ctx, ex, "tx 2", twice))

	// Mallory makes up a token of 4,000,000,000.
	made := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{Outputs: []action.Output{{Owner: []byte("mallory"), Value: 4_000_000_000}}, Anchor: "tx 0"}))
	forged := transfer("tx 2", []action.Output{{Owner: []byte("mallory"), Value: 4_000_000_000}}, action.Owned{
		Input: action.Input{ID: []byte("tx 0/0"), Token: made.Outputs[0]}, Opening: made.Openings[0],
	})
	fmt.Println("tx 2, made up:", onLedger.land(ctx, ex, "tx 2", forged))

	// Alice pays Bob. Everybody verifies the transfer, in its transaction and in no other.
	paid := transfer("tx 2", []action.Output{{Owner: []byte("bob"), Value: 30}, {Owner: []byte("alice"), Value: 70}}, hers)
	fmt.Println("tx 3:", onLedger.land(ctx, ex, "tx 3", paid))
	fmt.Println("tx 2:", onLedger.land(ctx, ex, "tx 2", paid))

	// Her token is spent, and no action lands twice.
	fmt.Println("tx 1, again:", onLedger.land(ctx, ex, "tx 1", issued))
	late := transfer("tx 3", []action.Output{{Owner: []byte("alice"), Value: 100}}, hers)
	fmt.Println("tx 3, of tx 1:", onLedger.land(ctx, ex, "tx 3", late))
	// Output:
	// tx 1: <nil>
	// tx 2, twice: action 0: inputs 1: policy broken: no unspent token "tx 1/1"
	// tx 2, made up: action 0: inputs 0: policy broken: no unspent token "tx 0/0"
	// tx 3: action 0: proof: proof rejected
	// tx 2: <nil>
	// tx 1, again: anchor belongs to another request: tx 1 has landed
	// tx 3, of tx 1: action 0: inputs 0: policy broken: no unspent token "tx 1/0"
}
