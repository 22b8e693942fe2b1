package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// kept are the submissions of a vault, by anchor.
func kept(t must.TB, v *service.Vault) map[string]service.Kept {
	t.Helper()
	all := map[string]service.Kept{}
	for k, err := range v.Submissions() {
		must.Do(t, err)
		all[string(k.Request.Anchor)] = k
	}
	return all
}

// wantKept fails the test unless a vault has that many submissions.
func wantKept(t *testing.T, v *service.Vault, want int, why string) {
	t.Helper()
	golden.Equal(t, "submissions kept: "+why, want, len(kept(t, v)))
}

// TestCrash: after a crash before anything is settled, the reservation, the change and
// the submission are there.
func TestCrash(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.key(t, "bob"))
	w.fund(t, alice, 100)
	sub := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 30)))(t)
	alice.crash(t, w)
	alice.has(t, 0, "the token is reserved")
	must.FailGet(alice.pay.Transfer(ctx, paying(bob.address(t), 30)))(t, zkbench.ErrPolicy, "a second transfer of the token")
	again := kept(t, alice.Vault)[string(sub.Request.Anchor)]
	golden.Equal(t, "deliveries", sub.Deliveries, again.Deliveries)
	w.land(t, &again.Submission)
	must.Do(t, bob.Receive(ctx, again.Deliveries...))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, bob.Sync(ctx, w.ledger))
	alice.has(t, 70, "after paying")
	bob.has(t, 30, "after being paid")
	if k := kept(t, alice.Vault)[string(sub.Request.Anchor)]; !k.Landed {
		t.Error("the deliveries of a submission that has landed are gone")
	}
	must.Do(t, alice.Delivered(ctx, sub.Request.Anchor))
	must.Do(t, alice.Delivered(ctx, sub.Request.Anchor))
	wantKept(t, alice.Vault, 0, "after all is settled")
}

// TestRelease: a lost submission is released, and its token spent again.
func TestRelease(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	w.fund(t, alice, 100)
	lost := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 30)))(t)
	must.Do(t, alice.Sync(ctx, w.ledger)) // nothing is known of it
	alice.has(t, 0, "the request may land")
	must.Do(t, alice.Release(ctx, lost.Request.Anchor))
	alice.has(t, 100, "after the release")
	second := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 45)))(t)
	w.land(t, second)
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, alice.Delivered(ctx, second.Request.Anchor))
	alice.has(t, 55, "after paying 45 of 100")
	wantKept(t, alice.Vault, 0, "the released one can never land")
	asked := w.ledger.asked
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "questions with nothing to ask", asked, w.ledger.asked)
	must.Fail(t, alice.Release(ctx, lost.Request.Anchor), zkbench.ErrParams, "released what is not there")
}

// TestLateLanding: a request lands after it was released. Its change counts, and a
// submission that meanwhile took its token gives back what else it holds.
func TestLateLanding(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	w.fund(t, alice, 100, 7)
	late := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 30)))(t)
	must.Do(t, alice.Release(ctx, late.Request.Anchor))
	second := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 105)))(t) // takes both tokens
	w.land(t, late)
	alice.crash(t, w)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 77, "the change, and the 7 that the second submission held")
	must.FailGet(w.submit(t, second))(t, zkbench.ErrSpent, "the second submission")
	if k := kept(t, alice.Vault); len(k) != 1 || !k[string(late.Request.Anchor)].Landed {
		t.Errorf("%d submissions kept, want the one that landed", len(k))
	}
	must.Fail(t, alice.Release(ctx, late.Request.Anchor), zkbench.ErrPolicy, "released what has landed")
}

// TestLandsWhileAsked: a request that lands between the question for its anchor and
// those for its inputs is not taken for one that never can.
func TestLandsWhileAsked(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 100)
	sub := must.Get(alice.pay.Transfer(t.Context(), paying(alice.address(t), 30)))(t)
	must.Do(t, alice.Sync(t.Context(), &between{memory: w.ledger, digest: 1, do: func() { w.land(t, sub) }}))
	alice.has(t, 70, "the change")
}

// broken is a ledger that cannot be reached for tokens, for digests, or for both.
type broken struct {
	*memory
	token, digest error
}

func (b broken) Token(ctx context.Context, id token.ID) ([]byte, error) {
	if b.token != nil {
		return nil, b.token
	}
	return b.memory.Token(ctx, id)
}

func (b broken) Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error) {
	if b.digest != nil {
		return [32]byte{}, false, b.digest
	}
	return b.memory.Digest(ctx, anchor)
}

// TestOutage: a ledger that cannot be reached changes nothing.
func TestOutage(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100, 50)
	sub := must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 30)))(t)
	w.land(t, sub)
	for _, l := range []broken{{w.ledger, zkbench.ErrEnv, zkbench.ErrEnv}, {w.ledger, zkbench.ErrEnv, nil}} {
		must.Fail(t, alice.Recheck(ctx, l), zkbench.ErrEnv, "an outage")
		alice.has(t, 100, "after an outage")
	}
}

// TestTakenAnchor: somebody else's request has the anchor, so ours can never land.
func TestTakenAnchor(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	sub := must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 30)))(t)
	w.ledger.anchors[string(sub.Request.Anchor)] = [32]byte{1}
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 100, "the input of what can never land")
	wantKept(t, alice.Vault, 0, "it can never land")
}

// TestDiscard: submissions that nobody has seen leave nothing behind.
func TestDiscard(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100, 50)
	var anchors [][]byte
	for range 2 {
		sub := must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 30)))(t)
		anchors = append(anchors, sub.Request.Anchor)
	}
	must.Fail(t, alice.Discard(ctx, anchors[0], []byte("none")), zkbench.ErrParams, "discarded what is not there")
	alice.has(t, 0, "after a call that failed: all or nothing")
	must.Do(t, alice.Discard(ctx, anchors...))
	asked := w.ledger.asked
	must.Do(t, alice.Sync(ctx, w.ledger))
	if got := alice.balance(t); got != 150 || len(kept(t, alice.Vault)) != 0 || w.ledger.asked != asked {
		t.Errorf("%d, %d submissions kept, %d questions", got, len(kept(t, alice.Vault)), w.ledger.asked-asked)
	}
}

// TestRestored: a copy of a vault learns what was spent after it was made.
func TestRestored(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100, 50)
	copied := alice.copied(t, w)
	sub := must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 100)))(t)
	w.land(t, sub)

	copied.open(t, w)
	must.Do(t, copied.Sync(ctx, w.ledger))
	copied.has(t, 150, "Sync asks nothing about unspent tokens")
	must.Do(t, copied.Recheck(ctx, w.ledger))
	copied.has(t, 50, "after the check")
	w.ledger = newMemory(w.genesis) // one that has lost everything
	must.Do(t, copied.Recheck(ctx, w.ledger))
	copied.has(t, 0, "on a ledger that has nothing")
}

// TestAnotherLedger: a vault is for one ledger, and is settled with no other one under the same parameters.
func TestAnotherLedger(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 100)
	genesis := w.genesis
	genesis.Nonce[0]++
	err := alice.Sync(t.Context(), newMemory(genesis))
	must.Fail(t, err, zkbench.ErrParams, "settled with another ledger")
	golden.Contains(t, err.Error(), fmt.Sprintf("%x", w.genesis.ID()), fmt.Sprintf("%x", genesis.ID()))
	must.Fail(t, alice.Recheck(t.Context(), newMemory(genesis)), zkbench.ErrParams, "rechecked with another ledger")
	alice.has(t, 100, "after it")
}

// TestWrongDeliveries: what does not open, is not ours, or is not on the ledger does
// not count.
func TestWrongDeliveries(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	sub := must.Get(w.issuer.Issue(ctx, paying(bob.address(t), 10, 20)))(t)
	good, other := sub.Deliveries[0], sub.Deliveries[1]
	w.land(t, sub)
	edit := func(f func(*service.Delivery)) service.Delivery {
		d := good
		f(&d)
		return d
	}
	for _, test := range []struct {
		name string
		p    *party
		bad  service.Delivery
		want error
	}{
		{"opening=another's", bob, edit(func(d *service.Delivery) { d.Opening = other.Opening }), zkbench.ErrPolicy},
		{"value=another", bob, edit(func(d *service.Delivery) { d.Opening.Value++ }), zkbench.ErrPolicy},
		{"type=another", bob, edit(func(d *service.Delivery) { d.Opening.Type = "EUR" }), zkbench.ErrPolicy},
		{"owner=foreign", alice, good, zkbench.ErrPolicy},
		{"owner=empty", bob, edit(func(d *service.Delivery) { d.Token.Owner = nil }), zkbench.ErrPolicy},
		{"blinding=short", bob, edit(func(d *service.Delivery) { d.Opening.Blinding = d.Opening.Blinding[1:] }), zkbench.ErrLimit},
		{"blinding=no scalar", bob, edit(func(d *service.Delivery) { d.Opening.Blinding = bytes.Repeat([]byte{0xff}, 32) }), nil},
		{"id=empty", bob, edit(func(d *service.Delivery) { d.ID = nil }), zkbench.ErrLimit},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := test.p.Receive(ctx, other, test.bad)
			if err == nil || test.want != nil && !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			must.Do(t, test.p.Sync(ctx, w.ledger))
			test.p.has(t, 0, "of deliveries that were refused")
		})
	}

	// An id that the ledger does not have is expected, and another token's id is not.
	must.Do(t, bob.Receive(ctx, edit(func(d *service.Delivery) { d.ID = token.ID("unknown") })))
	must.Do(t, bob.Receive(ctx, edit(func(d *service.Delivery) { d.ID = other.ID })))
	must.Do(t, bob.Sync(ctx, w.ledger))
	bob.has(t, 0, "of ids that are not the tokens'")
	must.Do(t, bob.Receive(ctx, other, good))
	must.Do(t, bob.Sync(ctx, w.ledger))
	bob.has(t, 30, "of the right deliveries")
	must.Fail(t, bob.Receive(ctx, edit(func(d *service.Delivery) { d.ID = other.ID })), zkbench.ErrPolicy, "another token than the ledger has under the id")
}

// TestIssueLife: an issue waits for the ledger as a transfer does. What has landed is not
// discarded, and goes when it is delivered too, whichever comes first.
func TestIssueLife(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	to := w.party(t, w.key(t, "bob")).address(t)
	for _, delivered := range []bool{false, true} {
		sub := must.Get(w.issuer.Issue(ctx, paying(to, 100)))(t)
		anchor := sub.Request.Anchor
		must.Do(t, w.issued.Sync(ctx, w.ledger))
		if k := kept(t, w.issued); len(k) != 1 || k[string(anchor)].Landed {
			t.Fatalf("%d submissions kept, want the one, not landed", len(k))
		}
		if delivered {
			must.Do(t, w.issued.Delivered(ctx, anchor))
		}
		w.land(t, sub)
		must.Do(t, w.issued.Sync(ctx, w.ledger))
		if !delivered {
			k := kept(t, w.issued)[string(anchor)]
			if diff := cmp.Diff(sub.Deliveries, k.Deliveries); !k.Landed || diff != "" {
				t.Errorf("landed %v, deliveries: %s", k.Landed, diff)
			}
			must.Fail(t, w.issued.Discard(ctx, anchor), zkbench.ErrPolicy, "discarded what has landed")
			must.Do(t, w.issued.Delivered(ctx, anchor))
		}
		wantKept(t, w.issued, 0, "of one that has landed and is delivered")
	}
	// One whose anchor is another's can never land.
	sub := must.Get(w.issuer.Issue(ctx, paying(to, 100)))(t)
	w.ledger.anchors[string(sub.Request.Anchor)] = [32]byte{1}
	must.Do(t, w.issued.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 0, "of one that can never land")
}

// TestOneMoment: Unspent yields the tokens of one moment, whatever its caller does to the
// vault meanwhile.
func TestOneMoment(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) { p.Policy.Limits = token.Limits{Inputs: 4, Outputs: 64, Metadata: 10} })
	alice := w.funded(t, "alice", slices.Repeat([]uint64{10}, 300)...) // more than are read at a time elsewhere
	sum, moved := uint64(0), false
	for h, err := range alice.Unspent() {
		must.Do(t, err)
		if sum += h.Value; moved {
			continue
		}
		moved = true
		for range 10 {
			sub := must.Get(alice.pay.Transfer(t.Context(), paying(alice.address(t), 40)))(t)
			w.land(t, sub)
			must.Do(t, alice.Receive(t.Context(), sub.Deliveries...))
		}
		must.Do(t, alice.Sync(t.Context(), w.ledger))
	}
	if got := alice.balance(t); sum != 3000 || got != 3000 {
		t.Errorf("tokens worth %d and a balance of %d, want 3000", sum, got)
	}
}
