package note

import (
	"crypto/cipher"
	"crypto/rand"

	"filippo.io/edwards25519"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// pointLen is the length of an X25519 encapsulated key in bytes.
const pointLen = 32

// sealOwn encrypts under a secret of the reader itself, in the form of HPKE with X25519. In place of the
// encapsulated key it uses a random point, which has the distribution of an ephemeral public key but takes part in
// no key agreement. The ciphertext is ChaCha20-Poly1305 under a key derived from secret, point and info. Because
// the point is random, no key is used twice, and the nonce is zero.
func sealOwn(secret, info, plain []byte) ([]byte, error) {
	var random [64]byte
	_, _ = rand.Read(random[:]) // which never fails
	scalar, err := new(edwards25519.Scalar).SetUniformBytes(random[:])
	if err != nil {
		return nil, err
	}
	point := new(edwards25519.Point).ScalarBaseMult(scalar).BytesMontgomery()
	aead, err := ownAEAD(secret, point, info)
	if err != nil {
		return nil, err
	}
	return aead.Seal(point, make([]byte, aead.NonceSize()), plain, nil), nil
}

// openOwn opens a share that sealOwn made, and reports whether sealOwn made it.
func openOwn(secret, info []byte, share *Share) (plain []byte, ok bool) {
	if share.KEM != token.X25519 || len(share.Sealed) < pointLen {
		return nil, false
	}
	aead, err := ownAEAD(secret, share.Sealed[:pointLen], info)
	if err != nil {
		return nil, false
	}
	plain, err = aead.Open(nil, make([]byte, aead.NonceSize()), share.Sealed[pointLen:], nil)
	return plain, err == nil
}

func ownAEAD(secret, point, info []byte) (cipher.AEAD, error) {
	var key [chacha20poly1305.KeySize]byte
	_, _ = transcript.XOF("zkbench/v3/note/own key", secret, point, info).Read(key[:]) // never fails
	return chacha20poly1305.New(key[:])
}
