package service_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/service"
)

// locked returns the tokens of locks that a party has on the ledger.
func (p *party) locked(t testing.TB) (all []service.LockedToken) {
	t.Helper()
	for h, err := range p.Locked() {
		must.Do(t, err)
		all = append(all, h)
	}
	return all
}

// TestLocked: a token is locked, seen by both, and claimed before the deadline or reclaimed from then on; whoever does not
// spend it learns that it is spent. Vaults are opened again between all steps, and one is lost while the token is locked.
func TestLocked(t *testing.T) {
	preimage := []byte("a secret")
	deadline := blockTime.Add(time.Hour)
	for name, c := range map[string]struct {
		pseudonyms bool
		claim      bool
	}{"claim": {false, true}, "reclaim": {false, false}, "claim by a pseudonym": {true, true}, "reclaim by a pseudonym": {true, false}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			ctx := t.Context()
			make := func(name string) *party {
				if c.pseudonyms {
					return w.party(t, w.pseudonyms(t, name))
				}
				return w.party(t, w.key(t, name))
			}
			alice, bob, eve := make("alice"), make("bob"), make("eve")
			w.fund(t, alice, 100, 7)
			must.Do(t, eve.Sync(ctx, w.ledger))
			lose := false
			both := func() {
				t.Helper()
				for i, p := range []*party{alice, bob} {
					if lose && i == 1 {
						p.lose(t, w)
					} else {
						p.crash(t, w)
					}
					must.Do(t, p.Sync(ctx, w.ledger))
				}
			}
			to := must.Get(service.Locked(sha256.Sum256(preimage), uint64(deadline.Unix()), alice.address(t), bob.address(t)))(t)
			sub := must.Get(alice.pay.Transfer(ctx, paying(to, 100)))(t)
			both()
			golden.Equal(t, "locked before it has landed", 0, len(alice.locked(t))+len(bob.locked(t)))
			w.land(t, sub)
			lose = true
			both()
			lose = false
			for _, p := range []*party{alice, bob} {
				all := p.locked(t)
				golden.Equal(t, "locked", 1, len(all))
				golden.Equal(t, "value", 100, all[0].Value)
				golden.Equal(t, "deadline", uint64(deadline.Unix()), all[0].Lock.Deadline())
			}
			alice.has(t, 7, "what is locked is not")
			bob.has(t, 0, "what is locked is not")

			must.Do(t, eve.Sync(ctx, w.ledger))
			golden.Equal(t, "locked, for a stranger", 0, len(eve.locked(t)))
			id := alice.locked(t)[0].ID
			must.FailGet(bob.pay.Claim(ctx, id, []byte("another")))(t, zkbench.ErrPolicy, "another preimage")
			must.FailGet(bob.pay.Claim(ctx, id, nil))(t, zkbench.ErrMalformed, "no preimage")
			must.FailGet(alice.pay.Claim(ctx, id, preimage))(t, zkbench.ErrPolicy, "claimed by the sender")
			must.FailGet(bob.pay.Reclaim(ctx, id))(t, zkbench.ErrPolicy, "reclaimed by the recipient")
			must.FailGet(eve.pay.Claim(ctx, id, preimage))(t, zkbench.ErrPolicy, "claimed by a stranger")
			golden.Equal(t, "reserved", 0, alice.Taken()+bob.Taken())

			// Both try, each at the other's time first.
			claim, reclaim := must.Get(bob.pay.Claim(ctx, id, preimage))(t), must.Get(alice.pay.Reclaim(ctx, id))(t)
			golden.Equal(t, "locked, while submissions hold it", 0, len(alice.locked(t))+len(bob.locked(t)))
			must.FailGet(bob.pay.Claim(ctx, id, preimage))(t, zkbench.ErrPolicy, "claimed twice")
			must.FailGet(w.submitAt(t, claim, deadline))(t, zkbench.ErrPolicy, "claimed at the deadline")
			must.FailGet(w.submitAt(t, reclaim, deadline.Add(-time.Second)))(t, zkbench.ErrPolicy, "reclaimed before it")
			both()
			if c.claim {
				must.Get(w.submitAt(t, claim, deadline.Add(-time.Second)))(t)
			} else {
				must.Get(w.submitAt(t, reclaim, deadline))(t)
			}
			both()
			golden.Equal(t, "locked at last", 0, len(alice.locked(t))+len(bob.locked(t)))
			paid := map[bool]uint64{true: 100}
			alice.has(t, 7+paid[!c.claim], "at last")
			bob.has(t, paid[c.claim], "at last")
			if c.claim { // and it is money
				w.land(t, must.Get(bob.pay.Transfer(ctx, paying(alice.address(t), 100)))(t))
			}
		})
	}
}

// TestLockedIsKept: who has not spent a lock's token learns that the other one has; a submission that is released or
// discarded gives it back as what it was.
func TestLockedIsKept(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	preimage := []byte("a secret")
	alice, bob := w.funded(t, "alice", 5), w.party(t, w.key(t, "bob"))
	to := must.Get(service.Locked(sha256.Sum256(preimage), uint64(blockTime.Add(time.Hour).Unix()), alice.address(t), bob.address(t)))(t)
	lost := must.Get(alice.pay.Transfer(ctx, paying(to, 5)))(t)
	must.Do(t, alice.Discard(ctx, lost.Request.Anchor))
	alice.has(t, 5, "after a lock that was discarded")
	sub := must.Get(alice.pay.Transfer(ctx, paying(to, 5)))(t)
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, bob.Sync(ctx, w.ledger))
	id := bob.locked(t)[0].ID
	for range 2 {
		claim := must.Get(bob.pay.Claim(ctx, id, preimage))(t)
		must.Do(t, bob.Release(ctx, claim.Request.Anchor))
		golden.Equal(t, "locked after a release", 1, len(bob.locked(t)))
		bob.has(t, 0, "after a release")
		must.Do(t, bob.Discard(ctx, claim.Request.Anchor))
		golden.Equal(t, "locked after it was discarded", 1, len(bob.locked(t)))
	}
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "locked, by the sender", 1, len(alice.locked(t)))
	w.land(t, must.Get(bob.pay.Claim(ctx, id, preimage))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "locked after the other's claim", 0, len(alice.locked(t)))
	_, err := service.Locked([script.ImageLen]byte{}, 0, alice.address(t), bob.address(t))
	must.Fail(t, err, zkbench.ErrMalformed, "no deadline")
}
