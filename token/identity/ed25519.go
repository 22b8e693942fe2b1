package identity

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha512"
	"fmt"
	"io"
	"slices"

	"filippo.io/edwards25519"
	"github.com/hdevalence/ed25519consensus"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// Ed25519 returns the identity of a key. Ed25519 accepts keys as ZIP-215 does: any encoding of a point on the
// curve, even of a point of small order, for which anybody can sign. Ed25519 returns a *zkbench.DecodeError if
// the key is not such an encoding.
func Ed25519(key ed25519.PublicKey) (Identity, error) {
	id := append(Identity{byte(TypeEd25519)}, key...)
	if _, err := parse(id, nil); err != nil {
		return nil, err
	}
	return id, nil
}

type ed25519Verifier struct {
	key [ed25519.PublicKeySize]byte
	a   *edwards25519.Point

	cleared *edwards25519.Point // 8·a, the only form of a in Verify's equation
}

func parseEd25519(key []byte) (Verifier, error) {
	v := new(ed25519Verifier)
	if len(key) != len(v.key) {
		return nil, malformed("key", 1, fmt.Sprintf("%d bytes, want %d", len(key), len(v.key)))
	}
	copy(v.key[:], key)
	var err error
	if v.a, err = new(edwards25519.Point).SetBytes(key); err != nil {
		return nil, malformed("key", 1, "not a point of the curve")
	}
	v.cleared = new(edwards25519.Point).MultByCofactor(v.a)
	return v, nil
}

// Verify accepts R || s as ZIP-215 specifies: any encoding of R, canonical s, and 8·(s·B - R - k·A) = 0.
func (v *ed25519Verifier) Verify(message, signature []byte) error {
	if !ed25519consensus.Verify(v.key[:], message, signature) {
		return rejected("not by this key")
	}
	return nil
}

// sameKey compares the keys without their components of small order, which do not change who can sign.
func (v *ed25519Verifier) sameKey(other Verifier) bool {
	o, ok := other.(*ed25519Verifier)
	return ok && v.cleared.Equal(o.cleared) == 1
}

type ed25519Signer struct {
	id  Identity
	key crypto.Signer
}

// NewEd25519Signer returns a Signer that signs with an Ed25519 key: an ed25519.PrivateKey, or another crypto.Signer, for
// example of a key in hardware (package pkcs11). Sign returns ErrSignature if such a key makes a signature that does not
// verify. NewEd25519Signer returns ErrParams if the key is not an Ed25519 key. It also returns ErrParams if the public
// half of an ed25519.PrivateKey does not belong to the secret half, because signatures with such a key would reveal the
// secret half.
func NewEd25519Signer(key crypto.Signer) (Signer, error) {
	none := fmt.Errorf("%w: not an Ed25519 private key", zkbench.ErrParams)
	if private, inMemory := key.(ed25519.PrivateKey); inMemory {
		if len(private) != ed25519.PrivateKeySize || !ed25519.NewKeyFromSeed(private.Seed()).Equal(private) {
			return nil, none
		}
		return newEd25519Signer(private.Public().(ed25519.PublicKey), slices.Clone(private)), nil
	}
	if key == nil {
		return nil, none
	}
	public, ok := key.Public().(ed25519.PublicKey)
	if !ok {
		return nil, none
	}
	v, err := parseEd25519(public)
	if err != nil {
		return nil, err
	}
	return checkedSigner{newEd25519Signer(public, key), v}, nil
}

func newEd25519Signer(public ed25519.PublicKey, key crypto.Signer) *ed25519Signer {
	return &ed25519Signer{append(Identity{byte(TypeEd25519)}, public...), key}
}

func (s *ed25519Signer) Identity() Identity { return slices.Clone(s.id) }

// Sign signs as RFC 8032 specifies.
func (s *ed25519Signer) Sign(message []byte, _ io.Reader) ([]byte, error) {
	return s.key.Sign(rand.Reader, message, crypto.Hash(0))
}

// ed25519Claim is a decoded signature: the claim that 8·(s·B - R - k·A) = 0.
type ed25519Claim struct {
	a, r *edwards25519.Point
	s, k edwards25519.Scalar
}

// decode decodes a signature as Verify does. It returns the state that determines the claim: k, which hashes R,
// A and the message, followed by s.
func (c *ed25519Claim) decode(v *ed25519Verifier, message, signature []byte) (state []byte, err error) {
	if len(signature) != ed25519.SignatureSize {
		return nil, rejected(fmt.Sprintf("%d bytes, want %d", len(signature), ed25519.SignatureSize))
	}
	c.a = v.a
	if c.r, err = new(edwards25519.Point).SetBytes(signature[:32]); err != nil {
		return nil, rejected("R is not a point of the curve")
	}
	if _, err = c.s.SetCanonicalBytes(signature[32:]); err != nil {
		return nil, rejected("s is not below the order")
	}
	h := sha512.New()
	h.Write(signature[:32])
	h.Write(v.key[:])
	h.Write(message)
	k := h.Sum(nil)
	if _, err = c.k.SetUniformBytes(k); err != nil {
		return nil, err
	}
	return append(k, signature[32:]...), nil
}

// ed25519Claims are claims that are verified together.
type ed25519Claims []ed25519Claim

// holds checks 8·Σ w_i·(s_i·B - R_i - k_i·A_i) = 0 over the claims at indices. The sum is divided among the
// executor's tasks.
func (cs ed25519Claims) holds(ctx context.Context, ex executor.Executor, indices []int, weights []weight) (bool, error) {
	tasks := executor.Cut(ex, len(indices), leastSignatures)
	parts := make([]edwards25519.Point, tasks)
	if err := ex.Do(ctx, tasks, func(_ context.Context, t int) error {
		lo, hi := t*len(indices)/tasks, (t+1)*len(indices)/tasks
		return cs.sum(&parts[t], indices[lo:hi], weights[lo:hi])
	}); err != nil {
		return false, err
	}
	total := edwards25519.NewIdentityPoint()
	for i := range parts {
		total.Add(total, &parts[i])
	}
	total.MultByCofactor(total)
	return total.Equal(edwards25519.NewIdentityPoint()) == 1, nil
}

func (cs ed25519Claims) sum(z *edwards25519.Point, indices []int, weights []weight) error {
	n := len(indices)
	values := make([]edwards25519.Scalar, 2*n+1)
	scalars, points := make([]*edwards25519.Scalar, 2*n+1), make([]*edwards25519.Point, 2*n+1)
	for i := range scalars {
		scalars[i] = &values[i]
	}
	base := scalars[2*n]
	points[2*n] = edwards25519.NewGeneratorPoint()
	for j, i := range indices {
		c, r, a := &cs[i], scalars[2*j], scalars[2*j+1]
		var wide [32]byte
		copy(wide[:], weights[j][:])
		if _, err := r.SetCanonicalBytes(wide[:]); err != nil { // 128 bits are below the order
			return err
		}
		a.Multiply(r, &c.k)
		base.MultiplyAdd(r, &c.s, base)
		points[2*j], points[2*j+1] = c.r, c.a
	}
	base.Negate(base)
	z.VarTimeMultiScalarMult(scalars, points)
	return nil
}

// Canonical reports whether v's key is in its canonical encoding. An Ed25519 key can have other encodings,
// which ZIP-215 accepts and RFC 8032 does not, so two implementations could disagree about a signature.
func Canonical(v Verifier) bool {
	e, ok := v.(*ed25519Verifier)
	return !ok || bytes.Equal(e.key[:], e.a.Bytes())
}

// AnybodySigns reports whether v accepts signatures that anybody can make: v has an Ed25519 key of small order,
// which ZIP-215 accepts. Verifiers accept such keys. A caller that needs a key to identify somebody must refuse
// them.
func AnybodySigns(v Verifier) bool {
	e, ok := v.(*ed25519Verifier)
	return ok && e.cleared.Equal(edwards25519.NewIdentityPoint()) == 1
}
