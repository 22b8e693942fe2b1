package pkcs11_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/identity/pkcs11"
)

// An issuer signs with a key in a token.
func Example() {
	key, err := pkcs11.Open("pkcs11:token=bank;object=issuer?module-path=/usr/lib/none.so&pin-source=file:/run/secrets/pin")
	if errors.Is(err, zkbench.ErrEnv) { // built without the tag pkcs11, or no such library
		fmt.Println("no token here")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer key.Close()
	issuer, err := identity.NewEd25519Signer(key)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(issuer.Identity().Type())
	// Output:
	// no token here
}

// A PIN in a URI is refused.
func ExampleParseURI() {
	u, err := pkcs11.ParseURI("pkcs11:token=bank;object=issuer?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/run/secrets/pin")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(u.Token, u.Object, u.PINFile)
	_, err = pkcs11.ParseURI("pkcs11:object=issuer?pin-value=1234")
	fmt.Println(err)
	// Output:
	// bank issuer /run/secrets/pin
	// invalid parameters: PKCS #11 URI: pin-value: other users can see the PIN; accepted: pin-source=file:PATH, of a file with the PIN
}
