package cli

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

const (
	ed25519Prefix    = "ed25519:"
	acceptedIdentity = "the path of a PEM or DER certificate with a P-256 key, or " + ed25519Prefix + " and 64 hex digits"
)

// identities returns the identities that a flag names, in the order in which
// parameters hold them.
func identities(field string, o *usage.Option) ([][]byte, error) {
	if !o.Given {
		return nil, nil
	}
	var ids [][]byte
	for text := range strings.SplitSeq(o.Text, ",") {
		if text == "" {
			return nil, o.Refuse(field, o.Text)
		}
		id, err := parseIdentity(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w; accepted: %s", field, text, err, o.Accepted)
		}
		if slices.ContainsFunc(ids, func(other []byte) bool { return bytes.Equal(other, id) }) {
			return nil, (&usage.Option{Accepted: "each identity once"}).Refuse(field, text)
		}
		ids = append(ids, id)
	}
	slices.SortFunc(ids, bytes.Compare)
	return ids, nil
}

// parseIdentity reads an identity: the path of a certificate, or a key in hex.
func parseIdentity(text string) (identity.Identity, error) {
	if digits, ok := strings.CutPrefix(text, ed25519Prefix); ok {
		key, err := hex.DecodeString(digits)
		if err != nil {
			return nil, errors.New("not hex digits")
		}
		return identity.Ed25519(ed25519.PublicKey(key))
	}
	data, err := readFile(text)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return identity.X509(data)
	}
	if block.Type != "CERTIFICATE" {
		return nil, errors.New("a PEM block that is no certificate")
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("more than one PEM block")
	}
	return identity.X509(block.Bytes)
}

// checkIdentities parses issuers and auditors. The error names the list and the
// index; its offset counts from the start of the identity.
func checkIdentities(p *token.PublicParams) error {
	set, err := identity.NewSet(1, nil)
	if err != nil {
		return err
	}
	for _, list := range []struct {
		name string
		ids  [][]byte
	}{{"issuers", p.Issuers}, {"auditors", p.Auditors}} {
		for i, id := range list.ids {
			if _, err := set.Verifier(id); err != nil {
				return fmt.Errorf("%s[%d]: %w", list.name, i, err)
			}
		}
	}
	return nil
}
