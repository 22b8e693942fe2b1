package service_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

const gold = "GOLD"

// dealError fails the test unless an error says that a type changes by net where agreed was agreed.
func dealError(t must.TB, err error, shared bool, typ string, net, agreed int64) {
	t.Helper()
	d, ok := errors.AsType[*service.DealError](err)
	if !ok || !errors.Is(err, zkbench.ErrPolicy) || d.Shared != shared || d.Type != typ || d.Net.Int64() != net || d.Agreed.Int64() != agreed {
		t.Errorf("%v; want %s to change by %d, agreed %d, shared %v", err, typ, net, agreed, shared)
	}
}

// TestChangeOfASharedToken: a co-owner pays what was agreed, and sends the rest of the shared token where she can spend
// it without the others: to fewer of them, to herself under two pseudonyms, into a lock that gives it back to her.
func TestChangeOfASharedToken(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var board []*party
	for _, name := range []string{"Ann", "Ben", "Cid"} {
		board = append(board, w.party(t, w.pseudonyms(t, name)))
	}
	ann, ben, cid, dave := board[0], board[1], board[2], w.party(t, w.key(t, "dave"))
	shared := func(k int, of ...*party) service.Address {
		t.Helper()
		var members []service.Address
		for _, p := range of {
			members = append(members, p.address(t))
		}
		return must.Get(service.Shared(k, members...))(t)
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(shared(2, board...), 100)))(t))
	for _, p := range board {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	id := ann.shared(t)[0].ID
	agreed := shared(2, board...) // the address for the rest, on which the three have agreed
	daves := dave.address(t)
	deal := service.Deal{Shared: service.SharedDeal{Spends: []token.ID{id}, Change: []service.Address{agreed}, Pays: map[string][]service.Payment{usd: {{To: daves, Value: 30}}}}}
	propose := func(o service.Order) *service.Submission {
		t.Helper()
		o.From = []token.ID{id}
		sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
		must.Do(t, ann.pay.Sign(ctx, sub, anything(t, ann, sub)), "by Ann, who proposes it")
		return sub
	}
	takeBack := func(sub *service.Submission) { t.Helper(); must.Do(t, ann.Discard(ctx, sub.Request.Anchor)) }
	for name, change := range map[string]service.Address{
		"1 of the 3":                  shared(1, board...),
		"2 of Ann, Ann again and Ben": shared(2, ann, ann, ben),
		"2 of Ann and Ann again":      shared(2, ann, ann),
		"Ann":                         ann.address(t),
		"2 of the 3, at an address that nobody has agreed on": shared(2, board...),
		"the agreed owner, with notes for Ann alone": {Owner: agreed.Owner, Members: []service.Member{
			agreed.Members[0], agreed.Members[0], agreed.Members[0],
		}},
	} {
		o := paying(daves, 30)
		o.Change = &change
		sub := propose(o)
		err := ben.pay.Sign(ctx, sub, deal)
		must.Fail(t, err, zkbench.ErrPolicy, "change to %s", name)
		if _, ok := errors.AsType[*service.DealError](err); ok { // Ben's note may be missing, and is then no share of his
			dealError(t, err, true, usd, -100, -30)
		}
		takeBack(sub)
	}
	lock := must.Get(service.Locked(sha256.Sum256([]byte("x")), uint64(blockTime.Unix())+1, ann.address(t), ben.address(t)))(t)
	sub := propose(paying(lock, 100))
	e := must.Get(ben.Effect(ctx, sub))(t)
	if len(e.Receives) != 1 || e.Receives[0].Shared != nil || e.Receives[0].Lock == nil || e.Receives[0].Lock.Deadline() != uint64(blockTime.Unix())+1 {
		t.Errorf("a lock, and not with its terms: %+v", e.Receives)
	}
	dealError(t, ben.pay.Sign(ctx, sub, deal), true, usd, -100, -30)
	takeBack(sub)
	over := paying(daves, 31)
	over.Change = &agreed
	sub = propose(over)
	dealError(t, ben.pay.Sign(ctx, sub, deal), true, usd, -31, -30)
	takeBack(sub)

	// What was agreed is signed, and shown with k and members.
	right := paying(daves, 30)
	right.Change = &agreed
	sub = propose(right)
	e = must.Get(ben.Effect(ctx, sub))(t)
	golden.Equal(t, "k of what is spent", 2, e.Spends[0].Shared.K())
	golden.Equal(t, "members of the rest", agreed.Owner, e.Receives[0].Shared.Owner())
	must.Fail(t, ben.pay.Sign(ctx, sub, service.Deal{}), zkbench.ErrPolicy, "nothing agreed")
	unnamed := deal
	unnamed.Shared.Spends = nil
	must.Fail(t, ben.pay.Sign(ctx, sub, unnamed), zkbench.ErrPolicy, "a token that may not be spent")
	must.Do(t, ben.pay.Sign(ctx, sub, deal))
	w.land(t, sub)
	must.Do(t, cid.Sync(ctx, w.ledger))
	golden.Equal(t, "what Cid finds", 70, cid.shared(t)[0].Value)
}

// TestSharedTokenOfAnotherTypeJoins: in a deal of USD for bonds the other party also spends the gold that both own.
func TestSharedTokenOfAnotherTypeJoins(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "bob"))
	w.give(t, alice, usd, 100)
	w.give(t, bob, bond, 9)
	both := must.Get(service.Shared(2, alice.address(t), bob.address(t)))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, withType(gold, paying(both, 1000))))(t))
	must.Do(t, errors.Join(alice.Sync(ctx, w.ledger), bob.Sync(ctx, w.ledger)))
	id := bob.shared(t)[0].ID
	theft := withType(gold, paying(bob.address(t), 1000))
	theft.From = []token.ID{id}
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(bob.address(t), 30))))(t)
	second := must.Get(bob.pay.Propose(ctx, 1, anchored("deal", withType(bond, paying(alice.address(t), 5))), anchored("deal", theft)))(t)
	sub := must.Get(service.Join(sent(t, first), sent(t, second)))(t)
	must.Do(t, bob.pay.Sign(ctx, sub, anything(t, bob, sub)))
	must.Fail(t, alice.pay.Sign(ctx, sub, deal(-30, 5)), zkbench.ErrPolicy, "a shared token that joins unasked")
	named := deal(-30, 5)
	named.Shared.Spends = []token.ID{id}
	dealError(t, alice.pay.Sign(ctx, sub, named), true, gold, -1000, 0)
	named.Shared.Pays = map[string][]service.Payment{gold: theft.Payments}
	must.Do(t, alice.pay.Sign(ctx, sub, named), "if she means it")
}

// certified returns keys of a certificate with a P-256 key.
func (w *world) certified(t must.TB, key *ecdsa.PrivateKey, name string) (*service.Keys, identity.Signer) {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Unix(1_700_000_000, 0), NotAfter: time.Unix(1_900_000_000, 0),
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))(t)
	signer := must.Get(identity.NewX509Signer(der, key))(t)
	return must.Get(service.NewKey(w.genesis, signer))(t), signer
}

// TestRenewedCertificate: a wallet serves all certificates of its key: it finds their tokens, pays with them, is a member of
// thresholds and a party of locks under each, and no signature under one is moved to another.
func TestRenewedCertificate(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	oldKeys, _ := w.certified(t, secret, "Alice")
	newKeys, _ := w.certified(t, secret, "Alice, renewed")
	before := w.party(t, oldKeys)
	bob := w.funded(t, "bob", 7)
	w.give(t, bob, bond, 9)
	both := must.Get(service.Shared(2, before.address(t), bob.address(t)))(t)
	preimage := []byte("a secret")
	lock := must.Get(service.Locked(sha256.Sum256(preimage), uint64(blockTime.Unix())+100, bob.address(t), before.address(t)))(t)
	for _, to := range []service.Address{before.address(t), both, lock} {
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(to, 500)))(t))
	}
	alice := w.party(t, newKeys)
	w.fund(t, alice, 100)
	alice.has(t, 600, "tokens of both certificates")
	golden.Equal(t, "shared", 1, len(alice.shared(t)))
	must.Do(t, bob.Sync(ctx, w.ledger))

	// A deal under the new certificate leaves the token of the old one alone.
	sub := swap(t, alice, bob, "deal")
	var old service.UnspentToken
	for h, err := range alice.Unspent() {
		must.Do(t, err)
		if h.Value == 500 {
			old = h
		}
	}
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	must.Do(t, bob.pay.Sign(ctx, sub, deal(30, -5)))
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 570, "after the deal")

	// The old token is paid, signed as its certificate; a claim and a share too.
	o := paying(bob.address(t), 500)
	o.From = []token.ID{old.ID}
	paid := must.Get(alice.pay.Transfer(ctx, o))(t)
	w.land(t, paid)
	w.land(t, must.Get(alice.pay.Claim(ctx, alice.locked(t)[0].ID, preimage))(t))
	share := paying(bob.address(t), 500)
	share.From = []token.ID{alice.shared(t)[0].ID}
	joint := must.Get(alice.pay.Propose(ctx, 0, share))(t)
	must.Do(t, alice.pay.Sign(ctx, joint, anything(t, alice, joint)))
	must.Do(t, bob.pay.Sign(ctx, joint, anything(t, bob, joint)))
	w.land(t, joint)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 570, "the claim, under the old certificate again, and the change")
}

// TestTokenOfAnUnknownCertificate: a deal that spends a token of another certificate of one's key, of which the wallet has not
// heard, is not signed; and the signature of one certificate is none of the other.
func TestTokenOfAnUnknownCertificate(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	_, old := w.certified(t, secret, "Alice")
	newKeys, _ := w.certified(t, secret, "Alice, renewed")
	alice, bob := w.party(t, newKeys), w.party(t, w.key(t, "bob"))
	w.give(t, alice, usd, 100)
	w.give(t, bob, bond, 9)
	to := alice.address(t)
	to.Owner = old.Identity() // as anybody can make it, of a certificate of hers
	gift := must.Get(w.issuer.Issue(ctx, paying(to, 900)))(t)
	w.land(t, gift)
	sub := swap(t, alice, bob, "deal")
	sub.Request.Actions = append(sub.Request.Actions, theft(t, w, gift, []byte("deal"), bob.address(t).Owner))
	sub.Information.Actions = append(sub.Information.Actions, audit.Action{})
	must.Fail(t, alice.pay.Sign(ctx, sub, deal(-30, 5)), zkbench.ErrPolicy, "a token that she has not heard of")
	must.FailGet(alice.Effect(ctx, sub))(t, zkbench.ErrPolicy, "its effect")
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Fail(t, alice.pay.Sign(ctx, sub, anything(t, alice, sub)), zkbench.ErrPolicy, "a token that she has not proposed to spend")
	alice.has(t, 900, "what she owns, and does not hold for the deal")
}

// TestAuditorSeesWhoIssues: shown to the auditor under an issuer who may issue the type, an issue does not land under another.
func TestAuditorSeesWhoIssues(t *testing.T) {
	north, south := key(t, "issuer"), key(t, "south")
	w := newWorld(t, func(p *token.PublicParams) {
		p.Policy.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{north.Identity(), south.Identity()}), bytes.Compare)...)
		for i := range p.Policy.Issuers {
			p.Policy.Issuers[i].Types = []string{usd}
			if string(p.Policy.Issuers[i].Identity) == string(south.Identity()) {
				p.Policy.Issuers[i].Types = []string{"EUR"}
			}
		}
	})
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	souths := must.Get(service.NewIssueService(w.params, "", smallTables, serial, w.vault(t), south))(t)
	must.FailGet(souths.Issue(ctx, paying(alice.address(t), 1)))(t, zkbench.ErrPolicy, "another issuer's type")
	sub := must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t)
	raw, info, err := sub.ForAuditors()
	must.Do(t, err)
	signature, _, err := w.auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	// South, who is paid for it elsewhere, puts itself in North's place.
	r := sub.Request
	r.Auditors[0], r.Actions[0].Issuer = signature, &request.Issuer{Identity: south.Identity()}
	message := request.ToSign(r.Message(w.genesis.ID()), request.IssuerRole, 0, south.Identity())
	r.Actions[0].Issuer.Signature = must.Get(south.Sign(message[:], nil))(t)
	_, err = w.validator.Validate(ctx, validator.TokenFunc(w.ledger.Token), must.Get(r.Encode())(t), blockTime)
	must.Fail(t, err, zkbench.ErrSignature, "under another issuer")
}

// TestPayeeSeesTheDeal: who is paid by a request, and signs nothing in it, sees what it is paid.
func TestPayeeSeesTheDeal(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, shop := w.funded(t, "alice", 100), w.party(t, w.pseudonyms(t, "Shop"))
	sub := must.Get(alice.pay.Transfer(ctx, paying(shop.address(t), 30)))(t)
	e := must.Get(shop.Effect(ctx, sent(t, sub)))(t)
	golden.Equal(t, "net of the shop", 30, e.Net()[usd].Int64())
	golden.Equal(t, "types", 1, len(e.Net()))
	golden.Equal(t, "net of the payer", -30, must.Get(alice.Effect(ctx, sub))(t).Net()[usd].Int64())
	stranger := must.Get(w.party(t, w.key(t, "stranger")).Effect(ctx, sub))(t)
	golden.Equal(t, "net of a stranger", 0, len(stranger.Net())+len(stranger.Receives)+len(stranger.Spends))
}

// TestCoOwnersAreSealed: what co-owners say of themselves to the auditors the others cannot read.
func TestCoOwnersAreSealed(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben := w.party(t, w.pseudonyms(t, "Ann")), w.party(t, w.pseudonyms(t, "Ben"))
	both := must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(both, 10)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	o := paying(ann.address(t), 10)
	o.From = []token.ID{ann.shared(t)[0].ID}
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	must.Do(t, ann.pay.Sign(ctx, sub, anything(t, ann, sub)))
	must.Do(t, ben.pay.Sign(ctx, sub, anything(t, ben, sub)))
	for _, owner := range sub.Information.Actions[0].Inputs[0].Owners {
		if owner.Sealed == nil || len(owner.Certificate)+len(owner.Proof) > 0 {
			t.Error("a certificate that the other owner sees")
		}
	}
	report := w.land(t, sub)
	names := map[string]bool{}
	for _, p := range report.Actions[0].Inputs[0].Owners {
		names[p.Name] = true
	}
	golden.Equal(t, "who signs, to the auditor", map[string]bool{"Ann": true, "Ben": true}, names)
}

// TestPayeeOfASharedPayment: the co-owner who proposes pays somebody else than was agreed, or splits the payment otherwise.
func TestPayeeOfASharedPayment(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben := w.party(t, w.pseudonyms(t, "Ann")), w.party(t, w.pseudonyms(t, "Ben"))
	dave, eve := w.party(t, w.key(t, "dave")).address(t), w.party(t, w.key(t, "eve")).address(t)
	both := func() service.Address {
		t.Helper()
		return must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t)
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(both(), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	id, agreed := ben.shared(t)[0].ID, both()
	pays := func(payments ...service.Payment) service.Deal {
		return service.Deal{Shared: service.SharedDeal{Spends: []token.ID{id}, Change: []service.Address{agreed}, Pays: map[string][]service.Payment{usd: payments}}}
	}
	tag := dave
	tag.Members = ann.address(t).Members // Dave's owner, with a note for Ann
	for name, test := range map[string]struct{ proposed, agreed []service.Payment }{
		"to Ann":              {[]service.Payment{{To: ann.address(t), Value: 30}}, []service.Payment{{To: dave, Value: 30}}},
		"a note for Ann":      {[]service.Payment{{To: tag, Value: 30}}, []service.Payment{{To: dave, Value: 30}}},
		"to nobody":           {[]service.Payment{{Value: 30}}, []service.Payment{{To: dave, Value: 30}}},
		"split otherwise":     {[]service.Payment{{To: dave, Value: 10}, {To: eve, Value: 20}}, []service.Payment{{To: dave, Value: 20}, {To: eve, Value: 10}}},
		"one of two twice":    {[]service.Payment{{To: dave, Value: 15}, {To: eve, Value: 15}}, []service.Payment{{To: dave, Value: 15}, {To: dave, Value: 15}}},
		"not redeemed at all": {[]service.Payment{{To: eve, Value: 30}}, []service.Payment{{Value: 30}}},
	} {
		sub := must.Get(ann.pay.Propose(ctx, 0, service.Order{Type: usd, Payments: test.proposed, From: []token.ID{id}, Change: &agreed}))(t)
		must.Fail(t, ben.pay.Sign(ctx, sub, pays(test.agreed...)), zkbench.ErrPolicy, "%s", name)
		lie := sent(t, sub) // the information says what was agreed, and opens nothing
		made := must.Get(action.Parse(32, token.Transfer, lie.Request.Actions[0].Raw))(t)
		for j := range made.Outputs {
			for _, p := range test.agreed {
				if bytes.Equal(p.To.Owner, made.Outputs[j].Owner) {
					lie.Information.Actions[0].Outputs[j].Opening.Value = p.Value
				}
			}
		}
		must.Fail(t, ben.pay.Sign(ctx, lie, pays(test.agreed...)), zkbench.ErrPolicy, "%s, and information that lies", name)
		lie.Information.Actions[0].Outputs = lie.Information.Actions[0].Outputs[:1]
		must.Fail(t, ben.pay.Sign(ctx, lie, pays(test.agreed...)), zkbench.ErrPolicy, "%s, and information that is missing", name)
		must.Do(t, ben.pay.Sign(ctx, sub, pays(test.proposed...)), "if he means it: "+name)
		must.Do(t, errors.Join(ann.Discard(ctx, sub.Request.Anchor), ben.Discard(ctx, sub.Request.Anchor)))
	}
}

// TestOwnProposalOfASharedToken: who has proposed to spend a shared token signs no other action that spends it in that request.
func TestOwnProposalOfASharedToken(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben, dave := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben")), w.party(t, w.key(t, "dave"))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	o := anchored("deal", paying(dave.address(t), 100))
	o.From = []token.ID{ann.shared(t)[0].ID}
	mine, his := must.Get(ann.pay.Propose(ctx, 0, o))(t), must.Get(ben.pay.Propose(ctx, 0, o))(t)
	must.Fail(t, ann.pay.Sign(ctx, his, anything(t, ann, his)), zkbench.ErrPolicy, "another action than she has proposed")
	must.Do(t, ann.pay.Sign(ctx, mine, anything(t, ann, mine)))
}

// TestAnotherEndOfValidity: what was proposed until a time is not signed for longer, by owners nor by issuers.
func TestAnotherEndOfValidity(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, treasury := w.funded(t, "alice", 100), w.party(t, w.key(t, "treasury"))
	ending := func(o service.Order) service.Order {
		o.Until = blockTime
		return anchored("deal", o)
	}
	first := must.Get(alice.pay.Propose(ctx, 0, ending(paying(treasury.address(t), 30))))(t)
	second := must.Get(w.issuer.Propose(ctx, 1, ending(withType(bond, paying(alice.address(t), 5)))))(t)
	sub := must.Get(service.Join(sent(t, first), sent(t, second)))(t)
	for _, until := range []uint64{0, uint64(blockTime.Unix()) + 1, uint64(blockTime.Unix()) - 1} {
		bad := sent(t, sub)
		bad.Request.Until = until
		must.Fail(t, alice.pay.Sign(ctx, bad, deal(-30, 5)), zkbench.ErrPolicy, "alice, until %d", until)
		must.Fail(t, w.issuer.Sign(ctx, bad, treasury.Wallet, deal(30, -5)), zkbench.ErrPolicy, "the issuer, until %d", until)
	}
	must.Do(t, w.issuer.Sign(ctx, sub, treasury.Wallet, deal(30, -5)))
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	w.land(t, sub)
}

// TestNothingIsShownWithoutAuditors: where there is no auditor to seal to, the other party learns no openings either.
func TestNothingIsShownWithoutAuditors(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) { p.Policy.Auditors = nil })
	ctx := t.Context()
	alice, treasury := w.party(t, w.key(t, "alice")), w.party(t, w.key(t, "treasury"))
	w.apply(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 100)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(treasury.address(t), 30))))(t)
	second := must.Get(w.issuer.Propose(ctx, 1, anchored("deal", withType(bond, paying(alice.address(t), 5)))))(t)
	sub := must.Get(service.Join(first, second))(t)
	for _, a := range sub.Information.Actions {
		golden.Equal(t, "tokens of an action that are opened", 0, len(a.Inputs)+len(a.Outputs))
	}
	must.Do(t, w.issuer.Sign(ctx, sub, treasury.Wallet, deal(30, -5)))
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-30, 5)))
	w.apply(t, sub)
	must.Do(t, treasury.Sync(ctx, w.ledger))
	treasury.has(t, 30, "paid")
}

// apply has the ledger apply a submission that no auditor signs.
func (w *world) apply(t must.TB, sub *service.Submission) {
	t.Helper()
	w.ledger.apply(must.Get(w.validator.Validate(context.Background(), validator.TokenFunc(w.ledger.Token), must.Get(sub.Request.Encode())(t), blockTime))(t))
}

// TestRedemptionOfAnotherIssuersType: an issuer approves, and so pays out, no tokens of types that are not its own.
func TestRedemptionOfAnotherIssuersType(t *testing.T) {
	north, south := key(t, "issuer"), key(t, "south")
	w := newWorld(t, func(p *token.PublicParams) {
		p.Policy.Redeem = token.RedeemIssuer
		p.Policy.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{north.Identity(), south.Identity()}), bytes.Compare)...)
		for i := range p.Policy.Issuers {
			p.Policy.Issuers[i].Types = []string{usd}
			if string(p.Policy.Issuers[i].Identity) == string(south.Identity()) {
				p.Policy.Issuers[i].Types = []string{"EUR"}
			}
		}
	})
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	souths := must.Get(service.NewIssueService(w.params, "", smallTables, serial, w.vault(t), south))(t)
	sub := must.Get(alice.pay.Transfer(ctx, paying(service.Address{}, 100)))(t)
	openings := must.Get(sub.Redeemed(0))(t)
	sub.Request.Actions[0].Issuer.Identity = south.Identity()
	must.Fail(t, souths.Approve(ctx, sub.Request, 0, openings...), zkbench.ErrPolicy, "another issuer's type")
	sub.Request.Actions[0].Issuer.Identity = north.Identity()
	must.Do(t, w.issuer.Approve(ctx, sub.Request, 0, openings...))
	w.land(t, sub)
}

// TestIssuerOfASharedRedemption: the co-owner who proposes to redeem names an issuer of her own, who pays out nothing.
func TestIssuerOfASharedRedemption(t *testing.T) {
	north, south := key(t, "issuer"), key(t, "south")
	w := newWorld(t, func(p *token.PublicParams) {
		p.Policy.Redeem = token.RedeemIssuer
		p.Policy.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{north.Identity(), south.Identity()}), bytes.Compare)...)
	})
	ctx := t.Context()
	ann, ben := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben"))
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(must.Get(service.Shared(2, ann.address(t), ben.address(t)))(t), 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger)))
	o := paying(service.Address{}, 100)
	o.From, o.Issuer = []token.ID{ann.shared(t)[0].ID}, south.Identity()
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	agreed := service.Deal{Shared: service.SharedDeal{Spends: o.From, Pays: map[string][]service.Payment{usd: o.Payments}}}
	must.Fail(t, ben.pay.Sign(ctx, sub, agreed), zkbench.ErrPolicy, "no issuer agreed")
	agreed.Shared.Issuer = north.Identity()
	must.Fail(t, ben.pay.Sign(ctx, sub, agreed), zkbench.ErrPolicy, "another issuer")
	agreed.Shared.Issuer = south.Identity()
	must.Do(t, ben.pay.Sign(ctx, sub, agreed))
}

// TestIssuerSignsAgain: asked again for what it has signed, an issuer gives the same signatures, and none for an issue that the
// other party has added under its name.
func TestIssuerSignsAgain(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, treasury := w.funded(t, "alice", 100), w.party(t, w.key(t, "treasury"))
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(treasury.address(t), 30))))(t)
	second := must.Get(w.issuer.Propose(ctx, 1, anchored("deal", withType(bond, paying(alice.address(t), 5)))))(t)
	// Alice adds an issue of her own making, and opens both to whom it may concern.
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	d := must.Get(action.NewIssue(ctx, serial, pp, bond, action.Spec{
		Outputs: []action.Output{{Owner: key(t, "alice").Identity(), Value: 1000}}, Anchor: request.ActionAnchor(w.genesis.ID(), []byte("deal"), 2),
	}))(t)
	sub := must.Get(service.Join(first, second))(t)
	sub.Request.Actions = append(sub.Request.Actions, request.Action{
		Kind: token.Issue, ProofType: token.CSP, Raw: must.Get(d.Prove(ctx))(t), Issuer: &request.Issuer{Identity: key(t, "issuer").Identity()},
	})
	sub.Information.Actions = append(sub.Information.Actions, audit.Action{Outputs: []audit.Item{{Opening: d.Openings[0], Owners: make([]audit.Owner, 1)}}})
	for range 2 {
		again := sent(t, sub)
		must.Do(t, w.issuer.Sign(ctx, again, treasury.Wallet, deal(30, -5)))
		if len(again.Request.Actions[1].Issuer.Signature) == 0 || len(again.Request.Actions[2].Issuer.Signature) > 0 {
			t.Error("the issuer signs another issue than its own")
		}
	}
}

// TestOnePaymentOfTwo: two groups owe Dave 30 each, to one address, and the member of both pays him once, in one action.
func TestOnePaymentOfTwo(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben, cid, dave := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben")), w.party(t, w.key(t, "cid")), w.party(t, w.key(t, "dave"))
	for _, other := range []*party{ben, cid} {
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(must.Get(service.Shared(2, ann.address(t), other.address(t)))(t), 30)))(t))
	}
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger), cid.Sync(ctx, w.ledger)))
	daves := dave.address(t)
	o := paying(daves, 30)
	o.Payments = append(o.Payments, service.Payment{To: ann.address(t), Value: 30})
	for _, s := range ann.shared(t) {
		o.From = append(o.From, s.ID)
	}
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	for _, p := range []*party{ben, cid} {
		agreed := service.Deal{Shared: service.SharedDeal{Spends: []token.ID{p.shared(t)[0].ID}, Pays: map[string][]service.Payment{usd: {{To: daves, Value: 30}}}}}
		must.Fail(t, p.pay.Sign(ctx, sub, agreed), zkbench.ErrPolicy, "a payment that counts for two")
	}
}

// TestNoteOfAnotherMember: a proposer spoils the note of a co-owner who does not sign. The one who signs cannot see it, and the
// co-owner is shown no change.
func TestNoteOfAnotherMember(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	ann, ben, cid, dave := w.party(t, w.key(t, "ann")), w.party(t, w.key(t, "ben")), w.party(t, w.key(t, "cid")), w.party(t, w.key(t, "dave"))
	agreed := must.Get(service.Shared(2, ann.address(t), ben.address(t), cid.address(t)))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(agreed, 100)))(t))
	must.Do(t, errors.Join(ann.Sync(ctx, w.ledger), ben.Sync(ctx, w.ledger), cid.Sync(ctx, w.ledger)))
	o := paying(dave.address(t), 30)
	spoiled := service.Address{Owner: agreed.Owner, Members: slices.Clone(agreed.Members)}
	for i := range spoiled.Members {
		if service.Finds(cid.Wallet, service.Address{Members: spoiled.Members[i : i+1]}) {
			spoiled.Members[i].Payee.Key = ann.address(t).Members[0].Payee.Key
		}
	}
	o.From, o.Change = []token.ID{ann.shared(t)[0].ID}, &spoiled
	sub := must.Get(ann.pay.Propose(ctx, 0, o))(t)
	must.Do(t, ben.pay.Sign(ctx, sent(t, sub), service.Deal{Shared: service.SharedDeal{
		Spends: o.From, Change: []service.Address{agreed}, Pays: map[string][]service.Payment{usd: o.Payments},
	}}))
	golden.Equal(t, "what Cid finds of the rest", 0, len(must.Get(cid.Effect(ctx, sub))(t).Receives))
	golden.Equal(t, "what Ben finds", 1, len(must.Get(ben.Effect(ctx, sub))(t).Receives))
}

// TestIssuerOfAProposedRedemption: the other party puts an issuer of its own in the place of the one that is to pay out.
func TestIssuerOfAProposedRedemption(t *testing.T) {
	north, south := key(t, "issuer"), key(t, "south")
	w := newWorld(t, func(p *token.PublicParams) {
		p.Policy.Redeem = token.RedeemIssuer
		p.Policy.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{north.Identity(), south.Identity()}), bytes.Compare)...)
	})
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	o := paying(service.Address{}, 100)
	o.Issuer = north.Identity()
	sub := must.Get(alice.pay.Propose(ctx, 0, o))(t)
	bad := sent(t, sub)
	bad.Request.Actions[0].Issuer.Identity = south.Identity()
	must.Fail(t, alice.pay.Sign(ctx, bad, deal(-100, 0)), zkbench.ErrPolicy, "another issuer than she has named")
	bad.Request.Actions[0].Issuer = nil
	must.Fail(t, alice.pay.Sign(ctx, bad, deal(-100, 0)), zkbench.ErrPolicy, "no issuer")
	must.Do(t, alice.pay.Sign(ctx, sub, deal(-100, 0)))
}
