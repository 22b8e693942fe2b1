package own

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/token/identity"
)

const acceptedKey = "the path of a PEM file with one PRIVATE KEY (PKCS #8), Ed25519 or P-256, of an administrator before or after the update"

// loadSigner reads a secret key, of one of the identities in some lists. No error has anything of it.
func loadSigner(o *usage.Option, lists ...[][]byte) (identity.Signer, error) {
	if !o.Given {
		return nil, o.Refuse("key", "")
	}
	data, err := readFile(o.Text)
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	block, rest := pem.Decode(data)
	if next, _ := pem.Decode(rest); block == nil || block.Type != "PRIVATE KEY" || next != nil {
		return nil, o.Refuse("key", o.Text)
	}
	secret, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, o.Refuse("key", o.Text)
	}
	for _, list := range lists {
		for _, id := range list {
			if signer := signerOf(secret, id); signer != nil {
				return signer, nil
			}
		}
	}
	return nil, o.Refuse("key", o.Text)
}

// signerOf signs for an identity with a secret key, nil if it is not the key's.
func signerOf(secret any, id identity.Identity) identity.Signer {
	switch key := secret.(type) {
	case ed25519.PrivateKey:
		if s, err := identity.NewEd25519Signer(key); err == nil && string(s.Identity()) == string(id) {
			return s
		}
	case *ecdsa.PrivateKey:
		if id.Type() != identity.TypeX509 {
			return nil
		}
		if s, err := identity.NewX509Signer(id[1:], key); err == nil {
			return s
		}
	}
	return nil
}
