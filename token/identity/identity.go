// Package identity says who owns, issues and audits tokens, and checks what they
// sign: X.509 certificates with ECDSA P-256 keys, Ed25519 keys, and one-time
// pseudonyms over a prime-order group. docs/owners.md has the statements and
// equations.
//
// An Identity is opaque bytes on the wire: a type byte and a payload. Two
// identities of different bytes may have one key (SameKey): anybody can make certificates of anybody's
// key, since no signature of a certificate is verified. So owners are compared by their keys, and what is
// signed names the identity. A Set parses them, with a
// bounded cache; a Batch verifies many signatures at once and names the bad ones.
// A signature is accepted in a batch exactly if it is accepted alone.
//
// What this package does not promise: it builds no certificate chains, reads no
// clock and so checks no expiry, and knows no revocation: who trusts which
// identity is the caller's to say. Pseudonyms are not an anonymous credential: a
// verifier sees a pseudonym but not whether anybody enrolled it; only the
// auditor checks that (Scheme.CheckAudit). Everything here that is called secret
// stays in Go's memory, which is not wiped.
package identity

import (
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// MaxLen is the length in bytes of the longest identity: what fits a token's
// owner.
const MaxLen = token.MaxOwner

// Type is the first byte of an identity. Types from 0x80 on are not of this
// package, for owners that are no single signer.
type Type uint8

// The types of identities.
const (
	TypeX509      Type = 1 // payload: the DER certificate
	TypeEd25519   Type = 2 // payload: the 32 bytes of the key
	TypePseudonym Type = 3 // payload: a compressed point of the scheme's group
)

func (t Type) String() string {
	switch t {
	case TypeX509:
		return "X.509"
	case TypeEd25519:
		return "Ed25519"
	case TypePseudonym:
		return "pseudonym"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Identity is a type byte and a payload, at most MaxLen bytes together.
type Identity []byte

// Type is the first byte, 0 for an empty identity.
func (id Identity) Type() Type {
	if len(id) == 0 {
		return 0
	}
	return Type(id[0])
}

// Verifier is a parsed identity. It is immutable and safe for concurrent use.
type Verifier interface {
	// Verify returns an ErrSignature unless signature is the identity's
	// signature of message.
	Verify(message, signature []byte) error
}

// SameKey reports whether whoever signs for one verifier signs for the other, as far as their keys
// show it: one key in two certificates, or Ed25519 keys that differ by a point of small order. A
// pseudonym's key has one encoding, and two of one holder do not show that they are.
func SameKey(a, b Verifier) bool {
	same, ok := a.(interface{ sameKey(other Verifier) bool })
	return ok && same.sameKey(b)
}

// Key returns the public key of an identity: the bytes of a certificate's P-256 point, uncompressed; of
// an Ed25519 key; or of a pseudonym's point, which is not decoded. It returns the error of Set.Verifier
// for a certificate or an Ed25519 key that does not parse.
func Key(id Identity) ([]byte, error) {
	if len(id) > 0 && id.Type() == TypePseudonym {
		return id[1:], nil
	}
	v, err := parse(id, nil)
	if err != nil {
		return nil, err
	}
	if key, ok := v.(*ecdsaVerifier); ok {
		return key.key.Bytes()
	}
	return id[1:], nil
}

// Signer is the secret side of an identity.
type Signer interface {
	Identity() Identity
	// Sign signs message. Pseudonyms draw 32 bytes from rand (nil: the
	// system's); the other signatures are deterministic and read nothing.
	Sign(message []byte, rand io.Reader) ([]byte, error)
}

// parse parses an identity of any type. Too long is a *zkbench.LimitError, the
// rest a *zkbench.DecodeError.
func parse(id Identity, pseudonyms Scheme) (Verifier, error) {
	if len(id) > MaxLen {
		return nil, &zkbench.LimitError{What: "bytes of identity", Estimate: int64(len(id)), Max: MaxLen}
	}
	switch id.Type() {
	case TypeX509:
		return parseX509(id[1:])
	case TypeEd25519:
		return parseEd25519(id[1:])
	case TypePseudonym:
		if pseudonyms == nil {
			return nil, malformed("type", 0, "pseudonyms are not accepted here")
		}
		return pseudonyms.verifier(id[1:])
	}
	if len(id) == 0 {
		return nil, malformed("type", 0, "empty identity")
	}
	return nil, malformed("type", 0, fmt.Sprintf("type %d, known are 1 (X.509), 2 (Ed25519), 3 (pseudonym)", id[0]))
}

// malformed places an error in an identity.
func malformed(field string, offset int, reason string) error {
	return &zkbench.DecodeError{Path: "identity." + field, Offset: offset, Reason: reason}
}

// rejected is an ErrSignature with its reason.
func rejected(reason string) error { return fmt.Errorf("%w: %s", zkbench.ErrSignature, reason) }
