package own

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"runtime"

	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/token/identity"
)

const acceptedKey = "the path of a PEM file with one PRIVATE KEY (PKCS #8), Ed25519 or P-256, of an administrator before or after the update"

// loadSigner reads a secret key, of one of the identities in some lists. No error has anything of it.
func loadSigner(o *usage.Option, lists ...[][]byte) (identity.Signer, error) {
	if !o.Given {
		return nil, o.Refuse("key", "")
	}
	data, err := readSecret("key", o.Text)
	if err != nil {
		return nil, err
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

// readSecret reads the file with a secret key that a flag names. It refuses a file that others than its owner can open.
func readSecret(field, path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	// The modes that Windows reports say nothing about others, and a terminal's are not its user's to choose.
	if mode := info.Mode(); runtime.GOOS != "windows" && mode.IsRegular() && mode.Perm()&0o077 != 0 {
		o := usage.Option{Accepted: "a secret key that only its owner can read; try chmod 600 " + path}
		return nil, o.Refuse(field, fmt.Sprintf("%s, mode %04o", path, mode.Perm()))
	}
	data, err := readBounded(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", field, err)
	}
	return data, nil
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
