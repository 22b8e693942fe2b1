package service_test

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// between is a ledger behind whose answer to the question of that number, from 1,
// something happens.
type between struct {
	*memory
	digest, token int
	do            func()
}

func (l *between) Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error) {
	digest, found, err := l.memory.Digest(ctx, anchor)
	if l.digest--; l.digest == 0 {
		l.do()
	}
	return digest, found, err
}

func (l *between) Token(ctx context.Context, id token.ID) ([]byte, error) {
	raw, err := l.memory.Token(ctx, id)
	if l.token--; l.token == 0 {
		l.do()
	}
	return raw, err
}

// anchored gives an order its anchor.
func anchored(anchor string, o service.Order) service.Order {
	o.Anchor = []byte(anchor)
	return o
}

// doomed returns a party with tokens of 10 and rest, and a submission of it under an
// anchor, of the 10, which a copy of the vault has spent elsewhere.
func doomed(t *testing.T, w *world, anchor string, rest ...uint64) (*party, *service.Submission) {
	t.Helper()
	alice := w.funded(t, "alice", append([]uint64{10}, rest...)...)
	other := alice.copied(t, w)
	other.open(t, w)
	dead := must.Get(alice.pay.Transfer(t.Context(), anchored(anchor, paying(service.Address{}, 10))))(t)
	spent := must.Get(other.pay.Transfer(t.Context(), paying(service.Address{}, 10)))(t)
	w.land(t, spent)
	return alice, dead
}

// TestAnchorUsedAgain: Sync finds out about a submission, and before it writes, the
// submission is settled and its anchor is another one's: that one stays as it is.
func TestAnchorUsedAgain(t *testing.T) {
	const anchor = "order 17"
	for _, test := range []struct {
		name  string
		value uint64 // of the second submission
		rest  []uint64
	}{
		{"inputs=1", 20, []uint64{100}},
		{"inputs=2", 150, []uint64{100, 100}},
	} {
		t.Run("dead/"+test.name, func(t *testing.T) {
			w := newWorld(t, nil)
			alice, dead := doomed(t, w, anchor, test.rest...)
			to := w.party(t, w.key(t, "bob")).address(t)
			var second *service.Submission
			must.Do(t, alice.Sync(t.Context(), &between{memory: w.ledger, digest: 2, do: func() {
				must.Do(t, alice.Discard(t.Context(), dead.Request.Anchor))
				second = must.Get(alice.pay.Transfer(t.Context(), anchored(anchor, paying(to, test.value))))(t)
			}}))
			w.land(t, second)
			must.Do(t, alice.Recheck(t.Context(), w.ledger))
			want := -test.value
			for _, v := range test.rest {
				want += v
			}
			alice.has(t, want, "the change")
		})
	}
	t.Run("landed", func(t *testing.T) {
		w := newWorld(t, nil)
		alice := w.party(t, w.key(t, "alice"))
		to := w.party(t, w.key(t, "bob")).address(t)
		w.fund(t, alice, 10, 100)
		first := must.Get(alice.pay.Transfer(t.Context(), anchored(anchor, paying(to, 10))))(t)
		w.land(t, first)
		must.Do(t, alice.Delivered(t.Context(), first.Request.Anchor))
		must.Do(t, alice.Sync(t.Context(), &between{memory: w.ledger, digest: 1, do: func() {
			must.Do(t, alice.Sync(t.Context(), w.ledger))
			must.Get(alice.pay.Transfer(t.Context(), anchored(anchor, paying(to, 20))))(t)
		}}))
		must.Do(t, alice.Recheck(t.Context(), w.ledger)) // the second can never land
		alice.has(t, 100, "the input of the second, which can never land")
	})
}

// TestDeliveredMeanwhile: Sync finds that the ledger has another token under an id, and
// before it writes, that token is delivered.
func TestDeliveredMeanwhile(t *testing.T) {
	w := newWorld(t, nil)
	bob := w.party(t, w.key(t, "bob"))
	sub := must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 10, 20)))(t)
	w.land(t, sub)
	good, bad := sub.Deliveries[0], sub.Deliveries[1]
	bad.ID = good.ID
	must.Do(t, bob.Receive(t.Context(), bad))
	must.Do(t, bob.Sync(t.Context(), &between{memory: w.ledger, token: 1, do: func() {
		must.Do(t, bob.Sync(t.Context(), w.ledger))
		must.Do(t, bob.Receive(t.Context(), good))
	}}))
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	bob.has(t, 10, "the token that was delivered")
}

// TestTakenMeanwhile: Recheck finds a token missing, and before it writes, a submission
// takes the token, and holds it.
func TestTakenMeanwhile(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 100)
	var sub *service.Submission
	must.Do(t, alice.Recheck(t.Context(), &between{memory: newMemory(w.genesis), token: 1, do: func() {
		sub = must.Get(alice.pay.Transfer(t.Context(), paying(alice.address(t), 30)))(t)
	}}))
	must.Do(t, alice.Discard(t.Context(), sub.Request.Anchor))
	alice.has(t, 100, "the token that was held")
}

// lagging is a ledger that answers for anchors from before anything landed.
type lagging struct{ *memory }

func (lagging) Digest(context.Context, []byte) ([32]byte, bool, error) {
	return [32]byte{}, false, nil
}

// TestLaggingDigests: a submission whose outputs the ledger has is not given up for its
// anchor, which it lacks: neither where there is change, nor where there are deliveries.
func TestLaggingDigests(t *testing.T) {
	for name, value := range map[string]uint64{"change": 30, "delivery": 100} {
		t.Run("output="+name, func(t *testing.T) {
			w := newWorld(t, nil)
			alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
			w.fund(t, alice, 100)
			to := service.Address{}
			if name == "delivery" {
				to = bob.address(t)
			}
			sub := must.Get(alice.pay.Transfer(t.Context(), paying(to, value)))(t)
			w.land(t, sub)
			must.Fail(t, alice.Sync(t.Context(), lagging{w.ledger}), must.ErrAny, "a ledger that contradicts itself")
			must.Do(t, alice.Sync(t.Context(), w.ledger))
			if got := alice.balance(t); got != 100-value || !kept(t, alice.Vault)[string(sub.Request.Anchor)].Landed {
				t.Errorf("%d, want %d, and the submission with its deliveries", got, 100-value)
			}
		})
	}
}
