package identity

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"encoding/asn1"
	"io"
	"math/big"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// hardware is a key that is not of package crypto. It signs with key, and damage changes its signatures.
type hardware struct {
	public crypto.PublicKey
	key    crypto.Signer
	damage func([]byte) []byte
}

func (h *hardware) Public() crypto.PublicKey { return h.public }

func (h *hardware) Sign(rand io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	signature, err := h.key.Sign(rand, digest, opts)
	if err == nil && h.damage != nil {
		signature = h.damage(signature)
	}
	return signature, err
}

// TestForeignKeys: a key outside this process signs for its identity, on P-256 always with the lower s. Signatures that do
// not verify, of a faulty key or of another than the public one, do not leave the signer.
func TestForeignKeys(t *testing.T) {
	ec, ed := p256Key(t, rfc6979Key), ed25519.NewKeyFromSeed(make([]byte, 32))
	cert := certificate(t, ec, &ec.PublicKey)
	x509Of := func(h *hardware) (Signer, error) { return NewX509Signer(cert, h) }
	edOf := func(h *hardware) (Signer, error) { return NewEd25519Signer(h) }
	high := func(want bool) func([]byte) []byte {
		return func(der []byte) []byte {
			var v struct{ R, S *big.Int }
			_, err := asn1.Unmarshal(der, &v)
			must.Do(t, err)
			if half := new(big.Int).SetBytes(halfOrder[:]); (v.S.Cmp(half) > 0) != want {
				v.S.Sub(elliptic.P256().Params().N, v.S)
			}
			return must.Get(asn1.Marshal(v))(t)
		}
	}
	for name, s := range map[string]Signer{
		"low s":   must.Get(x509Of(&hardware{&ec.PublicKey, ec, high(false)}))(t),
		"high s":  must.Get(x509Of(&hardware{&ec.PublicKey, ec, high(true)}))(t),
		"Ed25519": must.Get(edOf(&hardware{ed.Public(), ed, nil}))(t),
	} {
		signature := must.Get(s.Sign([]byte("message"), nil))(t)
		must.Do(t, agree(t, newSet(t), s.Identity(), []byte("message"), signature), name)
	}
	flip := func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
	pair := func(r, s *big.Int) func([]byte) []byte {
		return func([]byte) []byte { return must.Get(asn1.Marshal(struct{ R, S *big.Int }{r, s}))(t) }
	}
	one, n := big.NewInt(1), elliptic.P256().Params().N
	otherEC, otherEd := p256Key(t, "00000000000000000000000000000000000000000000000000000000000000FF"), ed25519.NewKeyFromSeed(bytes.Repeat([]byte{1}, 32))
	for name, s := range map[string]Signer{
		"a flipped bit":          must.Get(x509Of(&hardware{&ec.PublicKey, ec, flip}))(t),
		"another private key":    must.Get(x509Of(&hardware{&ec.PublicKey, otherEC, nil}))(t),
		"no ASN.1":               must.Get(x509Of(&hardware{&ec.PublicKey, ec, func(b []byte) []byte { return b[:9] }}))(t),
		"r = 0":                  must.Get(x509Of(&hardware{&ec.PublicKey, ec, pair(new(big.Int), one)}))(t),
		"s = n":                  must.Get(x509Of(&hardware{&ec.PublicKey, ec, pair(one, n)}))(t),
		"s of 33 bytes":          must.Get(x509Of(&hardware{&ec.PublicKey, ec, pair(one, new(big.Int).Lsh(one, 256))}))(t),
		"r below 0":              must.Get(x509Of(&hardware{&ec.PublicKey, ec, pair(big.NewInt(-1), one)}))(t),
		"Ed25519, a flipped bit": must.Get(edOf(&hardware{ed.Public(), ed, flip}))(t),
		"Ed25519, short":         must.Get(edOf(&hardware{ed.Public(), ed, func(b []byte) []byte { return b[:63] }}))(t),
		"Ed25519, another key":   must.Get(edOf(&hardware{ed.Public(), otherEd, nil}))(t),
	} {
		must.FailGet(s.Sign([]byte("message"), nil))(t, zkbench.ErrSignature, "%s", name)
	}
	must.FailGet(x509Of(&hardware{&otherEC.PublicKey, ec, nil}))(t, zkbench.ErrParams, "not the certificate's key")
	must.FailGet(x509Of(&hardware{ed.Public(), ed, nil}))(t, zkbench.ErrParams, "not a key on P-256")
	must.FailGet(edOf(&hardware{&ec.PublicKey, ec, nil}))(t, zkbench.ErrParams, "not an Ed25519 key")
	must.FailGet(edOf(&hardware{ed.Public().(ed25519.PublicKey)[:31], ed, nil}))(t, zkbench.ErrMalformed, "a short public key")
	must.FailGet(NewEd25519Signer(nil))(t, zkbench.ErrParams, "no key")
	must.FailGet(NewX509Signer(cert, (*ecdsa.PrivateKey)(nil)))(t, zkbench.ErrParams, "a nil pointer")
}
