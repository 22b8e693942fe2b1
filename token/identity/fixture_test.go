package identity

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

type (
	bnScalar = fr.Element
	bnPoint  = bn254.G1Affine
	bnScheme = scheme[bnScalar, bnPoint]
)

var testBN = sync.OnceValue(func() *bnScheme {
	s, err := newScheme(group.BN254())
	if err != nil {
		panic(err)
	}
	return s
})

// seeded returns a reader of bytes derived from a label.
func seeded(label string) *seededReader {
	return &seededReader{transcript.XOF("zkbench/v1/test", []byte(label))}
}

type seededReader struct {
	x interface{ Read([]byte) (int, error) }
}

func (r *seededReader) Read(b []byte) (int, error) { return r.x.Read(b) }

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(s))(t)
}

// certificate returns a self-signed certificate of a key.
func certificate(t testing.TB, key, public any) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1, 0)}
	return must.Get(x509.CreateCertificate(rand.Reader, template, template, public, key))(t)
}

func p256Key(t testing.TB, scalar string) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.ParseRawPrivateKey(elliptic.P256(), unhex(t, scalar)))(t)
}

// rfc6979Key is the key of RFC 6979, A.2.5.
const rfc6979Key = "C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"

func x509Signer(t testing.TB) Signer {
	t.Helper()
	key := p256Key(t, rfc6979Key)
	return must.Get(NewX509Signer(certificate(t, key, &key.PublicKey), key))(t)
}

func ed25519TestSigner(t testing.TB, label string) Signer {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	_, _ = seeded(label).Read(seed)
	return must.Get(NewEd25519Signer(ed25519.NewKeyFromSeed(seed)))(t)
}

func newPseudonym(t testing.TB, s Scheme, label string) Pseudonym {
	t.Helper()
	h := must.Get(s.NewHolder(seeded("holder " + label)))(t)
	return must.Get(h.Pseudonym(seeded("pseudonym " + label)))(t)
}

// signers returns one signer of every type.
func signers(t testing.TB) map[string]Signer {
	t.Helper()
	return map[string]Signer{
		"x509":      x509Signer(t),
		"ed25519":   ed25519TestSigner(t, "signer"),
		"pseudonym": newPseudonym(t, testBN(), "signer"),
	}
}

func newSet(t testing.TB) *Set {
	t.Helper()
	return must.Get(NewSet(64, testBN()))(t)
}

func verifyOne(set *Set, id Identity, message, signature []byte) error {
	return set.verify(&item{id: id, message: message, signature: signature})
}

// place is a signature's group and its index there.
type place struct{ group, index int }

// named returns the places that a batch names, one of a group, and checks that
// every error in it is a *zkbench.CheckError for a signature.
func named(t testing.TB, b *Batch, ex executor.Executor) []place {
	t.Helper()
	err := b.Verify(context.Background(), ex)
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("not a joined error: %v", err)
	}
	var bad []place
	for _, err := range joined.Unwrap() {
		c, ok := errors.AsType[*zkbench.CheckError](err)
		if !ok || c.Check != CheckName {
			t.Fatalf("not a CheckError of a signature: %v", err)
		}
		if len(bad) > 0 && bad[len(bad)-1].group >= c.Action {
			t.Fatalf("groups not in order, or twice: %v", err)
		}
		bad = append(bad, place{c.Action, c.Index})
	}
	return bad
}

// agree checks that single verification and a batch of one and of two, with a
// good one beside, say the same, and returns the single's error.
func agree(t testing.TB, set *Set, id Identity, message, signature []byte) error {
	t.Helper()
	err := verifyOne(set, id, message, signature)
	good := ed25519TestSigner(t, "beside")
	goodSignature := must.Get(good.Sign([]byte("beside"), nil))(t)
	for _, with := range []bool{false, true} {
		b := NewBatch(set)
		b.Add(Signed{id, message, signature})
		if with {
			b.Add(Signed{good.Identity(), []byte("beside"), goodSignature})
		}
		var want []place
		if err != nil {
			want = []place{{0, 0}}
		}
		if got := named(t, b, executor.Serial()); !slices.Equal(got, want) {
			t.Errorf("single says %v, batch names %v", err, got)
		}
		together := b.Verify(context.Background(), executor.Serial())
		for _, cause := range []error{zkbench.ErrSignature, zkbench.ErrMalformed, zkbench.ErrLimit} {
			if errors.Is(err, cause) != errors.Is(together, cause) {
				t.Errorf("single says %v, batch %v", err, together)
			}
		}
	}
	return err
}

// foreignCertificates returns certificates whose keys are not ECDSA on P-256.
func foreignCertificates(t testing.TB) map[string][]byte {
	t.Helper()
	out := make(map[string][]byte)
	for name, curve := range map[string]elliptic.Curve{"P-224": elliptic.P224(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		key := must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
		out[name] = certificate(t, key, &key.PublicKey)
	}
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	out["Ed25519"] = certificate(t, key, key.Public())
	rsaKey := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	out["RSA"] = certificate(t, rsaKey, &rsaKey.PublicKey)
	return out
}
