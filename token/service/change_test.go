package service_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// TestChangeIsNoPayment: a co-owner agrees to a payment to the address of the change, by a slip. The other one puts so much there, and takes
// as much for herself.
func TestChangeIsNoPayment(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben"))
	together := func() service.Address {
		t.Helper()
		return must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(together(), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	change := together()
	o := service.Order{Type: usd, Payments: []service.Payment{{To: ann.address(t), Value: 30}, {To: change, Value: 30}}, Change: &change}
	o.From = []token.ID{ann.shared(t)[0].ID}
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	deal := service.Deal{Shared: service.SharedDeal{
		Spends: o.From, Change: []service.Address{change}, Pays: map[string][]service.Payment{usd: {{To: change, Value: 30}}},
	}}
	must.Fail(t, ben.pay.Sign(ctx, sub, deal), zkbench.ErrPolicy, "what stays owned together, taken for a payment")
	deal.Shared.Pays = nil
	dealError(t, ben.pay.Sign(ctx, sub, deal), true, usd, -30, 0)
}

// TestOwnAddressAsChange: what comes to an address of the wallet alone is no part of what stays owned together, also if the deal names that address: the other
// owner would pay what she owes out of the token of both.
func TestOwnAddressAsChange(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben"))
	together := func() service.Address {
		t.Helper()
		return must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(together(), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	change, alone := together(), ben.address(t)
	o := paying(alone, 30)
	o.From, o.Change = []token.ID{ann.shared(t)[0].ID}, &change
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	dealError(t, ben.pay.Sign(ctx, sub, service.Deal{
		Gets: service.Amounts{usd: 30}, Shared: service.SharedDeal{Spends: o.From, Change: []service.Address{change, alone}},
	}), true, usd, -30, 0)
}
