package request_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// An issuer signs a request with one action. The signature is for one ledger, and for the issuer in this action.
func Example() {
	issuer := got(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(make([]byte, 32))))
	ledger := token.LedgerID{1}
	r := &request.Request{Anchor: []byte("tx 1"), Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP,
		Raw:    []byte("what action.Draft.Prove returned"),
		Issuer: &request.Issuer{Identity: issuer.Identity()},
	}}}
	toSign := request.ToSign(r.Message(ledger), request.IssuerRole, 0, issuer.Identity())
	r.Actions[0].Issuer.Signature = got(issuer.Sign(toSign[:], nil))

	decoded := got(request.Decode(got(r.Encode())))
	by := decoded.Actions[0].Issuer
	verifier := got(got(identity.NewSet(1, nil)).Verifier(by.Identity))
	for _, on := range []token.LedgerID{ledger, {2}} {
		signed := request.ToSign(decoded.Message(on), request.IssuerRole, 0, by.Identity)
		err := verifier.Verify(signed[:], by.Signature)
		fmt.Printf("ledger %d: verified %v, refused %v\n", on[0], err == nil, errors.Is(err, zkbench.ErrSignature))
	}
	// Output:
	// ledger 1: verified true, refused false
	// ledger 2: verified false, refused true
}
