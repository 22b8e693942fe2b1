package identity

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"fmt"
	"io"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/zkbench/zkbench"
)

// ECDSALen is the length in bytes of an ECDSA signature: r || s, 32 bytes
// big-endian each.
const ECDSALen = 64

// X509 returns the identity of a DER certificate with a P-256 key.
func X509(der []byte) (Identity, error) {
	id := append(Identity{byte(TypeX509)}, der...)
	_, err := parse(id, nil)
	if err != nil {
		return nil, err
	}
	return id, nil
}

type ecdsaVerifier struct{ key *ecdsa.PublicKey }

func parseX509(der []byte) (Verifier, error) {
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, malformed("certificate", 1, "not one certificate in DER")
	}
	key, ok := cert.PublicKey.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, malformed("certificate", 1, "key is not ECDSA on P-256")
	}
	return &ecdsaVerifier{key}, nil
}

// Verify accepts r || s with 0 < r < n and 0 < s <= (n-1)/2 that is an ECDSA
// signature of SHA-256(message): of s and n-s, which verify alike, only the low.
func (v *ecdsaVerifier) Verify(message, signature []byte) error {
	if len(signature) != ECDSALen {
		return rejected(fmt.Sprintf("%d bytes, want %d", len(signature), ECDSALen))
	}
	if bytes.Compare(signature[32:], halfOrder[:]) > 0 {
		return rejected("s is above half the order")
	}
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(signature[:32]))
		b.AddASN1BigInt(new(big.Int).SetBytes(signature[32:]))
	})
	hash := sha256.Sum256(message)
	if !ecdsa.VerifyASN1(v.key, hash[:], b.BytesOrPanic()) {
		return rejected("not by this key")
	}
	return nil
}

// halfOrder is (n-1)/2 for the order n of P-256, big-endian.
var halfOrder = func() (half [32]byte) {
	new(big.Int).Rsh(elliptic.P256().Params().N, 1).FillBytes(half[:])
	return half
}()

type ecdsaSigner struct {
	id  Identity
	key *ecdsa.PrivateKey
}

// NewX509Signer signs as the certificate's owner. A key that is not the
// certificate's is an ErrParams.
func NewX509Signer(der []byte, key *ecdsa.PrivateKey) (Signer, error) {
	id, err := X509(der)
	if err != nil {
		return nil, err
	}
	v, err := parseX509(der)
	if err != nil {
		return nil, err
	}
	if key == nil || !v.(*ecdsaVerifier).key.Equal(&key.PublicKey) {
		return nil, fmt.Errorf("%w: the private key is not that of the certificate", zkbench.ErrParams)
	}
	return &ecdsaSigner{id, key}, nil
}

func (s *ecdsaSigner) Identity() Identity { return slices.Clone(s.id) }

// Sign signs as RFC 6979 says, SHA-256, and returns the low s.
func (s *ecdsaSigner) Sign(message []byte, _ io.Reader) ([]byte, error) {
	hash := sha256.Sum256(message)
	der, err := s.key.Sign(nil, hash[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	in := cryptobyte.String(der)
	var R, S big.Int
	if !in.ReadASN1(&in, asn1.SEQUENCE) || !in.ReadASN1Integer(&R) || !in.ReadASN1Integer(&S) {
		return nil, fmt.Errorf("%w: crypto/ecdsa returned no ASN.1 signature", zkbench.ErrSignature)
	}
	out := make([]byte, ECDSALen)
	R.FillBytes(out[:32])
	S.FillBytes(out[32:])
	if bytes.Compare(out[32:], halfOrder[:]) > 0 {
		S.Sub(elliptic.P256().Params().N, &S).FillBytes(out[32:])
	}
	return out, nil
}
