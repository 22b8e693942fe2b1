package validator_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// certified returns a signer with a new certificate of a P-256 key.
func certified(t must.TB, key *ecdsa.PrivateKey, name string) identity.Signer {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(1_700_000_000, 0), NotAfter: time.Unix(1_900_000_000, 0)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	return must.Get(identity.NewX509Signer(der, key))(t)
}

// TestSignatureOfAnotherCertificate: a signature names the certificate for which it is made. Given for one
// certificate of a key it does not spend the token of another one, nor count for a member of a threshold.
func TestSignatureOfAnotherCertificate(t *testing.T) {
	t.Parallel()
	s := newSystem(t, token.RedeemOwner)
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	old, renewed := certified(t, key, "Alice"), certified(t, key, "Alice, renewed")
	both := must.Get(script.NewThreshold(2, old.Identity(), s.owners[0].Identity()))(t)
	r, opened := s.issuedTo("mint", old.Identity(), renewed.Identity(), both.Owner())
	made := s.apply(s.sign(r), opened...).Creates
	to := output(s.owners[1].Identity(), 1)
	spend := func(anchor string, id token.ID) *request.Request {
		a, _ := s.moved(anchor, 0, "", []token.ID{id}, to)
		return &request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}
	}
	for name, signer := range map[string]identity.Signer{"old": old, "renewed": renewed} {
		for i, owner := range []identity.Signer{old, renewed} {
			raw := s.sign(spend("pay", made[i].ID), []identity.Signer{signer})
			_, err := s.v.Validate(t.Context(), s.ledger, raw, s.at)
			if signer == owner {
				must.Do(t, err, name)
			} else {
				want(t, "signed as "+name, err, validator.Owners, 0, 0, zkbench.ErrSignature)
			}
		}
		r := spend("share", made[2].ID)
		r.Actions[0].Spends[0].Unlock = must.Get(both.Unlock(both.Identities()...))(t)
		for _, id := range both.Identities() {
			member := s.owners[0]
			if id.Type() == identity.TypeX509 {
				member = signer
			}
			message := request.ToSign(r.Message(s.id), request.Owner, 0, member.Identity())
			spend := &r.Actions[0].Spends[0]
			spend.Signatures = append(spend.Signatures, must.Get(member.Sign(message[:], nil))(t))
		}
		r.Auditors = [][]byte{s.audited(r)}
		_, err := s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at)
		if signer == old {
			must.Do(t, err)
		} else {
			want(t, "a member's signature, as "+name, err, validator.Owners, 0, 0, zkbench.ErrSignature)
		}
	}
	// The signer may name the certificate that the token has, whichever its own is.
	r = spend("named", made[0].ID)
	message := request.ToSign(r.Message(s.id), request.Owner, 0, old.Identity())
	r.Actions[0].Spends[0].Signatures = [][]byte{must.Get(renewed.Sign(message[:], nil))(t)}
	r.Auditors = [][]byte{s.audited(r)}
	must.Get(s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at))(t)
}

// issuedTo does what issued does, with a token of value 1 for each owner.
func (s *system) issuedTo(anchor string, owners ...[]byte) (*request.Request, []token.Opening) {
	s.Helper()
	var outputs []action.Output
	for _, owner := range owners {
		outputs = append(outputs, output(owner, 1))
	}
	d := must.Get(action.NewIssue(s.Context(), executor.Serial(), s.pp, "USD", action.Spec{Outputs: outputs, Anchor: request.ActionAnchor(s.id, []byte(anchor), 0)}))(s)
	return &request.Request{Anchor: []byte(anchor), Actions: []request.Action{{
		Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(d.Prove(s.Context()))(s), Issuer: s.issues(),
	}}}, d.Openings
}

// TestAnotherIssuersPlace: what auditors and owners sign names the issuer of each action. Shown to them under one
// issuer, a request is not valid under another one, whose signature it has.
func TestAnotherIssuersPlace(t *testing.T) {
	t.Parallel()
	north, south := signerNamed(t, "issuer"), signerNamed(t, "south")
	s := newSystem(t, token.RedeemIssuer, func(p *token.Policy) {
		p.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{north.Identity(), south.Identity()}), bytes.Compare)...)
	})
	issue, _ := s.issued("mint", 1)
	raw := s.sign(issue)
	must.Get(s.v.Validate(t.Context(), s.ledger, raw, s.at))(t)
	digest := issue.Digest(s.id)
	issue.Actions[0].Issuer.Identity = south.Identity()
	if issue.Digest(s.id) == digest {
		t.Error("one digest under two issuers")
	}
	message := request.ToSign(issue.Message(s.id), request.IssuerRole, 0, south.Identity())
	issue.Actions[0].Issuer.Signature = must.Get(south.Sign(message[:], nil))(t)
	_, err := s.v.Validate(t.Context(), s.ledger, s.encode(issue), s.at)
	want(t, "under the other issuer", err, validator.Auditors, -1, 0, zkbench.ErrSignature)
	issue.Actions[0].Issuer = s.issues()
	_, err = s.v.Validate(t.Context(), s.ledger, s.encode(issue), s.at)
	want(t, "without a signature", err, validator.Issuers, 0, -1, zkbench.ErrSignature)
}

// TestAnotherWitness: what auditors sign names the members of a threshold that spend. Two others, whose signatures
// somebody has too, do not take their place.
func TestAnotherWitness(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	r := s.spend("pay", s.owners[0].Identity(), 0, 1)
	must.Get(s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at))(t)
	shown := r.Auditors
	s.authorize(r, 0, 0, 2)
	must.Get(s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at))(t)
	r.Auditors = shown
	_, err := s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at)
	want(t, "other members than the auditor saw", err, validator.Auditors, -1, 0, zkbench.ErrSignature)
}

// TestPreimageIsNotAudited: an auditor signs a claim without its preimage, and the signature holds with it.
func TestPreimageIsNotAudited(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	alice, bob := s.owners[0], s.owners[1]
	preimage := []byte("a secret")
	lock := must.Get(script.NewHashLock(must.Get(script.Image(preimage))(t), uint64(s.at.Add(time.Hour).Unix()), alice.Identity(), bob.Identity()))(t)
	a, opened := s.moved("lock", 0, "", ids[:1], output(lock.Owner(), 100))
	id := s.apply(s.sign(&request.Request{Anchor: []byte("lock"), Actions: []request.Action{a}}, []identity.Signer{alice}), opened...).Creates[0].ID
	a, _ = s.moved("claim", 0, "", []token.ID{id}, output(bob.Identity(), 100))
	a.Spends[0] = request.Spend{Unlock: []byte{byte(script.Claim)}, Preimage: preimage}
	r := &request.Request{Anchor: []byte("claim"), Actions: []request.Action{a}}
	s.sign(r, []identity.Signer{bob})
	shown := r.WithoutPreimages()
	must.Do(t, s.v.Authorized(t.Context(), s.encode(shown)), "as the auditor sees it")
	r.Auditors = [][]byte{s.audited(shown)}
	must.Get(s.v.Validate(t.Context(), s.ledger, s.encode(r), s.at))(t)
	shown.Auditors = r.Auditors
	_, err := s.v.Validate(t.Context(), s.ledger, s.encode(shown), s.at)
	want(t, "without the preimage", err, validator.Scripts, 0, 0, zkbench.ErrMalformed)
}
