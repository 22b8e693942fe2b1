package token

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
)

// KEM is how a key of HPKE (RFC 9180) is agreed on, by its number in the registry of KEMs; the KDF is HKDF-SHA256, the AEAD
// ChaCha20-Poly1305.
type KEM uint16

// The KEMs that are accepted. The second also stands against who records ciphertexts now and has a quantum computer
// later, for 1,088 bytes more a ciphertext.
const (
	X25519         KEM = 0x0020 // DHKEM(X25519, HKDF-SHA256)
	MLKEM768X25519 KEM = 0x647a // ML-KEM-768 with X25519
)

func (k KEM) String() string {
	switch k {
	case X25519:
		return "X25519"
	case MLKEM768X25519:
		return "MLKEM768X25519"
	}
	return fmt.Sprintf("KEM %#04x", uint16(k))
}

// HPKE returns the KEM; the error is an ErrParams for one that is not accepted.
func (k KEM) HPKE() (hpke.KEM, error) {
	switch k {
	case X25519:
		return hpke.DHKEM(ecdh.X25519()), nil
	case MLKEM768X25519:
		return hpke.MLKEM768X25519(), nil
	}
	return nil, badConfig("KEM", k, fmt.Sprintf("%v, %v", X25519, MLKEM768X25519))
}
