package service_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/service"
)

const bond = "BOND"

// withType returns an order with another type.
func withType(typ string, o service.Order) service.Order {
	o.Type = typ
	return o
}

// give gives a party a token of a type.
func (w *world) give(t testing.TB, p *party, typ string, value uint64) {
	t.Helper()
	w.land(t, must.Get(w.issuer.Issue(t.Context(), withType(typ, paying(p.address(t), value))))(t))
	must.Do(t, p.Sync(t.Context(), w.ledger))
}

func (p *party) holds(t must.TB, typ string, want uint64) {
	t.Helper()
	golden.Equal(t, typ, want, must.Get(p.Holdings(typ))(t).Sum.Uint64())
}

// deal changes what a wallet owns alone by so much.
func deal(usdNet, bondNet int64) service.Deal {
	d := service.Deal{Gives: service.Amounts{}, Gets: service.Amounts{}}
	add(&d.Gives, &d.Gets, usd, usdNet)
	add(&d.Gives, &d.Gets, bond, bondNet)
	return d
}

func add(gives, gets *service.Amounts, typ string, net int64) {
	side := gets
	if net < 0 {
		side, net = gives, -net
	}
	if *side == nil {
		*side = make(service.Amounts)
	}
	(*side)[typ] += uint64(net)
}

// anything returns what a request does to a party, whatever that is: value in these addresses stays owned together.
func anything(t must.TB, p *party, sub *service.Submission, change ...service.Address) (d service.Deal) {
	t.Helper()
	e, err := p.Effect(context.Background(), sub)
	if err != nil {
		return d // of which Sign says the same
	}
	for typ, net := range e.Net() {
		add(&d.Gives, &d.Gets, typ, net.Int64())
	}
	d.Shared = sharing(e, change...)
	return d
}

// sharing returns what an effect does to what is owned together, whatever that is.
func sharing(e *service.Effect, change ...service.Address) service.SharedDeal {
	d := service.SharedDeal{Change: change, Gets: service.Amounts{}, Pays: map[string][]service.Payment{}}
	gives := service.Amounts{}
	for _, s := range e.Spends {
		if s.Shared != nil {
			d.Spends = append(d.Spends, s.ID)
		}
	}
	for _, s := range e.Outputs {
		if slices.ContainsFunc(change, func(c service.Address) bool { return service.GoesTo(&s, c) }) {
			continue
		}
		if len(s.Owner) == 0 {
			d.Issuer = s.Issuer
		}
		d.Pays[s.Type] = append(d.Pays[s.Type], service.Payment{To: service.AddressOf(&s), Value: s.Value})
		gives[s.Type] += s.Value
	}
	for typ, net := range e.SharedNet(change...) {
		if got := net.Int64() + int64(gives[typ]); got > 0 {
			d.Gets[typ] = uint64(got)
		}
	}
	return d
}

// sent returns a submission as it comes to another party.
func sent(t must.TB, sub *service.Submission) *service.Submission {
	t.Helper()
	return &service.Submission{
		Request:     must.Get(request.Decode(must.Get(sub.Request.Encode())(t)))(t),
		Information: must.Get(audit.Decode(must.Get(sub.Information.Encode())(t)))(t),
	}
}

// swap returns a request of two parties: alice pays 30 USD for 5 bonds of bob's.
func swap(t testing.TB, alice, bob *party, anchor string) *service.Submission {
	t.Helper()
	first := must.Get(alice.pay.Propose(t.Context(), 0, anchored(anchor, paying(bob.address(t), 30))))(t)
	second := must.Get(bob.pay.Propose(t.Context(), 1, anchored(anchor, withType(bond, paying(alice.address(t), 5)))))(t)
	return must.Get(service.Join(sent(t, first), sent(t, second)))(t)
}

// TestDeliveryAgainstPayment: two parties exchange tokens in one request. Neither sees what else the other has, each signs what it
// has agreed to, and nothing is lost by a crash or a lost vault.
func TestDeliveryAgainstPayment(t *testing.T) {
	for name, keys := range map[string]func(*world, string) *service.Keys{
		"key":       func(w *world, name string) *service.Keys { return w.key(t, name) },
		"pseudonym": func(w *world, name string) *service.Keys { return w.pseudonyms(t, name) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			ctx := t.Context()
			alice, bob := w.party(t, keys(w, "alice")), w.party(t, keys(w, "bob"))
			w.give(t, alice, usd, 100)
			w.give(t, bob, bond, 9)
			sub := swap(t, alice, bob, "deal")
			for i := range sub.Information.Actions {
				if sub.Information.Actions[i].Sealed == nil {
					t.Errorf("action %d: the other party sees the openings", i)
				}
			}
			alice.has(t, 0, "the token is held by the proposal")
			must.FailGet(w.submit(t, sub))(t, must.ErrAny, "signed by nobody")
			before := must.Get(sub.Request.Encode())(t)
			must.Fail(t, alice.pay.Sign(ctx, sub, deal(-30, 6)), zkbench.ErrPolicy, "another deal")
			golden.Equal(t, "the request after it", before, must.Get(sub.Request.Encode())(t))
			alice.crash(t, w)
			must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
			must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)), "signed again")
			must.FailGet(w.submit(t, sub))(t, must.ErrAny, "signed by one")
			sub = sent(t, sub)
			must.Do(t, bob.pay.Sign(ctx, sub, deal(30, -5)))
			bob.crash(t, w)
			wantKept(t, bob.Vault, 1, "the deal")
			report := w.land(t, sub)
			golden.Equal(t, "actions that the auditor saw", 2, len(report.Actions))
			alice.lose(t, w)
			for _, p := range []*party{alice, bob} {
				must.Do(t, p.Sync(ctx, w.ledger))
				wantKept(t, p.Vault, 0, "it has landed")
			}
			alice.holds(t, usd, 70)
			alice.holds(t, bond, 5)
			bob.holds(t, usd, 30)
			bob.holds(t, bond, 4)
		})
	}
}

// TestDeliveryOfAnIssue: an issuer issues against payment, in one request.
func TestDeliveryOfAnIssue(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, treasury := w.funded(t, "alice", 100), w.party(t, w.key(t, "treasury"))
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(treasury.address(t), 30))))(t)
	second := must.Get(w.issuer.Propose(ctx, 1, anchored("deal", withType(bond, paying(alice.address(t), 5)))))(t)
	sub := must.Get(service.Join(first, sent(t, second)))(t)
	for name, bad := range map[string]service.Deal{
		"a zero deal": {}, "bonds for nothing": deal(0, -5), "more than is paid": deal(31, -5), "fewer bonds": deal(30, -4), "paid in bonds": deal(0, 30),
	} {
		must.Fail(t, w.issuer.Sign(ctx, sub, treasury.Wallet, bad), zkbench.ErrPolicy, "%s", name)
	}
	must.Fail(t, w.issuer.Sign(ctx, sub, nil, deal(30, -5)), zkbench.ErrParams, "nobody is paid")
	must.Do(t, w.issuer.Sign(ctx, sub, treasury.Wallet, deal(30, -5)))
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	w.land(t, sub)
	for _, p := range []*party{alice, treasury} {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	alice.holds(t, bond, 5)
	treasury.holds(t, usd, 30)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 0, "it has landed")
	must.Fail(t, w.issuer.Sign(ctx, sub, treasury.Wallet, deal(30, -5)), zkbench.ErrPolicy, "nothing of it is proposed any more")
}

// TestOtherPartySpendsElsewhere: a deal that one party has signed can never land once the other one has spent its token elsewhere. Sync forgets it, and what
// it held is free again; so it is with an issue that waited for its payment.
func TestOtherPartySpendsElsewhere(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob, treasury := w.funded(t, "alice", 100), w.party(t, w.key(t, "bob")), w.party(t, w.key(t, "treasury"))
	w.give(t, bob, bond, 9)
	elsewhere := func(p *party, typ string) {
		t.Helper()
		must.Do(t, p.Release(ctx, []byte("deal")))
		w.land(t, must.Get(p.pay.Transfer(ctx, withType(typ, paying(p.address(t), 1))))(t))
	}
	sub := swap(t, alice, bob, "deal")
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	must.Do(t, bob.pay.Sign(ctx, sub, deal(30, -5)))
	elsewhere(bob, bond)
	must.FailGet(w.submit(t, sub))(t, zkbench.ErrSpent, "a deal of which a token is spent")
	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 0, "a deal that can never land")
	alice.has(t, 100, "free again")
	golden.Equal(t, "the deal", service.Refused, alice.statuses(t)["deal"])

	sold := must.Get(w.issuer.Propose(ctx, 0, anchored("deal", withType(bond, paying(alice.address(t), 5)))))(t)
	bought := must.Get(alice.pay.Propose(ctx, 1, anchored("deal", paying(treasury.address(t), 30))))(t)
	sub = must.Get(service.Join(sold, bought))(t)
	must.Do(t, w.issuer.Sign(ctx, sub, treasury.Wallet, deal(30, -5)))
	elsewhere(alice, usd)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 0, "an issue that is never paid for")
}

// TestSeveralOrders: one party makes several actions of one request.
func TestSeveralOrders(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.key(t, "bob"))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 50, 50), withType(bond, paying(alice.address(t), 9))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.FailGet(alice.pay.Transfer(ctx, paying(bob.address(t), 60), withType(bond, paying(bob.address(t), 4)), withType(bond, paying(bob.address(t), 5))))(t, zkbench.ErrPolicy, "one bond, spent twice")
	golden.Equal(t, "taken", 0, alice.Taken())
	must.FailGet(alice.pay.Transfer(ctx, anchored("a", paying(bob.address(t), 1)), anchored("b", withType(bond, paying(bob.address(t), 1)))))(t, zkbench.ErrParams, "two anchors")
	must.FailGet(alice.pay.Transfer(ctx))(t, zkbench.ErrParams, "no order")
	both := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 60), withType(bond, paying(bob.address(t), 4))))(t)
	alice.has(t, 0, "both are held")
	must.Do(t, alice.Discard(ctx, both.Request.Anchor))
	alice.has(t, 100, "and free again")
	both = must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 60), withType(bond, paying(bob.address(t), 4))))(t)
	w.land(t, both)
	for _, p := range []*party{alice, bob} {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	alice.holds(t, usd, 40)
	alice.holds(t, bond, 5)
	bob.holds(t, usd, 60)
	bob.holds(t, bond, 4)
	// Coins by name, and change to somebody.
	h := firstOf(t, bob)
	to := alice.address(t)
	o := paying(alice.address(t), 1)
	o.Type, o.From, o.Change = h.Type, []token.ID{h.ID}, &to
	w.land(t, must.Get(bob.pay.Transfer(ctx, o))(t))
	must.Do(t, bob.Sync(ctx, w.ledger))
	bob.holds(t, h.Type, 0)
	for name, edit := range map[string]func(*service.Order){
		"spent":   func(o *service.Order) {},
		"unknown": func(o *service.Order) { o.From = []token.ID{[]byte("x")} },
		"none":    func(o *service.Order) { o.From = []token.ID{} },
	} {
		bad := o
		edit(&bad)
		must.FailGet(bob.pay.Transfer(ctx, bad))(t, must.ErrAny, "%s", name)
	}
	h = firstOf(t, bob)
	o.From, o.Type = []token.ID{h.ID, h.ID}, h.Type
	must.FailGet(bob.pay.Transfer(ctx, o))(t, zkbench.ErrParams, "named twice")
	o.From, o.Type = []token.ID{h.ID}, "EUR"
	must.FailGet(bob.pay.Transfer(ctx, o))(t, zkbench.ErrParams, "another type")
	o.From, o.Type, o.Payments[0].Value = []token.ID{h.ID}, h.Type, h.Value+1
	must.FailGet(bob.pay.Transfer(ctx, o))(t, zkbench.ErrPolicy, "too little")
}

// firstOf returns some token of a party.
func firstOf(t must.TB, p *party) service.UnspentToken {
	t.Helper()
	for h, err := range p.Unspent() {
		must.Do(t, err)
		return h
	}
	t.Fatal("no token")
	return service.UnspentToken{}
}

// TestJointIsNotWhatWasAgreed: a party that changes what others have proposed, or spends what they have not, gets no signature for it.
func TestJointIsNotWhatWasAgreed(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	w.give(t, alice, usd, 100)
	w.give(t, alice, usd, 7)
	w.give(t, bob, bond, 9)
	sub := swap(t, alice, bob, "deal")

	// Bob leaves his action out, or puts another one in its place.
	alone := sent(t, sub)
	alone.Request.Actions, alone.Information.Actions = alone.Request.Actions[:1], alone.Information.Actions[:1]
	must.Fail(t, alice.pay.Sign(ctx, alone, deal(-30, 5)), zkbench.ErrPolicy, "nothing comes back")
	must.Do(t, bob.Discard(ctx, []byte("deal")))
	cheap := must.Get(bob.pay.Propose(ctx, 1, anchored("deal", withType(bond, paying(alice.address(t), 4)))))(t)
	less := must.Get(service.Join(&service.Submission{
		Request:     &request.Request{Anchor: []byte("deal"), Actions: sub.Request.Actions[:1], Auditors: make([][]byte, 1)},
		Information: &audit.Information{Actions: sub.Information.Actions[:1]},
	}, cheap))(t)
	must.Fail(t, alice.pay.Sign(ctx, less, deal(-30, 5)), zkbench.ErrPolicy, "a bond less")

	// A note that says more than its token is worth does not count.
	lie := sent(t, less)
	a := must.Get(action.Parse(32, token.Transfer, lie.Request.Actions[1].Raw))(t)
	a.Notes[0], a.Notes[1] = a.Notes[1], a.Notes[0]
	lie.Request.Actions[1].Raw = must.Get(a.Encode(a.Proof()))(t)
	must.Fail(t, alice.pay.Sign(ctx, lie, deal(-30, 4)), zkbench.ErrPolicy, "notes that are exchanged")

	// Alice's own action is changed: it is not what she has proposed.
	bent := sent(t, sub)
	bent.Request.Actions[0].Raw[len(bent.Request.Actions[0].Raw)-1] ^= 1
	must.Fail(t, alice.pay.Sign(ctx, bent, anything(t, alice, bent)), zkbench.ErrPolicy, "another action of hers")

	// Bob has paid Alice, so he knows an opening of hers: he spends her token in an action of his own, for which her signature would count.
	gift := must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 50)))(t)
	w.land(t, gift)
	stolen := sent(t, sub)
	stolen.Request.Actions = append(stolen.Request.Actions, theft(t, w, gift, []byte("deal"), bob.address(t).Owner))
	stolen.Information.Actions = append(stolen.Information.Actions, audit.Action{})
	must.Fail(t, alice.pay.Sign(ctx, stolen, deal(-30, 5)), zkbench.ErrPolicy, "a token that she has not heard of")
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Fail(t, alice.pay.Sign(ctx, stolen, anything(t, alice, stolen)), zkbench.ErrPolicy, "a token that she has not proposed to spend")

	// Signed for one request under an anchor, it is signed for no other.
	good := sent(t, less)
	must.Do(t, alice.pay.Sign(ctx, good, deal(-30, 4)))
	must.Fail(t, alice.pay.Sign(ctx, sent(t, sub), deal(-30, 5)), zkbench.ErrAnchorConflict, "two requests of one anchor")
	must.Fail(t, bob.pay.Sign(ctx, sent(t, sub), anything(t, bob, sub)), zkbench.ErrPolicy, "what Bob has taken back")
	w.party(t, w.key(t, "eve"))
	must.FailGet(service.Join())(t, zkbench.ErrParams, "no parts")
	other := sent(t, cheap)
	other.Request.Anchor = []byte("other")
	must.FailGet(service.Join(good, other))(t, zkbench.ErrParams, "two anchors")
	must.Do(t, bob.pay.Sign(ctx, good, deal(30, -4)))
	w.land(t, good)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.holds(t, bond, 4)
}

// theft returns an action, the third of its request, in which somebody who knows an opening spends the first token of an issue to an owner.
func theft(t testing.TB, w *world, gift *service.Submission, anchor, owner []byte) request.Action {
	t.Helper()
	parsed := must.Get(action.Parse(32, token.Issue, gift.Request.Actions[0].Raw))(t)
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	opening := gift.Information.Actions[0].Outputs[0].Opening
	sender := must.Get(action.NewSender(t.Context(), serial, pp, []action.Owned{{
		Input: action.Input{ID: request.OutputID(gift.Request.Anchor, 0, 0), Token: parsed.Outputs[0]}, Opening: opening,
	}}))(t)
	d := must.Get(sender.Transfer(t.Context(), action.Spec{
		Outputs: []action.Output{{Owner: owner, Value: opening.Value}}, Anchor: request.ActionAnchor(w.genesis.ID(), anchor, 2),
	}))(t)
	return request.Action{Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(d.Prove(t.Context()))(t), Spends: make([]request.Spend, 1)}
}

// shared returns the tokens that a party owns with others.
func (p *party) shared(t must.TB) (all []service.SharedToken) {
	t.Helper()
	for h, err := range p.Shared() {
		must.Do(t, err)
		all = append(all, h)
	}
	return all
}

// TestShared: two of three spend a token together, in whatever order; the rest is theirs again, and one whose vault is lost finds
// its part.
func TestShared(t *testing.T) {
	for name, keys := range map[string]func(*world, string) *service.Keys{
		"key":       func(w *world, name string) *service.Keys { return w.key(t, name) },
		"pseudonym": func(w *world, name string) *service.Keys { return w.pseudonyms(t, name) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			ctx := t.Context()
			var board []*party
			for _, name := range []string{"ann", "ben", "cid"} {
				board = append(board, w.party(t, keys(w, name)))
			}
			together := func() service.Address {
				t.Helper()
				return must.Get(service.Shared(2, board[0].address(t), board[1].address(t), board[2].address(t)))(t)
			}
			dave := w.party(t, w.key(t, "dave"))
			w.land(t, must.Get(w.issuer.Issue(ctx, paying(together(), 100)))(t))
			board[2].lose(t, w)
			for _, p := range board {
				must.Do(t, p.Sync(ctx, w.ledger))
				all := p.shared(t)
				golden.Equal(t, "shared", 1, len(all))
				golden.Equal(t, "value", 100, all[0].Value)
				golden.Equal(t, "of whom so many sign", 2, all[0].Owner.K())
				p.has(t, 0, "what is shared is no balance")
			}
			back := together()
			o := paying(dave.address(t), 30)
			o.From, o.Change = []token.ID{board[0].shared(t)[0].ID}, &back
			must.FailGet(board[0].pay.Transfer(ctx, o))(t, zkbench.ErrPolicy, "spent alone")
			alone := o
			alone.Change = nil
			must.FailGet(board[0].pay.Propose(ctx, 0, alone))(t, zkbench.ErrParams, "change to whom")
			sub := must.Get(board[0].pay.Propose(ctx, 0, o))(t)
			golden.Equal(t, "taken", 0, board[0].Taken())
			golden.Equal(t, "shared, while a proposal holds it", 0, len(board[0].shared(t)))
			yes := service.Deal{Shared: service.SharedDeal{Spends: o.From, Change: []service.Address{back}, Pays: map[string][]service.Payment{usd: o.Payments}}}
			must.Fail(t, dave.pay.Sign(ctx, sub, yes), zkbench.ErrPolicy, "signed by a stranger")
			must.Do(t, board[0].pay.Sign(ctx, sub, yes))
			must.Fail(t, board[0].pay.Sign(ctx, sub, yes), zkbench.ErrPolicy, "signed twice by one")
			must.FailGet(w.submit(t, sub))(t, must.ErrAny, "signed by one of two")
			sub = sent(t, sub)
			short := sent(t, sub)
			short.Information.Actions[0].Inputs[0].Owners = nil
			must.Fail(t, board[2].pay.Sign(ctx, short, yes), zkbench.ErrParams, "information that leaves out who has signed")
			must.Do(t, board[2].pay.Sign(ctx, sub, yes))
			must.Fail(t, board[1].pay.Sign(ctx, sub, yes), zkbench.ErrPolicy, "a third signature")
			golden.Equal(t, "held by nobody's failed signature", 1, len(board[1].shared(t)))
			report := w.land(t, sub)
			golden.Equal(t, "signers that the auditor saw", 2, len(report.Actions[0].Inputs[0].Owners))
			for _, p := range append(board, dave) {
				must.Do(t, p.Sync(ctx, w.ledger))
				wantKept(t, p.Vault, 0, "it has landed")
			}
			dave.has(t, 30, "paid by two")
			for _, p := range board {
				all := p.shared(t)
				golden.Equal(t, "shared", 1, len(all))
				golden.Equal(t, "value", 70, all[0].Value)
			}
			// Signed by the other two, in the other order; a proposal of the first one is dead then.
			all := together()
			o = paying(all, 70)
			o.From = []token.ID{board[0].shared(t)[0].ID}
			dead := must.Get(board[0].pay.Propose(ctx, 0, o))(t)
			second := must.Get(board[2].pay.Propose(ctx, 0, o))(t)
			must.Do(t, board[2].pay.Sign(ctx, second, anything(t, board[2], second, all)))
			must.Do(t, board[1].pay.Sign(ctx, second, anything(t, board[1], second, all)))
			must.Fail(t, board[1].pay.Sign(ctx, dead, anything(t, board[1], dead, all)), zkbench.ErrPolicy, "a token that another submission holds")
			w.land(t, second)
			must.Do(t, board[0].Sync(ctx, w.ledger))
			wantKept(t, board[0].Vault, 0, "of one that can never land")
			golden.Equal(t, "shared at last", 1, len(board[0].shared(t)))
		})
	}
}

// TestSharedAddress: what no threshold can be made of.
func TestSharedAddress(t *testing.T) {
	w := newWorld(t, nil)
	a, b := w.party(t, w.key(t, "a")).address(t), w.party(t, w.key(t, "b")).address(t)
	for name, err := range map[string]error{
		"one of none":    second(service.Shared(1)),
		"three of two":   second(service.Shared(3, a, b)),
		"one twice":      second(service.Shared(1, a, a)),
		"a redemption":   second(service.Shared(1, a, service.Address{})),
		"a shared one":   second(service.Shared(1, a, must.Get(service.Shared(1, a, b))(t))),
		"no members":     second(service.Shared(1, a, service.Address{Owner: b.Owner})),
		"two for one":    second(service.Shared(1, a, service.Address{Owner: b.Owner, Members: append(b.Members, b.Members...)})),
		"a time lock":    second(service.Shared(1, a, must.Get(service.Locked([script.ImageLen]byte{}, 1, a, b))(t))),
		"a foreign type": second(service.Shared(1, a, service.Address{Owner: []byte{0x99}, Members: b.Members})),
	} {
		must.Fail(t, err, must.ErrAny, "%s", name)
	}
	s := must.Get(service.Shared(2, b, a))(t)
	if again := must.Get(service.Shared(2, a, b))(t); !bytes.Equal(s.Owner, again.Owner) || s.Members[0].Payee.Tag != again.Members[0].Payee.Tag {
		t.Error("the order of members changes the address")
	}
}

func second[T any](_ T, err error) error { return err }

// forged returns a request that spends a token with the contents that somebody else claims for it.
func forged(t testing.TB, w *world, in action.Input, typ string) *service.Submission {
	t.Helper()
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	d := must.Get(action.NewIssue(t.Context(), serial, pp, typ, action.Spec{Outputs: []action.Output{{Owner: key(t, "eve").Identity(), Value: 10}}, Anchor: "made up"}))(t)
	a := &action.Action{Inputs: []action.Input{in}, Outputs: d.Outputs, Notes: make([][]byte, 1)}
	return &service.Submission{
		Request: &request.Request{Anchor: []byte("forged"), Auditors: make([][]byte, 1), Actions: []request.Action{{
			Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(a.Encode(nil))(t), Spends: make([]request.Spend, 1),
		}}},
		Information: &audit.Information{Actions: []audit.Action{{
			Inputs:  []audit.Item{{Opening: token.Opening{Type: typ, Blinding: make([]byte, 32)}}},
			Outputs: []audit.Item{{Opening: d.Openings[0], Owners: make([]audit.Owner, 1)}},
		}}},
	}
}

// TestForgedJoint: requests that name a wallet's tokens and say something else of them, or of who has signed.
func TestForgedJoint(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben"))
	shared := must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	lock := must.Get(service.Locked([script.ImageLen]byte{}, uint64(blockTime.Unix()+100), ben.address(t), ann.address(t)))(t)
	for _, to := range []service.Address{shared, lock} {
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(to, 10)))(t))
	}
	must.Do(t, ann.Sync(ctx, w.ledger))
	inputOf := func(id token.ID) action.Input {
		tok := must.Get(token.DecodeToken(32, w.ledger.tokens[string(id)]))(t)
		return action.Input{ID: id, Token: *tok}
	}
	mine, locked := inputOf(ann.shared(t)[0].ID), inputOf(ann.locked(t)[0].ID)
	good := forged(t, w, mine, usd)
	must.Do(t, ann.pay.Sign(ctx, sent(t, good), anything(t, ann, good)), "what is right as far as a wallet can see")
	must.Do(t, ann.Discard(ctx, good.Request.Anchor))
	for name, in := range map[string]action.Input{
		"another commitment": {ID: mine.ID, Token: token.Token{Owner: mine.Token.Owner, Commitment: locked.Token.Commitment}},
		"another owner":      {ID: mine.ID, Token: token.Token{Owner: ann.address(t).Owner, Commitment: mine.Token.Commitment}},
		"a locked token":     locked,
	} {
		bad := forged(t, w, in, usd)
		must.Fail(t, ann.pay.Sign(ctx, bad, anything(t, ann, bad)), zkbench.ErrPolicy, "%s", name)
	}
	for _, set := range []byte{1, 2} {
		named := sent(t, good)
		named.Request.Actions[0].Spends[0].Unlock = []byte{0, set}
		must.Fail(t, ann.pay.Sign(ctx, named, anything(t, ann, named)), zkbench.ErrMalformed, "a witness without a signature")
	}
	bad := sent(t, good)
	bad.Request.Actions[0].Spends[0].Unlock = []byte{9, 9, 9}
	must.Fail(t, ann.pay.Sign(ctx, bad, anything(t, ann, bad)), zkbench.ErrMalformed, "a witness that is none")
	bad = sent(t, good)
	bad.Request.Actions[0].Spends = nil
	must.Fail(t, ann.pay.Sign(ctx, bad, anything(t, ann, bad)), zkbench.ErrParams, "no spends")
	bad = sent(t, good)
	bad.Information.Actions = append(bad.Information.Actions, bad.Information.Actions...)
	must.Fail(t, ann.pay.Sign(ctx, bad, anything(t, ann, bad)), zkbench.ErrParams, "information on two actions")

	o := paying(ann.address(t), 1)
	o.From = []token.ID{locked.ID}
	must.FailGet(ann.pay.Propose(ctx, 0, o))(t, zkbench.ErrPolicy, "a locked token")
}

// TestProposalTakenBack: what was released is signed no more, one token is proposed once, and an issuer signs no transfer.
func TestProposalTakenBack(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 10)
	id := firstOf(t, alice).ID
	o := paying(service.Address{}, 10)
	o.From = []token.ID{id}
	must.FailGet(alice.pay.Propose(ctx, 0, o, o))(t, zkbench.ErrPolicy, "one token in two actions")
	for _, first := range []int{-1, request.MaxActions} {
		must.FailGet(alice.pay.Propose(ctx, first, o))(t, zkbench.ErrParams, "from place %d on", first)
		must.FailGet(w.issuer.Propose(ctx, first, paying(alice.address(t), 1)))(t, zkbench.ErrParams, "from place %d on", first)
	}
	must.FailGet(alice.pay.Propose(ctx, request.MaxActions-1, o, o))(t, zkbench.ErrParams, "an action too many")
	bad := o
	bad.Change = &service.Address{Owner: []byte{0x99}}
	must.FailGet(alice.pay.Propose(ctx, 0, bad))(t, zkbench.ErrMalformed, "change to nobody")
	sub := must.Get(alice.pay.Propose(ctx, 0, o))(t)
	must.Fail(t, alice.pay.Sign(ctx, sub, service.Deal{}), zkbench.ErrPolicy, "nothing agreed")
	again, err := alice.pay.Propose(ctx, 0, anchored(string(sub.Request.Anchor), o))
	if again != nil || err == nil {
		t.Errorf("proposed twice under one anchor: %v, and a submission that is not kept: %v", err, again != nil)
	}
	must.Do(t, alice.Release(ctx, sub.Request.Anchor))
	must.Fail(t, alice.pay.Sign(ctx, sub, anything(t, alice, sub)), zkbench.ErrPolicy, "a proposal that was released")
	must.Do(t, alice.Discard(ctx, sub.Request.Anchor))
	again = must.Get(alice.pay.Propose(ctx, 0, o))(t)
	issuer := must.Get(service.NewIssueService(w.params, "", smallTables, serial, alice.Vault, key(t, "issuer")))(t)
	must.Fail(t, issuer.Sign(ctx, again, alice.Wallet, service.Deal{}), zkbench.ErrPolicy, "a transfer, signed by an issuer")
	bad = withType(bond, paying(alice.address(t), 1))
	bad.From = []token.ID{id}
	must.FailGet(w.issuer.Issue(ctx, bad))(t, zkbench.ErrParams, "an issue of tokens that are spent")
}
