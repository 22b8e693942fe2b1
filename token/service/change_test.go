package service_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/service"
)

// couple returns two parties that own 100 together, and what draws another address of both.
func (w *world) couple(t *testing.T) (ann, ben *party, together func() service.Address) {
	t.Helper()
	ctx := t.Context()
	ann, ben = w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben"))
	together = func() service.Address {
		t.Helper()
		return must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(together(), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	return ann, ben, together
}

// TestChangeIsNoPayment: a co-owner agrees to a payment to the address of the change, by a slip. The other one puts so much there, and takes
// as much for herself.
func TestChangeIsNoPayment(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben, together := w.couple(t)
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
	ann, ben, together := w.couple(t)
	change, alone := together(), ben.address(t)
	o := paying(alone, 30)
	o.From, o.Change = []token.ID{ann.shared(t)[0].ID}, &change
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	dealError(t, ben.pay.Sign(ctx, sub, service.Deal{
		Gets: service.Amounts{usd: 30}, Shared: service.SharedDeal{Spends: o.From, Change: []service.Address{change, alone}},
	}), true, usd, -30, 0)
}

// TestOpeningOfAnotherCommitment: a co-owner pays less than was agreed, and lies about it in the information that the other one reads.
func TestOpeningOfAnotherCommitment(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben, together := w.couple(t)
	dave := w.party(t, w.key(t, "dave"))
	change, daves := together(), dave.address(t)
	o := service.Order{Type: usd, Payments: []service.Payment{{To: daves, Value: 1}, {To: ann.address(t), Value: 29}}, Change: &change}
	o.From = []token.ID{ann.shared(t)[0].ID}
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	for i := range sub.Information.Actions[0].Outputs {
		if opening := &sub.Information.Actions[0].Outputs[i].Opening; opening.Value == 1 {
			opening.Value = 30
		}
	}
	must.Fail(t, ben.pay.Sign(ctx, sub, service.Deal{Shared: service.SharedDeal{
		Spends: o.From, Change: []service.Address{change}, Pays: map[string][]service.Payment{usd: {{To: daves, Value: 30}}},
	}}), zkbench.ErrPolicy, "30 in the information, 1 in the token")
}

// TestUnknownTokenOfAPseudonym: an address was paid twice, against the rule, and the wallet knows of the first payment alone. Its signature for that token
// would count for the other one too.
func TestUnknownTokenOfAPseudonym(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	keys := w.pseudonyms(t, "Alice")
	alice, payer, bob := w.party(t, keys), w.party(t, keys), w.party(t, w.key(t, "bob")) // the payer knows the openings, as her own vault does
	to := alice.address(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(to, 100)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(to, 50)))(t))
	must.Do(t, payer.Sync(ctx, w.ledger))
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(bob.address(t), 100))))(t)
	theft := anchored("deal", paying(bob.address(t), 50))
	second := must.Get(payer.pay.Propose(ctx, 1, theft))(t)
	sub := must.Get(service.Join(sent(t, first), sent(t, second)))(t)
	must.Fail(t, alice.pay.Sign(ctx, sub, deal(-100, 0)), zkbench.ErrPolicy, "a token of the same pseudonym joins")
}
