package identity_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/identity"
)

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

// The owner of a token is an Ed25519 key, or a pseudonym that its holder uses once. Both sign, and one Set verifies both.
func Example() {
	_, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	alice := got(identity.NewEd25519Signer(secret))
	scheme := got(identity.NewScheme("BN254"))
	holder := got(scheme.NewHolder(nil))
	first, second := got(holder.Pseudonym(nil)), got(holder.Pseudonym(nil))

	set := got(identity.NewSet(100, scheme)) // caches up to 100 parsed identities
	for _, signer := range []identity.Signer{alice, first, second} {
		signature := got(signer.Sign([]byte("tx 1"), nil))
		verifier := got(set.Verifier(signer.Identity()))
		fmt.Printf("%v: %v, of another message: %v\n", signer.Identity().Type(), verifier.Verify([]byte("tx 1"), signature),
			errors.Is(verifier.Verify([]byte("tx 2"), signature), zkbench.ErrSignature))
	}
	fmt.Println("known to be one holder:", set.SameKey(first.Identity(), second.Identity()))
	// Output:
	// Ed25519: <nil>, of another message: true
	// pseudonym: <nil>, of another message: true
	// pseudonym: <nil>, of another message: true
	// known to be one holder: false
}
