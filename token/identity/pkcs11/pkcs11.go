// Package pkcs11 signs and opens with private keys that never leave a token: a hardware security module, a smart card, or SoftHSM.
// A token is reached through the library of its vendor, as PKCS #11 specifies (OASIS, versions 2.40 and 3.0). A URI of
// RFC 7512 names the key. The keys that sign are Ed25519 keys (CKM_EDDSA), and ECDSA keys on P-256 (CKM_ECDSA).
//
// A Key is a crypto.Signer: identity.NewEd25519Signer and identity.NewX509Signer make an identity of it, which signs
// requests, updates of the policy, and heads of the log (package head).
//
// An ExchangeKey is an X25519 key (CKM_ECDH1_DERIVE): hpke.NewDHKEMPrivateKey makes of it the key with which an auditor opens
// what is sealed to it.
//
// The package needs the build tag pkcs11 and cgo, since the libraries are in C. Without them, Open returns
// zkbench.ErrEnv.
package pkcs11

import (
	"crypto"
	"crypto/ecdh"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
)

// Key is a private key in a token. It is safe for concurrent use; calls to one library run one after the other. Other
// packages cannot implement Key.
type Key interface {
	// Public returns the public key, an ed25519.PublicKey or an *ecdsa.PublicKey, as the token has stored it. Signatures
	// show whether it belongs to the private key: the signers of package identity verify each.
	Public() crypto.PublicKey

	// Sign signs with the token, and does not read rand. An Ed25519 key signs a message, with crypto.Hash(0) as opts. A
	// key on P-256 signs a SHA-256 digest, with crypto.SHA256 as opts, and Sign returns ASN.1, in which s may be above
	// half the order. Sign returns zkbench.ErrParams for other opts, and fs.ErrClosed after Close.
	//
	// If the token does not sign, Sign opens a new session and tries once more, since sessions end when a token is removed
	// or its service starts again. If that fails too, Sign returns zkbench.ErrEnv, and the next call tries again. After a
	// token has refused the PIN, Sign tries no more, since tokens lock after some wrong PINs: open the key again.
	Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) (signature []byte, err error)

	// Close closes the session, and the library with its last key. A second call returns fs.ErrClosed.
	io.Closer

	sealed()
}

// Open opens the library that the URI names, logs in to the token with the PIN, and finds the key. The token must have
// one private key that matches the URI, and one public key with the same label and id. The file with the PIN ends with an
// optional line break, and only its owner may have access to it. While the program has another key of the token open, the
// token does not check the PIN again. Open returns
//
//   - the errors of ParseURI;
//   - zkbench.ErrParams if the file of the PIN cannot be used or the token refuses the PIN, if no key, several keys or
//     several tokens match the URI, and if the key has another type;
//   - zkbench.ErrEnv if the library or the token is not there or does not work, and if the program was built without the
//     tag pkcs11.
//
// No error contains the PIN.
func Open(uri string) (Key, error) {
	u, err := ParseURI(uri)
	if err != nil {
		return nil, err
	}
	return openSigning(u)
}

// ExchangeKey is an X25519 private key in a token. It is safe for concurrent use; calls to one library run one after the other.
// Other packages cannot implement ExchangeKey.
type ExchangeKey interface {
	// ECDH has the token compute the shared secret with a public key, 32 bytes. The token hands it out; the private key stays.
	// ECDH returns zkbench.ErrParams for a key of another curve or of low order, and fs.ErrClosed after Close. If the token
	// does not answer, it tries once more, as Sign of a Key does, and then returns zkbench.ErrEnv. PublicKey returns the public
	// key as the token has stored it.
	ecdh.KeyExchanger

	// Close closes the session, and the library with its last key. A second call returns fs.ErrClosed.
	io.Closer

	sealed()
}

// OpenExchange opens an X25519 key, as Open opens a key that signs. It also returns zkbench.ErrParams if the token wants the PIN
// for each use of the key.
func OpenExchange(uri string) (ExchangeKey, error) {
	u, err := ParseURI(uri)
	if err != nil {
		return nil, err
	}
	return openExchange(u)
}

// OpenAny opens the key that the URI names as what it is: a key that signs, as Open does, or an X25519 key, as OpenExchange
// does. The other result is nil.
func OpenAny(uri string) (Key, ExchangeKey, error) {
	u, err := ParseURI(uri)
	if err != nil {
		return nil, nil, err
	}
	return openAny(u)
}

// unavailable returns an ErrEnv about a token.
func unavailable(format string, args ...any) error {
	return fmt.Errorf("%w: PKCS #11: %s", zkbench.ErrEnv, fmt.Sprintf(format, args...))
}
