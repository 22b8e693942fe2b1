package zkbench

import (
	"bytes"
	"crypto/ecdh"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

const (
	ed25519Prefix     = keyfile.Ed25519Prefix
	x25519Prefix      = "x25519:"
	acceptedIdentity  = "the path of a PEM or DER certificate with a P-256 key, the path of a PEM public key of Ed25519, or " + ed25519Prefix + " and 64 hex digits"
	acceptedValidator = "the path of a PEM public key of Ed25519, or " + ed25519Prefix + " and 64 hex digits"
	acceptedIssuer    = acceptedIdentity + "; for some types only, append = and the types, separated by +"
	acceptedAuditor   = acceptedIdentity + "; then = and the path of a PEM public key of X25519 or MLKEM768-X25519, or " + x25519Prefix + " and 64 hex digits"
)

// publicBlock ends the type of a PEM block with a hybrid public key, behind the name of its KEM.
const publicBlock = " PUBLIC KEY"

const acceptedRemoval = "16 or more digits of a fingerprint that policy show prints, or an identity of the list"

// listed returns the identities that a flag lists, in the order in which policies hold them.
func listed[T any](field string, o *argument.Option, parse func(text string) (T, error), id func(T) []byte) (all []T, err error) {
	for text := range strings.SplitSeq(o.Text, ",") {
		if text == "" {
			return nil, o.Refuse(field, o.Text)
		}
		one, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w; accepted: %s", field, text, err, o.Accepted)
		}
		if slices.ContainsFunc(all, func(other T) bool { return bytes.Equal(id(other), id(one)) }) {
			return nil, (&argument.Option{Accepted: "each identity once"}).Refuse(field, text)
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b T) int { return bytes.Compare(id(a), id(b)) })
	return all, nil
}

// parseIssuer parses an identity and the types that it may issue.
func parseIssuer(text string) (i token.Issuer, err error) {
	who, types, some := cutLast(text)
	if i.Identity, err = parseIdentity(who); err != nil || !some {
		return i, err
	}
	i.Types = strings.Split(types, "+")
	slices.Sort(i.Types)
	if i.Types[0] == "" || len(slices.Compact(slices.Clone(i.Types))) < len(i.Types) {
		return i, errors.New("a type that is empty or listed twice")
	}
	return i, nil
}

// parseAuditor parses an identity and the key to which the auditor's information is encrypted.
func parseAuditor(text string) (a token.Auditor, err error) {
	who, key, ok := cutLast(text)
	if !ok {
		return a, errors.New("no key")
	}
	if a.Identity, err = parseIdentity(who); err != nil {
		return a, err
	}
	a.KEM, a.Key, err = parseKey(key)
	return a, err
}

// parseValidator parses the key with which a validator signs heads.
func parseValidator(text string) (v token.Validator, err error) {
	id, err := parseIdentity(text)
	if err == nil && identity.Identity(id).Type() != identity.TypeEd25519 {
		err = errors.New("a certificate, not an Ed25519 key")
	}
	if err == nil {
		copy(v.HeadKey[:], id[1:])
	}
	return v, err
}

// cutLast cuts a text at its last =.
func cutLast(text string) (before, after string, found bool) {
	if i := strings.LastIndex(text, "="); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}

// parseKey parses a public key of HPKE. The text is hex, or the path of a file with a PEM block.
// The block is PKIX for X25519. For a hybrid key, for which PKIX has no form yet, it holds the
// key's bytes.
func parseKey(text string) (kem token.KEM, key []byte, err error) {
	if digits, ok := strings.CutPrefix(text, x25519Prefix); ok {
		key, err = hex.DecodeString(digits)
		if err != nil {
			return 0, nil, errors.New("key: not hex digits")
		}
		return token.X25519, key, wellFormed(token.X25519, key)
	}
	data, err := readFile(text)
	if err != nil {
		return 0, nil, err
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return 0, nil, errors.New("key: no PEM block")
	}
	if next, _ := pem.Decode(rest); next != nil {
		return 0, nil, errors.New("key: more than one PEM block")
	}
	switch block.Type {
	case "PUBLIC KEY":
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if public, ok := parsed.(*ecdh.PublicKey); err == nil && ok && public.Curve() == ecdh.X25519() {
			return token.X25519, public.Bytes(), wellFormed(token.X25519, public.Bytes())
		}
		return 0, nil, errors.New("key: a PEM public key that is not of X25519")
	case token.MLKEM768X25519.String() + publicBlock:
		return token.MLKEM768X25519, block.Bytes, wellFormed(token.MLKEM768X25519, block.Bytes)
	}
	return 0, nil, errors.New("key: a PEM block that is not a public key")
}

// wellFormed returns an error if nothing can be encrypted to the key.
func wellFormed(kem token.KEM, key []byte) error {
	if err := kem.CheckKey(key); err != nil {
		return fmt.Errorf("key: %w", err)
	}
	return nil
}

// parseIdentity parses an identity: the path of a certificate or of a public key, or a key in hex.
func parseIdentity(text string) ([]byte, error) {
	if strings.HasPrefix(text, ed25519Prefix) {
		return keyfile.ParseEd25519(text)
	}
	data, err := readFile(text)
	if err != nil {
		return nil, err
	}
	block, rest := pem.Decode(data)
	if block == nil {
		return identity.X509(data)
	}
	if next, _ := pem.Decode(rest); next != nil {
		return nil, errors.New("more than one PEM block")
	}
	return keyfile.Identity(block)
}
