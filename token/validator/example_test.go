package validator_test

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/validator"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// A validator accepts what an issuer of the policy has signed, and says what the ledger records of it. Signed by somebody
// else, the same request is refused.
func Example() {
	ctx, ex := context.Background(), executor.Serial()
	signer := func(seed byte) identity.Signer {
		return got(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))))
	}
	issuer, mallory := signer(1), signer(2)
	params := got(token.NewPublicParams("BN254", 32, token.CSP))
	params.Policy.Issuers = []token.Issuer{{Identity: issuer.Identity()}}
	genesis := got(ledgers.NewGenesis(params))
	v := got(validator.New(params, genesis, ex, token.Tuning{}, 100))

	pp := got(params.Crypto(token.CSP, token.Tuning{}))
	anchor := []byte("tx 1")
	draft := got(action.NewIssue(ctx, ex, pp, "USD", action.Spec{
		Outputs: []action.Output{{Owner: mallory.Identity(), Value: 100}}, Anchor: request.ActionAnchor(genesis.ID(), anchor, 0),
	}))
	r := &request.Request{Anchor: anchor, Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP, Raw: got(draft.Prove(ctx)), Issuer: &request.Issuer{Identity: issuer.Identity()},
	}}}
	empty := validator.TokenFunc(func(context.Context, token.ID) ([]byte, error) { return nil, zkbench.ErrSpent })
	for _, by := range []identity.Signer{issuer, mallory} {
		toSign := request.ToSign(r.Message(genesis.ID()), request.IssuerRole, 0, issuer.Identity())
		r.Actions[0].Issuer.Signature = got(by.Sign(toSign[:], nil))
		valid, err := v.Validate(ctx, empty, got(r.Encode()), time.Unix(1_800_000_000, 0))
		if err != nil {
			fmt.Println("refused:", errors.Is(err, zkbench.ErrSignature))
			continue
		}
		fmt.Printf("%s creates %d token\n", valid.Entry().Anchor, len(valid.Entry().Creates))
	}
	// Output:
	// tx 1 creates 1 token
	// refused: true
}
