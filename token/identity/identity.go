// Package identity represents those who own, issue and audit tokens, and verifies their signatures. An identity
// is an Ed25519 key, an X.509 certificate with an ECDSA P-256 key, or a one-time pseudonym over a prime-order
// group. docs/owners.md has the statements and equations.
//
// An Identity is opaque bytes on the wire: a type byte and a payload. Two identities with different bytes may
// have the same key; SameKey reports that. Anybody can make a certificate for anybody's key, because the
// signatures of certificates are not verified. So compare owners by their keys. A signed message names the
// signer's identity, not only its key. A Set parses identities and has a bounded cache. A Batch verifies many
// signatures at once and names the bad ones. A Batch accepts exactly the signatures that a Verifier accepts one
// by one.
//
// The package builds no certificate chains. It reads no clock, so it does not check expiry. It does not check
// revocation either. The caller decides whom to trust. Pseudonyms are not an anonymous credential: a verifier
// sees a pseudonym but not whether anybody enrolled it; only the auditor checks that (Scheme.CheckAudit).
// Secrets stay in Go's memory and are not wiped.
package identity

import (
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// MaxLen is the maximum length of an identity in bytes: an identity must fit in the owner field of a token.
const MaxLen = token.MaxOwner

// Type is the first byte of an identity. This package does not use the types from 0x80 on; package script uses
// them for owners that are not single signers.
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

// Identity is a type byte followed by a payload, at most MaxLen bytes together.
type Identity []byte

// Type returns the first byte, or 0 if the identity is empty.
func (id Identity) Type() Type {
	if len(id) == 0 {
		return 0
	}
	return Type(id[0])
}

// Verifier verifies signatures of one identity. It is immutable and safe for concurrent use. Set.Verifier makes
// one. Other packages cannot implement Verifier.
type Verifier interface {
	// Verify returns ErrSignature unless signature is the identity's signature of message.
	Verify(message, signature []byte) error

	sameKey(other Verifier) bool
}

// SameKey reports whether the keys of two verifiers show that one signer signs for both. It returns true for
// two certificates with one key, and for Ed25519 keys that differ by a point of small order. It returns false
// for two different pseudonyms, because nobody can see whether they have one holder.
func SameKey(a, b Verifier) bool {
	return a != nil && a.sameKey(b)
}

// Key returns the public key of an identity: the uncompressed P-256 point of a certificate, the bytes of an
// Ed25519 key, or the compressed point of a pseudonym. Key does not decode the pseudonym's point. If a
// certificate or an Ed25519 key does not parse, Key returns the error of Set.Verifier.
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

// Signer signs for an identity. Other packages can implement Signer, for example for keys in hardware.
type Signer interface {
	Identity() Identity
	// Sign signs message. Signers of pseudonyms draw 32 bytes from rand, or from the operating system's source
	// of randomness if rand is nil. The other signers do not read rand, and those with keys in memory are
	// deterministic.
	Sign(message []byte, rand io.Reader) ([]byte, error)
}

// checkedSigner verifies each signature before it returns it. Its key is not in this process, so the public key may not
// belong to it, and a faulty signature may reveal it.
type checkedSigner struct {
	Signer
	verifier Verifier
}

func (s checkedSigner) Sign(message []byte, rand io.Reader) ([]byte, error) {
	signature, err := s.Signer.Sign(message, rand)
	if err != nil {
		return nil, err
	}
	if err := s.verifier.Verify(message, signature); err != nil {
		return nil, fmt.Errorf("the key made a signature that does not verify: %w", err)
	}
	return signature, nil
}

// parse parses an identity of any type. It returns a *zkbench.LimitError if the identity is too long, else a
// *zkbench.DecodeError.
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

// malformed returns a *zkbench.DecodeError of an identity.
func malformed(field string, offset int, reason string) error {
	return &zkbench.DecodeError{Path: "identity." + field, Offset: offset, Reason: reason}
}

// rejected returns an ErrSignature with its reason.
func rejected(reason string) error { return fmt.Errorf("%w: %s", zkbench.ErrSignature, reason) }
