package validator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// TestAuthorized: what needs neither ledger nor clock, and no proof or auditor, is all that
// is asked for. What is refused TestEveryCheckFailsAlone shows.
func TestAuthorized(t *testing.T) {
	t.Parallel()
	s, ids := funded(t, token.RedeemIssuer)
	a, _ := s.moved("pay", 0, "", ids[:1], output(s.owners[1].Identity(), 100))
	r := &request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}
	must.Do(t, s.v.Authorized(t.Context(), s.sign(r, []identity.Signer{s.owners[0]})))
	r.Auditors[0] = nil
	must.Do(t, s.v.Authorized(t.Context(), s.encode(r)))
	issue, _ := s.issued("mint", 1)
	must.Do(t, s.v.Authorized(t.Context(), s.sign(issue)))
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
			{"claim that shows no preimage", script.Unlock{Kind: script.Claim}, bob, bob, "", nil},
			{"claim with another preimage", script.Unlock{Kind: script.Claim, Preimage: []byte("guess")}, bob, bob, validator.Scripts, zkbench.ErrPolicy},
			{"claim by the sender", claim, alice, bob, validator.Owners, zkbench.ErrSignature},
			{"reclaim by the recipient", reclaim, bob, alice, validator.Owners, zkbench.ErrSignature},
			{"claim for another", claim, bob, alice, validator.Scripts, zkbench.ErrPolicy},
		} {
			a, _ := s.moved("open", 0, "", []token.ID{id}, output(test.owner.Identity(), 100))
			a.Spends[0].Unlock, a.Spends[0].Preimage = []byte{byte(test.unlock.Kind)}, test.unlock.Preimage
			raw := s.sign(&request.Request{Anchor: []byte("open"), Actions: []request.Action{a}}, []identity.Signer{test.signer})
			want(t, fmt.Sprintf("deadline %d: %s", deadline, test.name), s.v.Authorized(t.Context(), raw), test.check, 0, 0, test.cause)
		}
	}
}
