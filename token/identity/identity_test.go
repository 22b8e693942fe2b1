package identity

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestSignVerify: every type signs what it verifies, and nothing else passes:
// another message, another key, any flipped byte, any other length.
func TestSignVerify(t *testing.T) {
	set := newSet(t)
	all := signers(t)
	message := []byte("a message")
	for name, s := range all {
		t.Run("type="+name, func(t *testing.T) {
			signature := must.Get(s.Sign(message, nil))(t)
			must.Do(t, agree(t, set, s.Identity(), message, signature))
			refuse := func(what string, id Identity, message, signature []byte) {
				t.Helper()
				must.Fail(t, agree(t, set, id, message, signature), zkbench.ErrSignature, "%s", what)
			}
			for i := range signature {
				for _, mask := range []byte{0x01, 0x80} {
					flipped := slices.Clone(signature)
					flipped[i] ^= mask
					refuse(fmt.Sprintf("byte %d ^ %#x", i, mask), s.Identity(), message, flipped)
				}
			}
			refuse("another message", s.Identity(), []byte("a messagf"), signature)
			refuse("empty message", s.Identity(), nil, signature)
			refuse("longer message", s.Identity(), append(slices.Clone(message), 0), signature)
			for _, n := range []int{0, 1, len(signature) / 2, len(signature) - 1} {
				refuse(fmt.Sprintf("%d bytes", n), s.Identity(), message, signature[:n])
			}
			refuse("trailing byte", s.Identity(), message, append(slices.Clone(signature), 0))
			refuse("twice", s.Identity(), message, slices.Concat(signature, signature))
			refuse("zeros", s.Identity(), message, make([]byte, len(signature)))
			refuse("ones", s.Identity(), message, bytes.Repeat([]byte{0xff}, len(signature)))
			for other, o := range all {
				if other != name {
					refuse("as "+other, o.Identity(), message, signature)
				}
			}
		})
	}
	other := ed25519TestSigner(t, "other")
	signature := must.Get(all["ed25519"].Sign(message, nil))(t)
	must.Fail(t, agree(t, set, other.Identity(), message, signature), zkbench.ErrSignature, "another Ed25519 key")
	pseudonym := newPseudonym(t, testBN(), "other")
	signature = must.Get(all["pseudonym"].Sign(message, nil))(t)
	must.Fail(t, agree(t, set, pseudonym.Identity(), message, signature), zkbench.ErrSignature, "another pseudonym")
}

// TestIdentityMalformed: what does not parse says which field, and is never
// kept.
func TestIdentityMalformed(t *testing.T) {
	set := newSet(t)
	good := signers(t)
	cert := good["x509"].Identity()
	point := good["pseudonym"].Identity()
	indefinite := slices.Clone(cert)
	indefinite[2] = 0x80
	noEdwards := make([]byte, 33) // y = 2 is on no point
	noEdwards[0], noEdwards[1] = byte(TypeEd25519), 2
	identityPoint := append([]byte{byte(TypePseudonym), 0x40}, make([]byte, 31)...)
	cases := map[string][]byte{
		"empty":                     {},
		"type=0":                    append([]byte{0}, cert[1:]...),
		"type=4":                    append([]byte{4}, point[1:]...),
		"type=255":                  append([]byte{255}, point[1:]...),
		"x509, type only":           {1},
		"x509, truncated":           cert[:len(cert)-1],
		"x509, trailing":            append(slices.Clone(cert), 0),
		"x509, twice":               append(slices.Clone(cert), cert[1:]...),
		"x509, indefinite length":   indefinite,
		"x509 as ed25519":           append([]byte{2}, cert[1:]...),
		"ed25519, type only":        {2},
		"ed25519, 31 bytes":         good["ed25519"].Identity()[:32],
		"ed25519, 33 bytes":         append(good["ed25519"].Identity(), 0),
		"ed25519, not on the curve": noEdwards,
		"pseudonym, type only":      {3},
		"pseudonym, truncated":      point[:len(point)-1],
		"pseudonym, trailing":       append(slices.Clone(point), 0),
		"pseudonym, identity":       identityPoint,
		"pseudonym, x >= p":         append([]byte{3}, bytes.Repeat([]byte{0xbf}, 32)...),
	}
	for name, der := range foreignCertificates(t) {
		cases["x509 of "+name] = append([]byte{1}, der...)
	}
	for name, id := range cases {
		_, err := set.Verifier(id)
		d, ok := errors.AsType[*zkbench.DecodeError](err)
		if !ok || !errors.Is(err, zkbench.ErrMalformed) || d.Path == "" {
			t.Errorf("%s: %v", name, err)
		}
		must.Fail(t, agree(t, set, id, []byte("m"), make([]byte, 64)), zkbench.ErrMalformed, "%s in a batch", name)
	}
	for _, first := range []byte{1, 2, 3, 9} {
		id := append([]byte{first}, make([]byte, MaxLen)...)
		must.Fail(t, agree(t, set, id, nil, nil), zkbench.ErrLimit, "%d bytes, type %d", len(id), first)
	}
	without := must.Get(NewSet(1, nil))(t)
	must.Fail(t, agree(t, without, point, nil, nil), zkbench.ErrMalformed, "pseudonym without a scheme")
	for _, n := range []int{0, -1} {
		must.FailGet(NewSet(n, nil))(t, zkbench.ErrParams, "%d entries", n)
	}
}

// TestConstructors: a signer whose secret is not its identity's is refused.
func TestConstructors(t *testing.T) {
	key := p256Key(t, rfc6979Key)
	cert := certificate(t, key, &key.PublicKey)
	other := p256Key(t, "00000000000000000000000000000000000000000000000000000000000000FF")
	must.FailGet(NewX509Signer(cert, other))(t, zkbench.ErrParams, "another key")
	must.FailGet(NewX509Signer(cert, nil))(t, zkbench.ErrParams, "no key")
	must.FailGet(NewX509Signer(cert[1:], key))(t, zkbench.ErrMalformed, "no certificate")
	ed := ed25519.NewKeyFromSeed(make([]byte, 32))
	mixed := slices.Clone(ed)
	mixed[40] ^= 1
	for name, k := range map[string]ed25519.PrivateKey{"halves apart": mixed, "short": ed[:63], "none": nil} {
		must.FailGet(NewEd25519Signer(k))(t, zkbench.ErrParams, "ed25519, %s", name)
	}
	must.FailGet(Ed25519(ed.Public().(ed25519.PublicKey)[:31]))(t, zkbench.ErrMalformed, "short key")
	if id := must.Get(Ed25519(ed.Public().(ed25519.PublicKey)))(t); id.Type() != TypeEd25519 || len(id) != 33 {
		t.Errorf("identity %x", id)
	}
	if id := must.Get(X509(cert))(t); id.Type() != TypeX509 || !bytes.Equal(id[1:], cert) {
		t.Error("the certificate is not the identity's payload")
	}
}
