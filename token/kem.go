package token

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
)

// KEM is the number of a key encapsulation mechanism of HPKE (RFC 9180).
type KEM uint16

// The KEMs that a policy may name. The hybrid one also protects against an attacker who stores ciphertexts
// until a quantum computer exists.
const (
	X25519         KEM = 0x0020 // DHKEM(X25519, HKDF-SHA256)
	MLKEM768X25519 KEM = 0x647a // ML-KEM-768 and X25519
)

// KEMs lists the accepted KEMs, the default first.
func KEMs() []KEM { return []KEM{X25519, MLKEM768X25519} }

func (k KEM) String() string {
	switch k {
	case X25519:
		return "X25519"
	case MLKEM768X25519:
		return "MLKEM768-X25519"
	}
	return fmt.Sprintf("KEM %#04x", uint16(k))
}

// HPKE returns the KEM of package crypto/hpke with k's number. It returns ErrParams if k is not one of KEMs.
func (k KEM) HPKE() (hpke.KEM, error) {
	switch k {
	case X25519:
		return hpke.DHKEM(ecdh.X25519()), nil
	case MLKEM768X25519:
		return hpke.MLKEM768X25519(), nil
	}
	return nil, badConfig("KEM", k, fmt.Sprintf("%#04x (%s), %#04x (%s)", uint16(X25519), X25519, uint16(MLKEM768X25519), MLKEM768X25519))
}

// Lengths in bytes of public keys. A hybrid key ends with a key of X25519.
const (
	x25519Len = 32
	hybridLen = 1184 + x25519Len
)

// checkLen returns ErrParams if key cannot be a public key because of its length. It computes nothing.
func (k KEM) checkLen(key []byte) error {
	want := x25519Len
	switch k {
	case X25519:
	case MLKEM768X25519:
		want = hybridLen
	default:
		_, err := k.HPKE()
		return err
	}
	if len(key) != want {
		return badConfig("key of "+k.String(), fmt.Sprintf("of %d bytes", len(key)), "a public key of the KEM")
	}
	return nil
}

// CheckKey checks that data stays secret if it is encrypted to the given public key. It returns ErrParams if
// key is not a public key of the KEM, or if the X25519 point in key has small order. With such a point
// everybody would derive the same secret.
func (k KEM) CheckKey(key []byte) error {
	kem, err := k.HPKE()
	if err != nil {
		return err
	}
	if _, err := kem.NewPublicKey(key); err != nil {
		return badConfig("key of "+k.String(), fmt.Sprintf("of %d bytes", len(key)), "a public key of the KEM")
	}
	point, err := ecdh.X25519().NewPublicKey(key[len(key)-x25519Len:])
	if err != nil {
		return err
	}
	// X25519 makes a multiple of the cofactor of every scalar. So any scalar gives zero at a point of small
	// order, which ECDH refuses, and at no other point.
	scalar, err := ecdh.X25519().NewPrivateKey(append(make([]byte, x25519Len-1), 1))
	if err != nil {
		return err
	}
	if _, err := scalar.ECDH(point); err != nil {
		return badConfig("key of "+k.String(), "of small order", "a public key of the KEM")
	}
	return nil
}
