package identity

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/zkbench/zkbench"
)

// ECDSALen is the length in bytes of an ECDSA signature: r || s, each 32 bytes big-endian.
const ECDSALen = 64

type ecdsaVerifier struct{ key *ecdsa.PublicKey }

// Verify accepts r || s if it is an ECDSA signature of SHA-256(message) with 0 < r < n and 0 < s <= (n-1)/2. Of
// s and n-s, which both satisfy the equation, only the lower is accepted. Verify checks these ranges itself and
// builds the DER for crypto/ecdsa, which only checks the equation.
func (v *ecdsaVerifier) Verify(message, signature []byte) error {
	if len(signature) != ECDSALen {
		return rejected(fmt.Sprintf("%d bytes, want %d", len(signature), ECDSALen))
	}
	r, s := signature[:32], signature[32:]
	if isZero(r) || bytes.Compare(r, order[:]) >= 0 {
		return rejected("r is not in 1..n-1")
	}
	if isZero(s) || bytes.Compare(s, halfOrder[:]) > 0 {
		return rejected("s is not in 1..(n-1)/2")
	}
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(r))
		b.AddASN1BigInt(new(big.Int).SetBytes(s))
	})
	hash := sha256.Sum256(message)
	if !ecdsa.VerifyASN1(v.key, hash[:], b.BytesOrPanic()) {
		return rejected("not by this key")
	}
	return nil
}

func (v *ecdsaVerifier) sameKey(other Verifier) bool {
	o, ok := other.(*ecdsaVerifier)
	return ok && v.key.Equal(o.key)
}

// order is the order n of P-256, and halfOrder is (n-1)/2, both big-endian.
var order, halfOrder = func() (n, half [32]byte) {
	N := elliptic.P256().Params().N
	N.FillBytes(n[:])
	new(big.Int).Rsh(N, 1).FillBytes(half[:])
	return n, half
}()

func isZero(b []byte) bool { return bytes.Count(b, []byte{0}) == len(b) }

type ecdsaSigner struct {
	id  Identity
	key crypto.Signer
}

// NewX509Signer returns a Signer that signs as the certificate's owner. The key is an *ecdsa.PrivateKey, or another
// crypto.Signer, for example of a key in hardware (package pkcs11). Sign returns ErrSignature if such a key makes a
// signature that does not verify. NewX509Signer returns ErrParams if key is not the certificate's key.
func NewX509Signer(der []byte, key crypto.Signer) (Signer, error) {
	id, err := X509(der)
	if err != nil {
		return nil, err
	}
	v, err := parseX509(der)
	if err != nil {
		return nil, err
	}
	private, inMemory := key.(*ecdsa.PrivateKey)
	if key == nil || inMemory && private == nil || !v.(*ecdsaVerifier).key.Equal(key.Public()) {
		return nil, fmt.Errorf("%w: the private key is not that of the certificate", zkbench.ErrParams)
	}
	s := &ecdsaSigner{id, key}
	if inMemory {
		return s, nil
	}
	return checkedSigner{s, v}, nil
}

func (s *ecdsaSigner) Identity() Identity { return slices.Clone(s.id) }

// Sign signs SHA-256(message), and returns the low s of the two that satisfy the equation. A key of crypto/ecdsa signs
// deterministically as RFC 6979 specifies.
func (s *ecdsaSigner) Sign(message []byte, _ io.Reader) ([]byte, error) {
	var random io.Reader // nil: crypto/ecdsa then follows RFC 6979
	if _, inMemory := s.key.(*ecdsa.PrivateKey); !inMemory {
		random = rand.Reader
	}
	hash := sha256.Sum256(message)
	der, err := s.key.Sign(random, hash[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	in := cryptobyte.String(der)
	var R, S big.Int
	if !in.ReadASN1(&in, asn1.SEQUENCE) || !in.ReadASN1Integer(&R) || !in.ReadASN1Integer(&S) {
		return nil, fmt.Errorf("%w: the key returned no ASN.1 signature", zkbench.ErrSignature)
	}
	n := elliptic.P256().Params().N
	for _, x := range []*big.Int{&R, &S} {
		if x.Sign() <= 0 || x.Cmp(n) >= 0 {
			return nil, fmt.Errorf("%w: the key returned a number that is not in 1..n-1", zkbench.ErrSignature)
		}
	}
	out := make([]byte, ECDSALen)
	R.FillBytes(out[:32])
	S.FillBytes(out[32:])
	if bytes.Compare(out[32:], halfOrder[:]) > 0 {
		S.Sub(n, &S).FillBytes(out[32:])
	}
	return out, nil
}
