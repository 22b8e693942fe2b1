package service_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// statuses returns what the history of a party says of requests, the last of each anchor.
func (p *party) statuses(t must.TB) map[string]service.Status {
	t.Helper()
	all := make(map[string]service.Status)
	for m, err := range p.History() {
		must.Do(t, err)
		all[string(m.Anchor)] = m.Status
	}
	return all
}

// TestCancel: a payment whose answer was lost is cancelled and paid again, and the payee is paid once, whichever of the two lands.
func TestCancel(t *testing.T) {
	for _, first := range []string{"the cancellation", "the payment"} {
		t.Run(first+" lands", func(t *testing.T) {
			w := newWorld(t, nil)
			ctx := t.Context()
			alice, bob := w.funded(t, "alice", 60, 50, 7), w.party(t, w.key(t, "bob"))
			lost := must.Get(alice.pay.Transfer(ctx, anchored("lost", paying(bob.address(t), 100))))(t)
			alice.has(t, 7, "held by the payment")
			back := must.Get(alice.pay.Cancel(ctx, []byte("lost")))(t)
			alice.has(t, 7, "held by both")
			alice.crash(t, w)
			wantKept(t, alice.Vault, 2, "the payment and its cancellation")
			other, paid := lost, uint64(100)
			if first == "the cancellation" {
				w.land(t, back)
			} else {
				w.land(t, lost)
				other, paid = back, 0
			}
			must.FailGet(w.submit(t, other))(t, zkbench.ErrSpent, "the other one")
			must.Do(t, errors.Join(alice.Sync(ctx, w.ledger), bob.Sync(ctx, w.ledger)))
			wantKept(t, alice.Vault, 0, "neither waits")
			alice.has(t, 17+paid, "what is left")
			bob.has(t, 100-paid, "what was paid")
			want := map[bool]service.Status{true: service.Cancelled, false: service.Landed}[paid > 0]
			golden.Equal(t, "the payment", want, alice.statuses(t)["lost"])
		})
	}
}

// TestCancelIsTakenBack: a cancellation that is discarded leaves the payment as it was; one token is cancelled once; and what cannot be
// cancelled is said.
func TestCancelIsTakenBack(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 50), w.party(t, w.key(t, "bob"))
	pay := must.Get(alice.pay.Transfer(ctx, anchored("pay", paying(bob.address(t), 10))))(t)
	must.FailGet(alice.pay.Cancel(ctx, []byte("another")))(t, zkbench.ErrParams, "no submission")
	back := must.Get(alice.pay.Cancel(ctx, []byte("pay")))(t)
	must.FailGet(alice.pay.Cancel(ctx, []byte("pay")))(t, zkbench.ErrPolicy, "cancelled twice")
	golden.Equal(t, "taken", 0, alice.Taken())
	must.Do(t, alice.Discard(ctx, back.Request.Anchor))
	alice.has(t, 0, "the payment holds its token again")
	must.Do(t, alice.Release(ctx, []byte("pay")))
	alice.has(t, 50, "released")
	back = must.Get(alice.pay.Cancel(ctx, []byte("pay")))(t)
	alice.has(t, 0, "held by the cancellation of what was released")
	w.land(t, back)
	must.FailGet(w.submit(t, pay))(t, zkbench.ErrSpent, "what was cancelled")
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 50, "after it")

	both := must.Get(service.Shared(1, alice.address(t), bob.address(t)))(t)
	w.land(t, must.Get(alice.pay.Transfer(ctx, paying(both, 50)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	o := paying(bob.address(t), 50)
	o.From = []token.ID{alice.shared(t)[0].ID}
	sub := must.Get(alice.pay.Propose(ctx, 0, o))(t)
	must.FailGet(alice.pay.Cancel(ctx, sub.Request.Anchor))(t, zkbench.ErrPolicy, "a token that is owned with others")
}

// TestConsolidate: forty tokens of 1 cannot pay 30 under a limit of four inputs, and can when they are merged.
func TestConsolidate(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var ones []uint64
	for range 40 {
		ones = append(ones, 1)
	}
	alice, bob := w.funded(t, "alice", ones...), w.party(t, w.key(t, "bob"))
	order := paying(bob.address(t), 30)
	_, err := alice.pay.Transfer(ctx, order)
	limit, ok := errors.AsType[*zkbench.LimitError](err)
	if !ok || limit.Estimate != 30 || limit.Max != 4 || !strings.Contains(err.Error(), "Consolidate") {
		t.Errorf("thirty inputs under a limit of four: %v", err)
	}
	for rounds := 0; ; rounds++ {
		sub, err := alice.pay.Transfer(ctx, order)
		if err == nil {
			golden.Equal(t, "merged so often before it can be paid", 12, rounds)
			w.land(t, sub)
			break
		}
		merged := must.Get(alice.pay.Consolidate(ctx, usd))(t)
		golden.Equal(t, "outputs", 1, len(w.land(t, merged).Actions[0].Outputs))
		must.Do(t, alice.Sync(ctx, w.ledger))
		alice.has(t, 40, "nothing is lost")
	}
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 10, "after paying 30 of 40")
	must.FailGet(alice.pay.Consolidate(ctx, bond))(t, zkbench.ErrPolicy, "no tokens")

	// The sum must be a token's value: of 16 bits here.
	carol := w.funded(t, "carol", 1<<15, 1<<15, 1, 2)
	report := w.land(t, must.Get(carol.pay.Consolidate(ctx, usd))(t))
	golden.Equal(t, "value", 1<<15+3, report.Actions[0].Outputs[0].Value)
	must.Do(t, carol.Sync(ctx, w.ledger))
	must.FailGet(carol.pay.Consolidate(ctx, usd))(t, zkbench.ErrPolicy, "more than a token can hold")
	golden.Equal(t, "taken", 0, carol.Taken())
}
