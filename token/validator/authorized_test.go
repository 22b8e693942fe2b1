package validator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// TestAuthorized: what needs neither ledger nor clock is checked as Validate does, and
// nothing else is asked for.
func TestAuthorized(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	alice, bob := s.owners[0], s.owners[1]
	pay := func(outputs ...action.Output) *request.Request {
		a, _ := s.moved("pay", 0, "", ids[:1], outputs...)
		return &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
	}
	plain := func() *request.Request { return pay(output(bob.Identity(), 60), output(alice.Identity(), 40)) }
	signed := func(r *request.Request) []byte { return s.sign(r, []identity.Signer{alice}) }
	for _, test := range []struct {
		name          string
		raw           func() []byte
		check         string // empty: authorized
		action, index int
		cause         error
	}{
		{"a transfer", func() []byte { return signed(plain()) }, "", 0, 0, nil},
		{"an issue", func() []byte {
			r, _ := s.issued("mint", 1)
			return s.sign(r)
		}, "", 0, 0, nil},
		{"no auditor has signed", func() []byte {
			r := plain()
			signed(r)
			r.Auditors[0] = nil
			return s.encode(r)
		}, "", 0, 0, nil},
		{"a proof that does not hold", func() []byte {
			r := plain()
			r.Actions[0].Raw[len(r.Actions[0].Raw)-1] ^= 1
			return signed(r)
		}, "", 0, 0, nil},
		{"encoding", func() []byte { return signed(plain())[1:] }, validator.Structure, -1, -1, zkbench.ErrMalformed},
		{"proof type", func() []byte {
			r := plain()
			r.Actions[0].ProofType = "nonsense"
			return signed(r)
		}, validator.Structure, 0, -1, zkbench.ErrParams},
		{"limits", func() []byte {
			return signed(pay(output(bob.Identity(), 25), output(bob.Identity(), 25), output(bob.Identity(), 25), output(bob.Identity(), 25)))
		}, validator.Structure, 0, -1, zkbench.ErrLimit},
		{"issue without the issuer", func() []byte {
			r, _ := s.issued("mint", 1)
			r.Actions[0].Issuer = nil
			return s.sign(r)
		}, validator.Issuers, 0, -1, zkbench.ErrPolicy},
		{"redeemed without the issuer", func() []byte { return signed(pay(output(nil, 100))) }, validator.RedeemPolicy, 0, -1, zkbench.ErrPolicy},
		{"another owner's signature", func() []byte { return s.sign(plain(), []identity.Signer{bob}) }, validator.Owners, 0, 0, zkbench.ErrSignature},
		{"an output to no identity", func() []byte { return signed(pay(output(identity.Identity("nobody"), 100))) }, validator.OutputOwners, 0, 0, zkbench.ErrMalformed},
	} {
		want(t, test.name, s.v.Authorized(t.Context(), test.raw()), test.check, test.action, test.index, test.cause)
	}
}

// TestAuthorizedScripts: the recipient signs with the preimage and the sender without,
// whatever the time; nobody else does.
func TestAuthorizedScripts(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemOwner)
	alice, bob := s.owners[0], s.owners[1]
	preimage := []byte("a secret")
	image := must.Get(script.Image(preimage))(s)
	claim, reclaim := script.Unlock{Kind: script.Claim, Preimage: preimage}, script.Unlock{Kind: script.Reclaim}
	for _, deadline := range []uint64{1, uint64(s.at.Add(time.Hour).Unix()), script.MaxTime} {
		lock := must.Get(script.NewHashLock(image, deadline, alice.Identity(), bob.Identity()))(s)
		a, _ := s.moved("lock", 0, "", ids[:1], output(lock.Owner(), 100))
		raw := s.sign(&request.Request{Anchor: []byte("lock"), Actions: []request.Action{a}}, []identity.Signer{alice})
		if err := s.v.Authorized(t.Context(), raw); err != nil {
			t.Errorf("deadline %d: locked: %v", deadline, err)
		}
		// A token of the script, with the commitment of another.
		plain := must.Get(token.DecodeToken(s.pp.PointLen(), s.ledger[string(ids[0])]))(s)
		id := token.ID("locked")
		s.ledger[string(id)] = must.Get((&token.Token{Owner: lock.Owner(), Commitment: plain.Commitment}).Encode())(s)
		s.openings[string(id)] = s.openings[string(ids[0])]
		for _, test := range []struct {
			name   string
			unlock script.Unlock
			signer identity.Signer
			owner  identity.Signer
			check  string // empty: authorized
			cause  error
		}{
			{"claim", claim, bob, bob, "", nil},
			{"reclaim", reclaim, alice, alice, "", nil},
			{"claim with another preimage", script.Unlock{Kind: script.Claim, Preimage: []byte("guess")}, bob, bob, validator.TimeLocks, zkbench.ErrPolicy},
			{"claim by the sender", claim, alice, bob, validator.Owners, zkbench.ErrSignature},
			{"reclaim by the recipient", reclaim, bob, alice, validator.Owners, zkbench.ErrSignature},
			{"claim for another", claim, bob, alice, validator.TimeLocks, zkbench.ErrPolicy},
		} {
			a, _ := s.moved("open", 0, "", []token.ID{id}, output(test.owner.Identity(), 100))
			a.Spends[0].Unlock = must.Get(test.unlock.Encode())(s)
			raw := s.sign(&request.Request{Anchor: []byte("open"), Actions: []request.Action{a}}, []identity.Signer{test.signer})
			want(t, fmt.Sprintf("deadline %d: %s", deadline, test.name), s.v.Authorized(t.Context(), raw), test.check, 0, 0, test.cause)
		}
	}
}
