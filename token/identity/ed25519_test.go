package identity

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"testing"

	"filippo.io/edwards25519"
	"github.com/hdevalence/ed25519consensus"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestRFC8032: the first vectors of RFC 8032, section 7.1.
func TestRFC8032(t *testing.T) {
	set := newSet(t)
	for i, v := range []struct{ secret, public, message, signature string }{
		{
			"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
			"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
			"e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
		},
		{
			"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
			"3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
			"92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
		},
		{
			"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
			"fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
			"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
		},
	} {
		signer := must.Get(NewEd25519Signer(ed25519.NewKeyFromSeed(unhex(t, v.secret))))(t)
		golden.Equal(t, fmt.Sprintf("vector %d: identity", i), unhex(t, v.public), signer.Identity()[1:])
		message, want := unhex(t, v.message), unhex(t, v.signature)
		golden.Equal(t, fmt.Sprintf("vector %d", i), want, must.Get(signer.Sign(message, nil))(t))
		must.Do(t, agree(t, set, signer.Identity(), message, want), "vector", i)
	}
}

// smallOrder returns all encodings that decode to points of order 1, 2, 4 and 8: the
// eight canonical ones, then the six others that ZIP-215 accepts (y of p or more,
// or the sign of x = 0 set).
func smallOrder(t testing.TB) [][]byte {
	t.Helper()
	var out [][]byte
	for _, s := range []string{
		"0100000000000000000000000000000000000000000000000000000000000000",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"0000000000000000000000000000000000000000000000000000000000000000",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"0100000000000000000000000000000000000000000000000000000000000080",
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
	} {
		out = append(out, unhex(t, s))
	}
	return out
}

// edCase is a signature, and what ZIP-215 says of it.
type edCase struct {
	name                    string
	key, message, signature []byte
	valid                   bool
}

// edCases returns the adversarial signatures: small-order A and R in every encoding,
// keys and R of mixed order, non-canonical s, and near misses of each.
func edCases(t testing.TB) []edCase {
	t.Helper()
	var out []edCase
	message := []byte("torsion")
	add := func(name string, a, r, s []byte, valid bool) {
		out = append(out, edCase{name, a, message, slices.Concat(r, s), valid})
	}
	zero := make([]byte, 32)
	one := append([]byte{1}, zero[1:]...)
	small := smallOrder(t)
	for i, a := range small {
		for j, r := range small {
			add(fmt.Sprintf("A=small%d/R=small%d/s=0", i, j), a, r, zero, true)
		}
		add(fmt.Sprintf("A=small%d/s=1", i), a, small[0], one, false)
	}
	// A = aB + T, R = rB + T', s = r + k·a satisfies the cofactored equation for
	// every T and T', and the cofactorless one for few.
	scalar := func(label string) *edwards25519.Scalar {
		var wide [64]byte
		_, _ = seeded(label).Read(wide[:])
		return must.Get(new(edwards25519.Scalar).SetUniformBytes(wide[:]))(t)
	}
	secret, nonce := scalar("a"), scalar("r")
	for i, tA := range small[:8] {
		for j, tR := range small[:8] {
			mixed := func(s *edwards25519.Scalar, torsion []byte) []byte {
				p := must.Get(new(edwards25519.Point).SetBytes(torsion))(t)
				return p.Add(p, new(edwards25519.Point).ScalarBaseMult(s)).Bytes()
			}
			a, r := mixed(secret, tA), mixed(nonce, tR)
			digest := sha512.Sum512(slices.Concat(r, a, message))
			k := must.Get(new(edwards25519.Scalar).SetUniformBytes(digest[:]))(t)
			s := new(edwards25519.Scalar).MultiplyAdd(k, secret, nonce)
			name := fmt.Sprintf("A=mixed%d/R=mixed%d", i, j)
			add(name, a, r, s.Bytes(), true)
			if i == j {
				add(name+"/s+L", a, r, plusOrder(s.Bytes()), false)
				s.Add(s, must.Get(new(edwards25519.Scalar).SetCanonicalBytes(one))(t))
				add(name+"/s+1", a, r, s.Bytes(), false)
			}
		}
	}
	off := append([]byte{2}, zero[1:]...) // y = 2 is on no point
	add("R=off the curve", small[0], off, zero, false)
	add("s=L", small[0], small[0], plusOrder(zero), false)
	add("s=2^256-1", small[0], small[0], bytes.Repeat([]byte{0xff}, 32), false)
	return out
}

// plusOrder adds the order of the base point to a little-endian scalar.
func plusOrder(s []byte) []byte {
	order, _ := new(big.Int).SetString("7237005577332262213973186563042994240857116359379907606001950938285454250989", 10)
	be := slices.Clone(s)
	slices.Reverse(be)
	out := new(big.Int).Add(new(big.Int).SetBytes(be), order).FillBytes(make([]byte, 32))
	slices.Reverse(out)
	return out
}

// TestZIP215: on all adversarial cases, single verification, a batch of each, one
// batch of all, and ed25519consensus' own batch say what ZIP-215 says. The
// standard library's cofactorless verification does not: the cases bite.
func TestZIP215(t *testing.T) {
	set := newSet(t)
	all := NewBatch(set)
	var bad []place
	differs := 0
	for i, c := range edCases(t) {
		id := append(Identity{byte(TypeEd25519)}, c.key...)
		err := agree(t, set, id, c.message, c.signature)
		if (err == nil) != c.valid || err != nil && !errors.Is(err, zkbench.ErrSignature) {
			t.Errorf("%s: valid=%t, got %v", c.name, c.valid, err)
		}
		theirs := ed25519consensus.NewBatchVerifier()
		theirs.Add(c.key, c.message, c.signature)
		golden.Equal(t, c.name+": ed25519consensus' batch", c.valid, theirs.Verify())
		if ed25519.Verify(c.key, c.message, c.signature) != c.valid {
			differs++
		}
		all.Add(Signed{id, c.message, c.signature})
		if !c.valid {
			bad = append(bad, place{i, 0})
		}
	}
	forEach(t, func(t *testing.T, ex testExecutor) {
		if got := named(t, all, ex); !slices.Equal(got, bad) {
			t.Errorf("batch of all names %v, want %v", got, bad)
		}
	})
	if differs == 0 {
		t.Error("no case tells cofactored from cofactorless verification")
	}
}

// TestSameKey: one key is told in two certificates and in all that differ from it by a point
// of small order, and others are not.
func TestSameKey(t *testing.T) {
	set := newSet(t)
	verifier := func(id Identity) Verifier { return must.Get(set.Verifier(id))(t) }
	signer := ed25519TestSigner(t, "signer")
	a := verifier(signer.Identity())
	for i, torsion := range smallOrder(t)[:8] {
		p := must.Get(new(edwards25519.Point).SetBytes(torsion))(t)
		p.Add(p, must.Get(new(edwards25519.Point).SetBytes(signer.Identity()[1:]))(t))
		b := verifier(append(Identity{byte(TypeEd25519)}, p.Bytes()...))
		if !SameKey(a, b) || !SameKey(b, a) {
			t.Errorf("another key with the point %d of small order", i)
		}
	}
	first, second := x509Signer(t).Identity(), x509Signer(t).Identity()
	if bytes.Equal(first, second) {
		t.Fatal("two certificates of one key are one")
	}
	if !SameKey(verifier(first), verifier(second)) {
		t.Error("another key in another certificate")
	}
	point := newPseudonym(t, testBN(), "signer").Identity()
	if !SameKey(verifier(point), verifier(point)) {
		t.Error("a pseudonym is not its own")
	}
	other := p256Key(t, "01"+rfc6979Key[2:])
	different := []Identity{
		signer.Identity(), ed25519TestSigner(t, "other").Identity(), first,
		must.Get(X509(certificate(t, other, &other.PublicKey)))(t), point, newPseudonym(t, testBN(), "other").Identity(),
	}
	for i := range different {
		for j := range different {
			if same := SameKey(verifier(different[i]), verifier(different[j])); same != (i == j) {
				t.Errorf("keys %d and %d are the same: %v", i, j, same)
			}
		}
	}
}

// TestCanonical: a point has one encoding that is canonical, the one that crypto/ed25519 makes.
func TestCanonical(t *testing.T) {
	set := newSet(t)
	canonical := func(id Identity) bool { return Canonical(must.Get(set.Verifier(id))(t)) }
	for i, key := range smallOrder(t) {
		golden.Equal(t, fmt.Sprintf("%x", key), i < 8, canonical(append(Identity{byte(TypeEd25519)}, key...)))
	}
	for seed := range byte(8) {
		signer := must.Get(NewEd25519Signer(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, 32))))(t)
		golden.Equal(t, "a key of crypto/ed25519", true, canonical(signer.Identity()))
	}
}
