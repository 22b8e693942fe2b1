package identity

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

type (
	blsScalar = blsfr.Element
	blsPoint  = bls12381.G1Affine
)

// enrolled is a holder with a certificate by an Ed25519 authority, and one of
// the holder's pseudonyms.
type enrolled struct {
	authority   Signer
	holder      Holder
	pseudonym   Pseudonym
	raw         []byte
	certificate *Certificate
}

func enrol(t testing.TB, s Scheme, name string) *enrolled {
	t.Helper()
	e := &enrolled{authority: ed25519TestSigner(t, "authority")}
	e.holder = must.Get(s.NewHolder(seeded("holder " + name)))(t)
	request := must.Get(e.holder.Request(name, seeded("request "+name)))(t)
	e.raw = must.Get(s.Enrol(name, request, e.authority))(t)
	e.certificate = must.Get(s.Certificate(e.raw, e.authority.Identity()))(t)
	e.pseudonym = must.Get(e.holder.Pseudonym(seeded("pseudonym " + name)))(t)
	return e
}

// TestEnrol: a request is good for its name only, whole and unchanged; a
// commitment whose opening the applicant does not know is not enrolled.
func TestEnrol(t *testing.T) {
	s := testBN()
	for name, authority := range map[string]Signer{"ed25519": ed25519TestSigner(t, "a"), "x509": x509Signer(t)} {
		h := must.Get(s.NewHolder(nil))(t)
		request := must.Get(h.Request("alice", nil))(t)
		raw := must.Get(s.Enrol("alice", request, authority))(t)
		c := must.Get(s.Certificate(raw, ed25519TestSigner(t, "b").Identity(), authority.Identity()))(t)
		if c.Name != "alice" || !bytes.Equal(c.Authority, authority.Identity()) || !bytes.Equal(c.Commitment, request[:32]) {
			t.Errorf("%s: certificate %+v", name, c)
		}
	}
	authority := ed25519TestSigner(t, "a")
	h := must.Get(s.NewHolder(seeded("alice")))(t)
	request := must.Get(h.Request("alice", nil))(t)
	must.FailGet(s.Enrol("mallory", request, authority))(t, zkbench.ErrSignature, "another's request")
	for i := range request {
		flipped := slices.Clone(request)
		flipped[i] ^= 1
		if _, err := s.Enrol("alice", flipped, authority); !errors.Is(err, zkbench.ErrSignature) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("byte %d: %v", i, err)
		}
	}
	for _, cut := range [][]byte{nil, request[1:], append(slices.Clone(request), 0)} {
		must.FailGet(s.Enrol("alice", cut, authority))(t, zkbench.ErrMalformed, "%d bytes", len(cut))
	}
	for _, name := range []string{"", strings.Repeat("x", MaxName+1)} {
		must.FailGet(s.Enrol(name, request, authority))(t, zkbench.ErrParams, "name of %d bytes", len(name))
	}
	must.FailGet(s.Enrol("alice", request, newPseudonym(t, s, "authority")))(t, zkbench.ErrParams, "a pseudonym as authority")
	// A signature under a pseudonym is no proof of knowledge for enrolment.
	p := newPseudonym(t, s, "confused")
	signature := must.Get(p.Sign([]byte("alice"), nil))(t)
	must.FailGet(s.Enrol("alice", slices.Concat(p.Identity()[1:], signature), authority))(t, zkbench.ErrSignature, "a signature as proof of knowledge")
}

// TestCertificate: no byte of a certificate may change, nor its length, its
// authority, or its group.
func TestCertificate(t *testing.T) {
	s := testBN()
	e := enrol(t, s, "alice")
	authority := e.authority.Identity()
	refused := func(what string, raw []byte, authorities ...Identity) {
		t.Helper()
		c, err := s.Certificate(raw, authorities...)
		if c != nil || !errors.Is(err, zkbench.ErrSignature) && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range e.raw {
		flipped := slices.Clone(e.raw)
		flipped[i] ^= 1
		refused(fmt.Sprintf("byte %d", i), flipped, authority)
		refused(fmt.Sprintf("%d bytes", i), e.raw[:i], authority)
	}
	refused("trailing byte", append(slices.Clone(e.raw), 0), authority)
	refused("no authorities", e.raw)
	refused("another authority", e.raw, ed25519TestSigner(t, "b").Identity())
	must.FailGet(s.Certificate(make([]byte, maxCertificate+1), authority))(t, zkbench.ErrLimit, "too long")
	other := must.Get(NewScheme("FP256BN_AMCL"))(t)
	must.FailGet(other.Certificate(e.raw, authority))(t, must.ErrAny, "another curve")
}

// TestAudit: an audit proof shows whose a pseudonym is, in one context, and every
// other combination is refused.
func TestAudit(t *testing.T) {
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY", "FP256BN_AMCL"} {
		s := must.Get(NewScheme(curve))(t)
		alice, bob := enrol(t, s, "alice"), enrol(t, s, "bob")
		context := []byte("anchor")
		proof := must.Get(alice.pseudonym.AuditProof(alice.certificate, context, nil))(t)
		id := alice.pseudonym.Identity()
		must.Do(t, s.CheckAudit(id, alice.certificate, context, proof), curve)
		refused := func(what string, id Identity, c *Certificate, context, proof []byte) {
			t.Helper()
			if err := s.CheckAudit(id, c, context, proof); !errors.Is(err, zkbench.ErrProof) && !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("%s, %s: %v", curve, what, err)
			}
		}
		sibling := must.Get(alice.holder.Pseudonym(nil))(t)
		refused("bob's certificate", id, bob.certificate, context, proof)
		refused("bob's pseudonym", bob.pseudonym.Identity(), alice.certificate, context, proof)
		refused("alice's other pseudonym", sibling.Identity(), alice.certificate, context, proof)
		refused("another context", id, alice.certificate, []byte("anchos"), proof)
		refused("an Ed25519 identity", ed25519TestSigner(t, "x").Identity(), alice.certificate, context, proof)
		refused("short identity", id[:5], alice.certificate, context, proof)
		refused("no commitment", id, &Certificate{}, context, proof)
		refused("truncated", id, alice.certificate, context, proof[1:])
		refused("trailing byte", id, alice.certificate, context, append(slices.Clone(proof), 0))
		refused("empty", id, alice.certificate, context, nil)
		refused("zeros", id, alice.certificate, context, make([]byte, len(proof)))
		for i := 0; i < len(proof); i += testsize.Pick(5, 1, 1) {
			flipped := slices.Clone(proof)
			flipped[i] ^= 1
			refused(fmt.Sprintf("byte %d", i), id, alice.certificate, context, flipped)
		}
		must.FailGet(alice.pseudonym.AuditProof(bob.certificate, context, nil))(t, zkbench.ErrParams, "%s, proof for another's certificate", curve)
	}
}

// TestAuditForced: a holder who leaves out the prover's check cannot show a
// pseudonym to be that of a certificate with another secret key: every way to
// share out the responses between the two keys is refused.
func TestAuditForced(t *testing.T) {
	s := testBN()
	mallory, alice := enrol(t, s, "mallory"), enrol(t, s, "alice")
	p := mallory.pseudonym.(*pseudonym[bnScalar, bnPoint])
	ah := alice.holder.(*holder[bnScalar, bnPoint])
	for name, keys := range map[string]bnScalar{"mallory's key": p.secret[0], "alice's key": ah.secret[0]} {
		// Even with e of alice's certificate known.
		forged := *p
		forged.h = &holder[bnScalar, bnPoint]{s, []bnScalar{keys, ah.secret[1]}, ah.point}
		forged.secret = []bnScalar{keys, p.secret[1]}
		proof := must.Get(forged.AuditProof(alice.certificate, nil, nil))(t)
		must.Fail(t, s.CheckAudit(p.Identity(), alice.certificate, nil, proof), zkbench.ErrProof, "%s", name)
	}
}

// TestAuditHides: without E nobody can solve audit proofs for it. With
// Y = zKey·G + zE·H = A_E + c·E, E would be Y/c without nonces, and
// (Y - Y')/(c - c') where a repeated seed repeated them.
func TestAuditHides(t *testing.T) {
	s := testBN()
	g := s.g
	e := enrol(t, s, "hidden")
	solve := func(proofs ...[]byte) []byte {
		t.Helper()
		var sum bnPoint
		var c bnScalar
		for i, proof := range proofs {
			z, ok := s.decodeScalars(auditScalars, proof)
			if !ok {
				t.Fatal("not an audit proof")
			}
			if i == 1 {
				s.g.ScaleVec(z, z, new(bnScalar).SetInt64(-1))
			}
			c.Add(&c, &z[0])
			var x bnPoint
			for k, scalar := range []bnScalar{z[1], z[3]} {
				g.MulPoint(&x, &s.basis.Points[k], &scalar)
				g.AddPoints(&sum, &sum, &x)
			}
		}
		c.Inverse(&c)
		g.MulPoint(&sum, &sum, &c)
		return g.AppendPoints(nil, sum)
	}
	prove := func(p Pseudonym, context string) []byte {
		t.Helper()
		return must.Get(p.AuditProof(e.certificate, []byte(context), seeded("repeated")))(t)
	}
	sibling := must.Get(e.holder.Pseudonym(nil))(t)
	first := prove(e.pseudonym, "anchor")
	for name, guess := range map[string][]byte{
		"one proof":      solve(first),
		"two contexts":   solve(first, prove(e.pseudonym, "another")),
		"two pseudonyms": solve(first, prove(sibling, "anchor")),
	} {
		if bytes.Equal(guess, e.certificate.Commitment) {
			t.Errorf("%s: the commitment follows from public values", name)
		}
	}

	// The same solution finds E where the nonces do repeat.
	p := e.pseudonym.(*pseudonym[bnScalar, bnPoint])
	k := []bnScalar{fr.NewElement(1), fr.NewElement(2), fr.NewElement(3)}
	secret := []bnScalar{p.secret[0], p.secret[1], p.h.secret[1]}
	leak := func(c bnScalar) []byte {
		return g.AppendScalars(g.AppendScalars(nil, c), respond(g, k, secret, &c)...)
	}
	if !bytes.Equal(solve(leak(fr.NewElement(7)), leak(fr.NewElement(9))), e.certificate.Commitment) {
		t.Error("the attack does not find E where it should")
	}
}
