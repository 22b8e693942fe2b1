package identity

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// TestSchemes: on every curve a pseudonym signs, in a batch too, and is bound to
// its curve; two implementations of one group accept each other's signatures.
func TestSchemes(t *testing.T) {
	type signed struct {
		scheme    Scheme
		set       *Set
		id        Identity
		signature []byte
	}
	message := []byte("on every curve")
	var all []signed
	for _, curve := range token.Curves() {
		s := must.Get(NewScheme(curve))(t)
		set := must.Get(NewSet(4, s))(t)
		p := newPseudonym(t, s, curve)
		signature := must.Get(p.Sign(message, seeded("sign")))(t)
		golden.Equal(t, curve+": bytes of a signature", s.SignatureLen(), len(signature))
		must.Do(t, agree(t, set, p.Identity(), message, signature), curve)
		if want := strings.HasPrefix(curve, "BN254") || strings.Contains(curve, "GURVY"); s.ConstantTime() != want {
			t.Errorf("%s: ConstantTime() = %t", curve, s.ConstantTime())
		}
		all = append(all, signed{s, set, p.Identity(), signature})
	}
	for _, from := range all {
		for _, to := range all {
			same := from.scheme.Digest() == to.scheme.Digest()
			if err := agree(t, to.set, from.id, message, from.signature); (err == nil) != same {
				t.Errorf("from %s to %s: %v", from.scheme.Curve(), to.scheme.Curve(), err)
			}
		}
	}
	if all[1].scheme.Digest() != all[3].scheme.Digest() || all[0].scheme.Digest() == all[1].scheme.Digest() {
		t.Error("digests do not follow the groups")
	}
	must.FailGet(NewScheme("P-256"))(t, zkbench.ErrParams, "unknown curve")
}

// textbook verifies zKey·G + zBlinding·H = A + c·P by double-and-add, from the
// bytes, with a transcript written out.
func textbook(s *bnScheme, id Identity, message, signature []byte) bool {
	g := s.g
	if len(id) != 33 || id[0] != 3 || len(signature) != 96 {
		return false
	}
	points, z := make([]bnPoint, 2), make([]bnScalar, 2)
	if g.DecodePoints(points, slices.Concat(id[1:], signature[:32]), group.Subgroup) != nil || g.DecodeScalars(z, signature[32:]) != nil {
		return false
	}
	t := transcript.New("pseudonym")
	digest := s.Digest()
	t.Append("params", digest[:])
	t.Append("kind", []byte("signature"))
	t.Append("points", id[1:])
	t.Append("message", message)
	t.Append("A", signature[:32])
	wide := t.Challenge("c")
	c := g.ScalarFromWide(wide[:])
	var left, right, x bnPoint
	G, _ := group.Generator(g, "pseudonym/key", 0)
	H, _ := group.Generator(g, "pseudonym/blinding", 0)
	g.MulPoint(&left, &G, &z[0])
	g.MulPoint(&x, &H, &z[1])
	g.AddPoints(&left, &left, &x)
	g.MulPoint(&x, &points[0], &c)
	g.AddPoints(&right, &points[1], &x)
	return g.EqualPoints(&left, &right)
}

// TestTextbook: the verifier agrees with the textbook's on random signatures and
// on each of them with any one byte changed.
func TestTextbook(t *testing.T) {
	s, set := testBN(), newSet(t)
	rapid.Check(t, func(rt *rapid.T) {
		p := newPseudonym(t, s, rapid.String().Draw(rt, "holder"))
		message := rapid.SliceOf(rapid.Byte()).Draw(rt, "message")
		signature := must.Get(p.Sign(message, nil))(t)
		if !textbook(s, p.Identity(), message, signature) || verifyOne(set, p.Identity(), message, signature) != nil {
			rt.Fatal("an honest signature is refused")
		}
		at := rapid.IntRange(0, len(signature)-1).Draw(rt, "at")
		signature[at] ^= rapid.ByteRange(1, 255).Draw(rt, "mask")
		if textbook(s, p.Identity(), message, signature) || verifyOne(set, p.Identity(), message, signature) == nil {
			rt.Fatal("a changed signature is accepted")
		}
	})
}

// TestForgeries: A made to fit a challenge chosen first; a signature of knowledge
// of an enrolment used as a signature; responses for another pseudonym of the
// same holder.
func TestForgeries(t *testing.T) {
	s, set := testBN(), newSet(t)
	h := must.Get(s.NewHolder(seeded("forger")))(t)
	p := must.Get(h.Pseudonym(nil))(t).(*pseudonym[bnScalar, bnPoint])
	message := []byte("forged")

	z := make([]bnScalar, 3)
	group.RandomScalars(s.g, z, transcript.XOF("zkbench/v1/test", []byte("z")))
	A := make([]bnPoint, 1)
	v := must.Get(s.verifier(p.point))(t).(*pseudonymVerifier[bnScalar, bnPoint])
	var x bnPoint
	s.g.MulPoint(&x, &s.basis.Points[0], &z[0])
	s.g.MulPoint(&A[0], &s.basis.Points[1], &z[1])
	s.g.AddPoints(&A[0], &A[0], &x)
	s.g.MulPoint(&x, &v.p, &z[2])
	s.g.SubPoints(&A[0], &A[0], &x)
	chosen := s.g.AppendScalars(s.g.AppendPoints(nil, A...), z[:2]...)

	// P solved from the equation after everything else: (z1·G + z2·H - A)/c for
	// the challenge under another P.
	free := must.Get(s.sums(z[:2], z[1:]))(t)
	wide := s.start(kindSignature, p.point, message)
	c := s.challenge(&wide, free[32:])
	var two [2]bnPoint
	must.Do(t, s.g.DecodePoints(two[:], free, group.Subgroup))
	c.Inverse(&c)
	s.g.SubPoints(&x, &two[0], &two[1])
	s.g.MulPoint(&x, &x, &c)
	solved := append(Identity{byte(TypePseudonym)}, s.g.AppendPoints(nil, x)...)
	last := s.g.AppendScalars(slices.Clone(free[32:]), z[:2]...)
	must.Fail(t, agree(t, set, solved, message, last), zkbench.ErrSignature, "pseudonym solved from a signature")

	seed := [transcript.SeedLen]byte{1}
	enrolment := must.Get(s.prove(kindEnrolment, p.point, p.secret, message, seed))(t)
	sibling := must.Get(h.Pseudonym(nil))(t)
	for name, signature := range map[string][]byte{
		"challenge chosen first": chosen,
		"enrolment proof":        enrolment,
		"of a sibling":           must.Get(sibling.Sign(message, nil))(t),
	} {
		must.Fail(t, agree(t, set, p.Identity(), message, signature), zkbench.ErrSignature, "%s", name)
	}
}

// TestExtractor: two transcripts with one A and two challenges give sk and r.
func TestExtractor(t *testing.T) {
	s := testBN()
	p := newPseudonym(t, s, "extract").(*pseudonym[bnScalar, bnPoint])
	k := []bnScalar{fr.NewElement(11), fr.NewElement(12)}
	c1, c2 := fr.NewElement(5), fr.NewElement(9)
	z1, z2 := respond(s.g, k, p.secret, &c1), respond(s.g, k, p.secret, &c2)
	var inverse fr.Element
	inverse.Sub(&c1, &c2).Inverse(&inverse)
	got := make([]bnScalar, 2)
	s.g.SubVec(got, z1, z2)
	s.g.ScaleVec(got, got, &inverse)
	if point := must.Get(s.sums(got))(t); !bytes.Equal(point, p.point) {
		t.Error("what was extracted does not open the pseudonym")
	}
}

// TestNonces: one seed for two messages, or two pseudonyms, gives unrelated A;
// else the secret could be computed. One seed and message gives one signature.
func TestNonces(t *testing.T) {
	s := testBN()
	p, q := newPseudonym(t, s, "p"), newPseudonym(t, s, "q")
	sign := func(p Pseudonym, message, seed string) []byte {
		t.Helper()
		return must.Get(p.Sign([]byte(message), seeded(seed)))(t)
	}
	base := sign(p, "m", "1")
	golden.Equal(t, "a signature of the same inputs", base, sign(p, "m", "1"))
	for name, other := range map[string][]byte{"message": sign(p, "n", "1"), "seed": sign(p, "m", "2"), "pseudonym": sign(q, "m", "1")} {
		if bytes.Equal(base[:32], other[:32]) {
			t.Errorf("another %s has the same A", name)
		}
	}
	must.FailGet(p.Sign([]byte("m"), strings.NewReader("short")))(t, must.ErrAny, "a random source that runs dry")
}

// TestHolder: secrets and nonces restore holders and pseudonyms; every draw is
// another pseudonym; bad secrets are refused.
func TestHolder(t *testing.T) {
	s := testBN()
	h := must.Get(s.NewHolder(nil))(t)
	p := must.Get(h.Pseudonym(nil))(t)
	again := must.Get(must.Get(s.Holder(h.Secret()))(t).Restore(p.Nonce()))(t)
	golden.Equal(t, "a restored pseudonym", p.Identity(), again.Identity())
	other := must.Get(s.NewHolder(nil))(t)
	same := must.Get(other.Restore(p.Nonce()))(t)
	fresh := must.Get(h.Pseudonym(nil))(t)
	if bytes.Equal(p.Identity(), same.Identity()) || bytes.Equal(p.Identity(), fresh.Identity()) {
		t.Error("two pseudonyms are equal")
	}
	for name, secret := range map[string][]byte{
		"empty": nil, "short": h.Secret()[1:], "long": append(h.Secret(), 0), "not below the order": bytes.Repeat([]byte{0xff}, 64),
	} {
		_, err := s.Holder(secret)
		must.Fail(t, err, zkbench.ErrMalformed, "%s", name)
		if err != nil && len(secret) > 0 && strings.Contains(err.Error(), hex.EncodeToString(secret[:8])) {
			t.Errorf("%s: the error tells the secret", name)
		}
	}
	must.FailGet(s.NewHolder(strings.NewReader("short")))(t, must.ErrAny, "a random source that runs dry")
}

// TestSecretSums: the constant-time and the table's sums give the same bytes.
func TestSecretSums(t *testing.T) {
	fast := *testBN()
	fast.secret = fast.basis
	p := newPseudonym(t, testBN(), "sums").(*pseudonym[bnScalar, bnPoint])
	for i := range byte(4) {
		seed := [transcript.SeedLen]byte{i}
		a := must.Get(testBN().prove(kindSignature, p.point, p.secret, []byte("m"), seed))(t)
		b := must.Get(fast.prove(kindSignature, p.point, p.secret, []byte("m"), seed))(t)
		golden.Equal(t, "signatures", b, a)
	}
}

// TestTorsion: on BLS12-381, a pseudonym outside the prime-order subgroup is
// refused. A signer's own A plus a torsion point, absorbed as such, is accepted,
// and an A changed afterwards is not; in batches as alone.
func TestTorsion(t *testing.T) {
	g := group.BLS12381()
	s := must.Get(newScheme(g))(t)
	set := must.Get(NewSet(4, s))(t)
	p := newPseudonym(t, s, "torsion").(*pseudonym[blsScalar, blsPoint])
	message := []byte("torsion")

	// r·Q for a curve point Q outside the subgroup, as (r-1)·Q + Q.
	var torsion blsPoint
	for x := uint64(1); g.IsIdentity(&torsion); x++ {
		var Q [1]blsPoint
		b := new(fp.Element).SetUint64(x).Bytes()
		b[0] |= 0x80
		if g.DecodePoints(Q[:], b[:], group.OnCurve) != nil {
			continue
		}
		var minusOne blsScalar
		one := g.ScalarFromUint64(1)
		g.Neg(&minusOne, &one)
		g.MulPoint(&torsion, &Q[0], &minusOne)
		g.AddPoints(&torsion, &torsion, &Q[0])
	}

	v := must.Get(s.verifier(p.point))(t).(*pseudonymVerifier[blsScalar, blsPoint])
	var moved blsPoint
	g.AddPoints(&moved, &v.p, &torsion)
	good := must.Get(p.Sign(message, nil))(t)
	id := append(Identity{byte(TypePseudonym)}, g.AppendPoints(nil, moved)...)
	must.Fail(t, agree(t, set, id, message, good), zkbench.ErrMalformed, "a pseudonym outside the subgroup")

	// Its signature would satisfy the cleared equation.
	raw := must.Get(s.prove(kindSignature, id[1:], p.secret, message, [transcript.SeedLen]byte{1}))(t)
	must.Do(t, s.check(kindSignature, &moved, id[1:], message, raw), "the signature does not try what it should")
	must.Fail(t, agree(t, set, id, message, raw), zkbench.ErrMalformed, "a pseudonym outside the subgroup that signs")

	a := must.Get(s.decodeA(good))(t)
	g.AddPoints(&a[0], &a[0], &torsion)
	after := append(g.AppendPoints(nil, a...), good[g.PointLen():]...)
	must.Fail(t, agree(t, set, p.Identity(), message, after), zkbench.ErrSignature, "A moved after signing")

	k := []blsScalar{g.ScalarFromUint64(123), g.ScalarFromUint64(456)}
	first := must.Get(s.sums(k))(t)
	must.Do(t, g.DecodePoints(a, first, group.Subgroup))
	g.AddPoints(&a[0], &a[0], &torsion)
	first = g.AppendPoints(nil, a...)
	tr := s.start(kindSignature, p.point, message)
	c := s.challenge(&tr, first)
	own := g.AppendScalars(first, respond(g, k, p.secret, &c)...)
	must.Do(t, agree(t, set, p.Identity(), message, own), "a signer's own A outside the subgroup")
}

// TestVector: the format's bytes; a change of them is a change of every
// signature and audit proof made so far.
func TestVector(t *testing.T) {
	s := testBN()
	e := enrol(t, s, "vector")
	digest, message, bound := s.Digest(), []byte("message"), []byte("context")
	var v golden.Vector
	v.Remark("A pseudonym and what it proves, from fixed seeds: docs/transcript.md, docs/owners.md")
	v.Word("group", s.g.Domain())
	v.Bytes("params", digest[:])
	v.Bytes("name", []byte(e.certificate.Name))
	v.Bytes("request", must.Get(e.holder.Request(e.certificate.Name, seeded("request vector")))(t))
	v.Bytes("authority", e.certificate.Authority)
	v.Bytes("certificate", e.raw)
	v.Bytes("identity", e.pseudonym.Identity())
	v.Bytes("message", message)
	v.Bytes("signature", must.Get(e.pseudonym.Sign(message, seeded("sign")))(t))
	v.Bytes("context", bound)
	v.Bytes("audit", must.Get(e.pseudonym.AuditProof(e.certificate, bound, seeded("audit")))(t))
	golden.Check(t, "token/pseudonym_bn254.txt", v.String())
}
