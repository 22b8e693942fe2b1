package head

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"github.com/zkbench/zkbench/token"
)

const (
	// cosignatureType is the signature type of a timestamped Ed25519 cosignature (C2SP signed-note, "Signature
	// types").
	cosignatureType = 0x04
	keyIDLen        = 4
	timestampLen    = 8
	// mldsa44SignatureSize is the length of a signature of FIPS 204. Witnesses may make such cosignatures.
	mldsa44SignatureSize = 2420
	// maxTime is the last second of year 9999, the last that RFC 3339 can write. C2SP allows 2^63-1, at which
	// a time.Time overflows.
	maxTime = 253402300799
)

const validatorPrefix = "zkbench/validator/"

// KeyName returns the name under which a validator signs heads: "zkbench/validator/" and its head key in
// lowercase hexadecimal digits.
func KeyName(headKey [ed25519.PublicKeySize]byte) string {
	return validatorPrefix + hex.EncodeToString(headKey[:])
}

// Validators returns the verifiers of the validators' cosignatures, in the policy's order.
func Validators(p *token.Policy) []note.Verifier {
	all := make([]note.Verifier, len(p.Validators))
	for i, v := range p.Validators {
		all[i] = NewVerifier(KeyName(v.HeadKey), v.HeadKey)
	}
	return all
}

// NewVerifier returns a verifier of Ed25519 cosignatures, as C2SP tlog-cosignature specifies them, by the cosigner
// with the given name and key. A validator's name is the KeyName of its key; a witness says which name it has.
//
// It accepts exactly what crypto/ed25519 accepts, as other programs that read notes do. Package identity accepts
// more, so a validator could make a signature about which two readers disagree. It also refuses times after year
// 9999.
func NewVerifier(name string, key [ed25519.PublicKeySize]byte) note.Verifier {
	return newCosignerKey(name, key)
}

// cosignerKey implements note.Verifier.
type cosignerKey struct {
	name string
	id   uint32
	key  [ed25519.PublicKeySize]byte
}

// newCosignerKey computes the key id: the first bytes of SHA-256(name || "\n" || type || key).
func newCosignerKey(name string, key [ed25519.PublicKeySize]byte) *cosignerKey {
	sum := sha256.Sum256(append([]byte(name+"\n"), append([]byte{cosignatureType}, key[:]...)...))
	return &cosignerKey{name, binary.BigEndian.Uint32(sum[:keyIDLen]), key}
}

func (k *cosignerKey) Name() string { return k.name }

func (k *cosignerKey) KeyHash() uint32 { return k.id }

func (k *cosignerKey) Verify(text, signature []byte) bool {
	if len(signature) != timestampLen+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(signature)
	return seconds <= maxTime && ed25519.Verify(k.key[:], cosigned(seconds, text), signature[timestampLen:])
}

// timestampOf returns the time of a cosignature in a note, in seconds. It returns 0 for a signature that is neither an
// Ed25519 nor an ML-DSA-44 cosignature.
func timestampOf(s note.Signature) uint64 {
	raw, _ := base64.StdEncoding.DecodeString(s.Base64)
	switch len(raw) {
	case keyIDLen + timestampLen + ed25519.SignatureSize, keyIDLen + timestampLen + mldsa44SignatureSize:
		return binary.BigEndian.Uint64(raw[keyIDLen:])
	}
	return 0
}

// cosigned returns the message that a cosigner signs for a checkpoint.
func cosigned(seconds uint64, checkpoint []byte) []byte {
	return fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, checkpoint)
}
