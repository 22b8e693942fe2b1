package zkbench

import (
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token/identity"
)

const acceptedKey = "the path of a PEM file with one PRIVATE KEY (PKCS #8), or the PKCS #11 URI of a key in a token: Ed25519 or P-256, of an administrator before or after the update"

// loadSigner reads a secret key whose identity is in one of the lists. No error contains any part
// of it.
func loadSigner(o *argument.Option, lists ...[][]byte) (identity.Signer, error) {
	if !o.Given {
		return nil, o.Refuse("key", "")
	}
	keys, err := keyfile.Read("key", o.Text, o.Accepted)
	if err != nil {
		return nil, err
	}
	for _, list := range lists {
		if signer := keys.Signer(list...); signer != nil {
			return signer, nil
		}
	}
	return nil, o.Refuse("key", o.Text)
}
