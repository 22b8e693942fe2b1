package policy_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/policy"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// An administrator adds an issuer. The update holds on one ledger, after the policy that it changes, and only with the
// administrator's signature.
func Example() {
	signer := func(seed byte) identity.Signer {
		return got(identity.NewEd25519Signer(ed25519.NewKeyFromSeed(append(make([]byte, 31), seed))))
	}
	administrator, issuer := signer(1), signer(2)
	current := token.DefaultPolicy()
	current.Administrators = token.Administrators{Identities: [][]byte{administrator.Identity()}, Threshold: 1}
	next := current.Clone()
	next.Issuers = []token.Issuer{{Identity: issuer.Identity()}}

	ledger := token.LedgerID{1}
	update := got(policy.New(ledger, &current, next))
	fmt.Println("without signatures:", errors.Is(update.Verify(ledger, &current), zkbench.ErrPolicy))
	if err := update.Sign(&current, administrator); err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", update.Policy.Version, "signed:", update.Verify(ledger, &current))
	fmt.Println("on another ledger:", update.Verify(token.LedgerID{2}, &current) != nil)
	fmt.Println("once more:", update.Verify(ledger, &update.Policy) != nil)
	// Output:
	// without signatures: true
	// version 1 signed: <nil>
	// on another ledger: true
	// once more: true
}
