package service_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// TestRobber lets one party of a deal do what it likes: propose, add, order, leave out, copy and sign. It knows the opening of each
// token that there was at the beginning, as if it had paid it. Whatever lands takes nothing from the others that they have not
// agreed to.
func TestRobber(t *testing.T) {
	worlds := []*heistWorld{newHeistWorld(t, true), newHeistWorld(t, false)}
	rapid.Check(t, func(t *rapid.T) { rob(t, rapid.SampledFrom(worlds).Draw(t, "world"), map[string]int{}) })
}

// TestRobberReaches: the robber's requests land often, are refused often, and all that it can do is done.
func TestRobberReaches(t *testing.T) {
	testsize.Full(t)
	worlds := []*heistWorld{newHeistWorld(t, true), newHeistWorld(t, false)}
	const runs = 150
	seen := map[string]int{}
	for i := range runs {
		rapid.Custom(func(t *rapid.T) bool {
			rob(t, worlds[i%2], seen)
			return true
		}).Example(i)
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%5d %s", seen[what], what)
	}
	for what, least := range map[string]int{
		"landed: untouched": runs / 20, "landed: bent": runs / 20, "landed: with shared tokens": runs / 30,
		"signed: untouched": runs / 10, "signed: bent": runs / 20,
		"refused by an owner: *service.DealError": runs / 20, "refused by an owner: policy broken": runs / 10,
		"refused by the validator: owners": 2, "issuer signed": 2, "issuer refused": 2,
	} {
		if seen[what] < least {
			t.Errorf("%s: %d times in %d runs, want %d", what, seen[what], runs, least)
		}
	}
	for _, b := range bends {
		if seen["bent: "+b.name] == 0 {
			t.Errorf("never bent: %s", b.name)
		}
	}
}

// heistWorld is a system with identities for its players.
type heistWorld struct {
	*world
	pp      token.CryptoParams
	south   identity.Signer // an issuer, and the robber's
	audited bool
	honest  [3][]lair
	robber  []identity.Signer // the identities of the robber, the first its wallet's
	runs    int
}

// lair is keys with what else is known of them.
type lair struct {
	keys *service.Keys
	old  identity.Signer // another certificate of the key, or nil
}

func newHeistWorld(t testing.TB, audited bool) *heistWorld {
	t.Helper()
	h := &heistWorld{audited: audited, south: key(t, "south"), robber: []identity.Signer{key(t, "mallory"), key(t, "moriarty")}}
	h.world = newWorld(t, func(p *token.PublicParams) {
		p.Policy.Issuers = ledgertest.Issuers(slices.SortedFunc(slices.Values([][]byte{key(t, "issuer").Identity(), h.south.Identity()}), bytes.Compare)...)
		p.Policy.Redeem = token.RedeemIssuer
		if !audited {
			p.Policy.Auditors = nil
		}
	})
	h.pp = must.Get(h.params.Crypto(token.CSP, smallTables))(t)
	for i := range h.honest {
		secret := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
		_, old := h.certified(t, secret, "old")
		renewed, _ := h.certified(t, secret, "renewed")
		h.honest[i] = []lair{
			{keys: h.key(t, fmt.Sprint("honest ", i))}, {keys: h.pseudonyms(t, fmt.Sprint("Honest ", i))}, {renewed, old}, {renewed, old},
		}
	}
	return h
}

// player is a party of the deal; the first is the robber.
type player struct {
	*party
	lair
	deal     service.Deal
	proposed []request.Action
	together *piece            // the shared token that one of them spends, or nil
	signed   map[[32]byte]bool // digests
	have     map[string]int64  // alone, by type
}

// piece is a token on the ledger, of which the robber knows all.
type piece struct {
	action.Owned
	to     service.Address
	owners []*player // of a plain one: 1
	shared *script.Threshold
	late   bool // it has landed after its owner's last Sync
	spent  bool
}

// leg is an action of the deal.
type leg struct {
	action  request.Action
	info    audit.Action
	by      *player // nil: the issuer
	from    []*piece
	to      []service.Address
	values  []uint64
	stale   *leg // the same, as it was proposed before and taken back
	agreed  service.Address
	redeems bool
}

// heist is one run.
type heist struct {
	*heistWorld
	t       *rapid.T
	ctx     context.Context
	seen    map[string]int
	players []*player
	pieces  map[string]*piece
	anchor  string
	until   uint64
	legs    []*leg
	// issued is what the issuer sells, price what the treasury is to be paid for it; treasury nil: nothing.
	treasury     *player
	issuerDeal   service.Deal
	issuerSigned map[[32]byte]bool
	issues       []request.Action
	signatures   map[string][]byte // of digest and identity
	issuers      map[string][]byte // of digest and index
	ofAnybody    [][]byte
	openings     map[string]token.Opening // of what the robber makes, by commitment
}

func rob(t *rapid.T, w *heistWorld, seen map[string]int) {
	w.ledger = newMemory(w.genesis)
	w.runs++
	h := &heist{
		heistWorld: w, t: t, ctx: context.Background(), seen: seen, pieces: map[string]*piece{}, anchor: fmt.Sprintf("deal %d", w.runs),
		issuerSigned: map[[32]byte]bool{}, signatures: map[string][]byte{}, issuers: map[string][]byte{}, openings: map[string]token.Opening{},
	}
	defer func() {
		for _, p := range h.players {
			must.Do(t, p.Close())
			must.Do(t, os.Remove(p.path))
		}
	}()
	h.enter()
	h.agree()
	var variants []*service.Submission
	for range rapid.IntRange(1, 2).Draw(t, "variants") {
		variants = append(variants, h.bend())
	}
	for i := range variants {
		h.collect(variants[i])
	}
	for i := range variants {
		h.land(variants[i])
	}
}

func (h *heist) chance(of int, what string) bool { return rapid.IntRange(1, of).Draw(h.t, what) == 1 }

func draw[T any](h *heist, from []T, what string) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(h.t, what)]
}

var heistTypes = []string{usd, bond, gold}

// enter makes players and gives them tokens, the last of which their wallets have not heard of.
func (h *heist) enter() {
	t := h.t
	add := func(l lair) *player {
		p := &player{lair: l, party: h.party(t, l.keys), signed: map[[32]byte]bool{}, have: map[string]int64{}}
		h.players = append(h.players, p)
		return p
	}
	robber := add(lair{keys: h.key(t, "mallory")})
	for i := range rapid.IntRange(1, 3).Draw(t, "honest") {
		add(draw(h, h.honest[i], "keys"))
	}
	var orders []service.Order
	var made []*piece
	give := func(typ string, value uint64, to service.Address, owners ...*player) {
		if n := len(orders); n == 0 || orders[n-1].Type != typ || len(orders[n-1].Payments) == 4 {
			orders = append(orders, service.Order{Type: typ})
		}
		o := &orders[len(orders)-1]
		o.Payments = append(o.Payments, service.Payment{To: to, Value: value})
		made = append(made, &piece{to: to, owners: owners})
	}
	for _, typ := range heistTypes {
		give(typ, 100, robber.address(t), robber)
		for _, p := range h.players[1:] {
			if h.chance(2, "rich") {
				give(typ, draw(h, []uint64{20, 50, 100}, "value"), p.address(t), p)
			}
			if p.old != nil && h.chance(3, "old certificate") {
				to := p.address(t)
				to.Owner = p.old.Identity()
				give(typ, 50, to, p)
			}
		}
	}
	shared := draw(h, heistTypes, "type of shared tokens")
	for range draw(h, []int{1, 0, 2, 2}, "shared tokens") {
		to, owners := h.sharedAddress(nil)
		give(shared, draw(h, []uint64{50, 50, 100}, "value"), to, owners...)
	}
	h.issue(orders, made)
	for _, p := range h.players {
		must.Do(t, p.Sync(h.ctx, h.ledger))
	}
	orders, made = nil, nil
	for _, p := range h.players[1:] {
		if h.chance(3, "late token") {
			to := p.address(t)
			if p.old != nil && h.chance(2, "of the old certificate") {
				to.Owner = p.old.Identity()
			}
			if mine := h.owned(p); len(mine) > 0 && h.chance(2, "at an address that has a token already") {
				to = draw(h, mine, "address").to
			}
			give(draw(h, heistTypes, "type"), 50, to, p)
			made[len(made)-1].late = true
		}
	}
	if len(made) > 0 {
		h.issue(orders, made)
	}
}

// sharedAddress returns a shared address of owners or, if there are none, of some players. The robber may be among
// them, even twice.
func (h *heist) sharedAddress(owners []*player) (service.Address, []*player) {
	t := h.t
	var members []service.Address
	if owners == nil {
		owners = slices.Clone(h.players)
		if len(owners) > 2 && h.chance(3, "one does not take part") {
			i := rapid.IntRange(0, len(owners)-1).Draw(t, "who")
			owners = slices.Delete(owners, i, i+1)
		}
	}
	for _, p := range owners {
		members = append(members, p.address(t))
	}
	if h.chance(4, "the robber's other identity") {
		to := h.players[0].address(t)
		to.Owner = h.robber[1].Identity()
		members = append(members, to)
	}
	return must.Get(service.Shared(rapid.IntRange(1, len(members)).Draw(t, "k"), members...))(t), owners
}

func (h *heist) issue(orders []service.Order, made []*piece) {
	t := h.t
	for i := range orders { // named, so that ids have the same order when rapid tries again
		orders[i].Anchor = fmt.Appendf(nil, "%s, %d tokens before", h.anchor, len(h.pieces))
	}
	sub := must.Get(h.issuer.Issue(h.ctx, orders...))(t)
	if h.audited {
		must.Get(h.submit(t, sub))(t)
	} else {
		h.apply(t, sub)
	}
	for i := range sub.Request.Actions {
		a := must.Get(action.Parse(32, token.Issue, sub.Request.Actions[i].Raw))(t)
		for j := range a.Outputs {
			p := made[0]
			made = made[1:]
			p.ID, p.Token, p.Opening = request.OutputID(sub.Request.Anchor, i, j), a.Outputs[j], sub.Information.Actions[i].Outputs[j].Opening
			if script.IsScript(p.Token.Owner) {
				p.shared = must.Get(script.ParseThreshold(p.Token.Owner))(t)
			} else {
				p.owners[0].have[p.Opening.Type] += int64(p.Opening.Value)
			}
			h.pieces[string(p.ID)] = p
		}
	}
}

// some returns the pieces that fit, in the order of their ids.
func (h *heist) some(fits func(*piece) bool) (all []*piece) {
	for _, id := range slices.Sorted(maps.Keys(h.pieces)) {
		if p := h.pieces[id]; !p.spent && fits(p) {
			all = append(all, p)
		}
	}
	return all
}

func (h *heist) owned(by *player) []*piece {
	return h.some(func(p *piece) bool { return p.shared == nil && p.owners[0] == by && !p.late })
}

// agree draws a deal, and has each party propose its part.
func (h *heist) agree() {
	t := h.t
	if h.chance(3, "an end of validity") {
		h.until = uint64(blockTime.Unix()) + 10
	}
	robber := h.players[0]
	for _, p := range h.players {
		p.deal = service.Deal{Gives: service.Amounts{}, Gets: service.Amounts{}}
	}
	sold := h.chance(3, "the issuer sells")
	if sold {
		h.treasury = &player{party: h.party(t, h.key(t, "treasury")), signed: map[[32]byte]bool{}, have: map[string]int64{}}
		h.players = append(h.players, h.treasury)
		h.treasury.deal = service.Deal{Gives: service.Amounts{}, Gets: service.Amounts{}}
	}
	for _, p := range h.players {
		if p != robber && p != h.treasury && h.chance(2, "gives") || p == robber {
			if mine := h.owned(p); len(mine) > 0 {
				from := draw(h, mine, "from")
				to := draw(h, h.players, "payee")
				if p == robber && sold {
					to = h.treasury
				}
				h.pays(p, from, to)
			}
		}
	}
	if sold {
		value := rapid.Uint64Range(1, 9).Draw(t, "bonds")
		o := h.order(bond, service.Payment{To: draw(h, h.players, "buyer").address(t), Value: value})
		sub := must.Get(h.issuer.Propose(h.ctx, len(h.legs), o))(t)
		h.legs = append(h.legs, &leg{action: sub.Request.Actions[0], info: sub.Information.Actions[0], to: []service.Address{o.Payments[0].To}, values: []uint64{value}})
		h.issues = sub.Request.Actions
		for _, p := range h.players {
			if bytes.Equal(p.address(t).Owner, o.Payments[0].To.Owner) || h.finds(p, o.Payments[0].To) {
				p.deal.Gets[bond] += value
			}
		}
		h.issuerDeal = service.Deal{Gives: service.Amounts{bond: value}, Gets: h.treasury.deal.Gets}
	}
	if common := h.some(func(p *piece) bool { return p.shared != nil }); len(common) > 0 && rapid.IntRange(0, 3).Draw(t, "shared tokens are left alone") < 3 {
		h.spendsTogether(draw(h, common, "shared"))
	}
}

// finds reports whether an address is a player's: its wallet knows the tag.
func (h *heist) finds(p *player, to service.Address) bool { return service.Finds(p.Wallet, to) }

func (h *heist) order(typ string, payments ...service.Payment) service.Order {
	o := anchored(h.anchor, service.Order{Type: typ, Payments: payments})
	if h.until > 0 {
		o.Until = blockTime.Add(10e9)
	}
	return o
}

// pays has a player propose to pay another one out of a token, or to redeem.
func (h *heist) pays(p *player, from *piece, to *player) {
	t := h.t
	typ := from.Opening.Type
	value := rapid.Uint64Range(1, from.Opening.Value).Draw(t, "value")
	payment := service.Payment{To: to.address(t), Value: value}
	redeems := to == p
	if redeems {
		payment.To = service.Address{}
	} else {
		to.deal.Gets[typ] += value
	}
	p.deal.Gives[typ] += value
	l := &leg{by: p, from: []*piece{from}, to: []service.Address{payment.To}, values: []uint64{value}, redeems: redeems}
	o := h.order(typ, payment)
	o.From = []token.ID{from.ID}
	if redeems {
		o.Issuer = key(t, "issuer").Identity()
	}
	if p == h.players[0] {
		l.to, l.values = append(l.to, p.address(t)), append(l.values, from.Opening.Value-value)
		l.action, l.info = h.make(len(h.legs), h.anchor, l.from, l.to, l.values, false)
		if redeems {
			l.action.Issuer = &request.Issuer{Identity: o.Issuer}
		}
	} else {
		sub := must.Get(p.pay.Propose(h.ctx, len(h.legs), o))(t)
		if h.chance(4, "proposes again") {
			l.stale = &leg{action: sub.Request.Actions[0], info: sub.Information.Actions[0]}
			must.Do(t, p.Discard(h.ctx, sub.Request.Anchor))
			sub = must.Get(p.pay.Propose(h.ctx, len(h.legs), o))(t)
		}
		l.action, l.info = sub.Request.Actions[0], sub.Information.Actions[0]
		p.proposed = append(p.proposed, l.action)
	}
	h.legs = append(h.legs, l)
}

// spendsTogether has an owner of a shared token propose a payment out of it, and tells the others.
func (h *heist) spendsTogether(from *piece) {
	t := h.t
	typ := from.Opening.Type
	value := rapid.Uint64Range(1, from.Opening.Value).Draw(t, "value")
	payee := draw(h, h.players, "payee")
	payment := service.Payment{To: payee.address(t), Value: value}
	var approves *request.Issuer
	l := &leg{from: []*piece{from}, redeems: h.chance(4, "redeems")}
	if l.redeems {
		payment.To, approves = service.Address{}, &request.Issuer{Identity: key(t, "issuer").Identity()}
	} else {
		payee.deal.Gets[typ] += value
	}
	l.to, l.values = []service.Address{payment.To}, []uint64{value}
	l.agreed, _ = h.sharedAddress(from.owners)
	var proposers []*player
	for _, p := range from.owners {
		if len(p.proposed) == 0 { // one anchor is proposed under once
			proposers = append(proposers, p)
		}
		if p != h.players[0] && h.chance(8, "is not told") {
			continue
		}
		p.deal.Shared = service.SharedDeal{Spends: []token.ID{from.ID}, Change: []service.Address{l.agreed}, Pays: map[string][]service.Payment{typ: {payment}}}
		if l.redeems {
			p.deal.Shared.Issuer = approves.Identity
		}
	}
	if len(proposers) == 0 {
		proposers = h.players[:1]
	}
	l.by = draw(h, proposers, "proposer")
	if l.by == h.players[0] {
		l.to, l.values = append(l.to, l.agreed), append(l.values, from.Opening.Value-value)
		l.action, l.info = h.make(len(h.legs), h.anchor, l.from, l.to, l.values, false)
		l.action.Issuer = approves
	} else {
		o := h.order(typ, payment)
		o.From, o.Change = []token.ID{from.ID}, &l.agreed
		if l.redeems {
			o.Issuer = approves.Identity
		}
		sub := must.Get(l.by.pay.Propose(h.ctx, len(h.legs), o))(t)
		l.action, l.info = sub.Request.Actions[0], sub.Information.Actions[0]
		l.by.proposed, l.by.together = append(l.by.proposed, l.action), from
		made := must.Get(action.Parse(32, token.Transfer, l.action.Raw))(t)
		for j, item := range l.info.Outputs { // in clear
			h.openings[string(made.Outputs[j].Commitment)] = item.Opening
		}
	}
	h.legs = append(h.legs, l)
}

// make returns an action that the robber makes from any tokens. Its encrypted openings may be wrong.
func (h *heist) make(place int, anchor string, from []*piece, to []service.Address, values []uint64, lies bool) (request.Action, audit.Action) {
	t := h.t
	var owned []action.Owned
	info := audit.Action{}
	for _, p := range from {
		owned = append(owned, p.Owned)
		item := audit.Item{Opening: p.Opening}
		if p.shared == nil {
			item.Owners = []audit.Owner{p.to.Members[0].Audit}
		}
		info.Inputs = append(info.Inputs, item)
	}
	spec := action.Spec{Anchor: request.ActionAnchor(h.genesis.ID(), []byte(anchor), place)}
	for j := range to {
		out := action.Output{Owner: to[j].Owner, Value: values[j]}
		var payees []note.Payee
		for _, m := range to[j].Members {
			payees = append(payees, m.Payee)
		}
		if len(payees) > 0 {
			at := note.Place{Ledger: h.genesis.ID(), ID: request.OutputID([]byte(anchor), place, j), Owner: out.Owner}
			out.Note = func(o token.Opening) ([]byte, error) {
				if lies {
					o.Value += 7
				}
				return note.Seal(at, payees, o)
			}
		}
		spec.Outputs = append(spec.Outputs, out)
	}
	sender := must.Get(action.NewSender(h.ctx, serial, h.pp, owned))(t)
	d := must.Get(sender.Transfer(h.ctx, spec))(t)
	for j, o := range d.Openings {
		item := audit.Item{Opening: o}
		for _, m := range to[j].Members {
			item.Owners = append(item.Owners, m.Audit)
		}
		info.Outputs = append(info.Outputs, item)
		h.openings[string(d.Outputs[j].Commitment)] = o
	}
	return request.Action{Kind: token.Transfer, ProofType: token.CSP, Raw: must.Get(d.Prove(h.ctx))(t), Spends: make([]request.Spend, len(from))}, info
}

// table is a request that the robber bends.
type table struct {
	legs   []*leg
	anchor string
	until  uint64
}

// remade returns a leg of the robber's own making in a place.
func (h *heist) remade(tb *table, place int, from []*piece, to []service.Address, values []uint64, lies bool) *leg {
	l := &leg{by: h.players[0], from: from, to: to, values: values}
	l.action, l.info = h.make(place, tb.anchor, from, to, values, lies)
	return l
}

// replace changes a leg that spends the robber's token, or a shared one: what it pays, to whom, and what its notes say.
func (h *heist) replace(tb *table, fits func(*leg) bool) bool {
	t := h.t
	var places []int
	for i, l := range tb.legs {
		if len(l.from) == 1 && fits(l) {
			places = append(places, i)
		}
	}
	if len(places) == 0 {
		return false
	}
	i := draw(h, places, "place")
	l := tb.legs[i]
	from, robber := slices.Clone(l.from), h.players[0]
	total := from[0].Opening.Value
	to, values := []service.Address{l.to[0], robber.address(t)}, []uint64{l.values[0], total - l.values[0]}
	if l.agreed.Owner != nil {
		to[1] = l.agreed
	}
	lies := false
	ways := []int{0, 1, 2, 3, 4, 5, 6}
	if l.agreed.Owner != nil {
		ways = []int{0, 1, 1, 2, 4, 4, 4, 4, 5, 5, 6, 6}
	}
	switch draw(h, ways, "how") {
	case 0: // less
		values[0]--
		values[1]++
	case 1: // to another one
		to[0] = robber.address(t)
	case 2: // the owner, with another note
		to[0].Members = robber.address(t).Members
		if len(to[0].Owner) == 0 {
			to[0].Members = nil
		}
	case 3:
		lies = true
	case 4: // the rest elsewhere
		to[1] = h.elsewhere(l)
	case 5: // another token of the same value
		other := h.some(func(p *piece) bool {
			return p != from[0] && p.Opening.Type == from[0].Opening.Type && p.Opening.Value == total && (p.shared != nil) == (from[0].shared != nil)
		})
		if len(other) == 0 {
			return false
		}
		from[0] = draw(h, other, "token")
	case 6: // all as it was, and made by the robber
	}
	if from[0].shared != nil && values[1] == 0 {
		to, values = to[:1], values[:1]
	}
	for _, a := range to {
		if identity.Identity(a.Owner).Type() == script.TypeHashLock { // which wants to be the only output
			to, values = []service.Address{a}, []uint64{total}
			break
		}
	}
	n := h.remade(tb, i, from, to, values, lies)
	n.agreed, n.redeems = l.agreed, l.redeems
	n.action.Issuer = l.action.Issuer
	tb.legs[i] = n
	return true
}

// elsewhere returns an address for the rest that nobody has agreed on.
func (h *heist) elsewhere(l *leg) service.Address {
	t := h.t
	robber := h.players[0]
	a := l.agreed
	if len(a.Members) == 0 {
		return draw(h, h.players, "who").address(t)
	}
	switch rapid.IntRange(0, 4).Draw(t, "elsewhere") {
	case 0: // any of them alone
		th := must.Get(script.ParseThreshold(a.Owner))(t)
		fewer := must.Get(script.NewThreshold(1, th.Identities()...))(t)
		return service.Address{Owner: fewer.Owner(), Members: a.Members}
	case 1: // a note of the robber's in the place of another one
		members := slices.Clone(a.Members)
		members[rapid.IntRange(0, len(members)-1).Draw(t, "member")] = robber.address(t).Members[0]
		return service.Address{Owner: a.Owner, Members: members}
	case 2: // another address of the same owners
		other, _ := h.sharedAddress(l.from[0].owners)
		return other
	case 3: // a lock between two of them
		owner := draw(h, l.from[0].owners, "recipient")
		if owner != robber {
			return must.Get(service.Locked([32]byte{1}, uint64(blockTime.Unix())+1, robber.address(t), owner.address(t)))(t)
		}
	}
	return robber.address(t)
}

// bends are what the robber does to a request; each tells whether there was anything to do it to.
var bends = []struct {
	name   string
	weight int
	do     func(h *heist, tb *table) bool
}{
	{"left out", 1, func(h *heist, tb *table) bool {
		if len(tb.legs) < 2 {
			return false
		}
		i := rapid.IntRange(0, len(tb.legs)-1).Draw(h.t, "which")
		tb.legs = slices.Delete(tb.legs, i, i+1)
		return true
	}},
	{"reordered", 1, func(h *heist, tb *table) bool {
		if len(tb.legs) < 2 {
			return false
		}
		slices.Reverse(tb.legs)
		return true
	}},
	{"doubled", 1, func(h *heist, tb *table) bool {
		tb.legs = append(tb.legs, draw(h, tb.legs, "which"))
		return true
	}},
	{"another end", 2, func(h *heist, tb *table) bool {
		if tb.until += 5; h.chance(2, "none") {
			tb.until = 0
		}
		return tb.until != h.until
	}},
	{"another anchor", 1, func(h *heist, tb *table) bool { tb.anchor += ", again"; return true }},
	{"theft added", 3, func(h *heist, tb *table) bool {
		what := h.some(func(p *piece) bool { return p.shared != nil || p.owners[0] != h.players[0] })
		if len(what) == 0 {
			return false
		}
		p := draw(h, what, "what")
		tb.legs = append(tb.legs, h.remade(tb, len(tb.legs), []*piece{p}, []service.Address{h.players[0].address(h.t)}, []uint64{p.Opening.Value}, false))
		return true
	}},
	{"gift added", 1, func(h *heist, tb *table) bool {
		mine := h.owned(h.players[0])
		p := draw(h, mine, "what")
		for _, l := range tb.legs {
			if slices.Contains(l.from, p) {
				return false
			}
		}
		value := draw(h, []uint64{0, 1, p.Opening.Value}, "value")
		to := []service.Address{draw(h, h.players, "to").address(h.t), h.players[0].address(h.t)}
		tb.legs = append(tb.legs, h.remade(tb, len(tb.legs), []*piece{p}, to, []uint64{value, p.Opening.Value - value}, false))
		return true
	}},
	{"robber's action changed", 2, func(h *heist, tb *table) bool {
		return h.replace(tb, func(l *leg) bool { return l.by == h.players[0] && l.from[0].shared == nil })
	}},
	{"shared action changed", 10, func(h *heist, tb *table) bool {
		return h.replace(tb, func(l *leg) bool { return l.from[0].shared != nil })
	}},
	{"honest action changed", 3, func(h *heist, tb *table) bool {
		return h.replaceHonest(tb)
	}},
	{"stale proposal", 3, func(h *heist, tb *table) bool {
		done := false
		for i, l := range tb.legs {
			if l.stale != nil {
				tb.legs[i], done = l.stale, true
			}
		}
		return done
	}},
	{"another issuer", 3, func(h *heist, tb *table) bool {
		var places []int
		for i, l := range tb.legs {
			if l.action.Issuer != nil {
				places = append(places, i)
			}
		}
		if len(places) == 0 {
			return false
		}
		i := draw(h, places, "place")
		n := *tb.legs[i]
		n.action.Issuer = &request.Issuer{Identity: h.south.Identity()}
		tb.legs[i] = &n
		return true
	}},
}

// replaceHonest puts an action of the robber's in the place of an honest player's: of the same token, with as much for the player.
func (h *heist) replaceHonest(tb *table) bool {
	for i, l := range tb.legs {
		if len(l.from) == 1 && l.from[0].shared == nil && l.by != nil && l.by != h.players[0] {
			p := l.from[0]
			to, values := []service.Address{h.players[0].address(h.t), l.by.address(h.t)}, []uint64{l.values[0], p.Opening.Value - l.values[0]}
			tb.legs[i] = h.remade(tb, i, l.from, to, values, false)
			return true
		}
	}
	return false
}

// bend returns a request as the robber shows it.
func (h *heist) bend() *service.Submission {
	tb := &table{legs: slices.Clone(h.legs), anchor: h.anchor, until: h.until}
	bent := false
	for range draw(h, []int{1, 0, 1, 1, 2}, "bends") {
		var weighted []int
		for i, b := range bends {
			weighted = append(weighted, slices.Repeat([]int{i}, b.weight)...)
		}
		for range 4 { // until there is something to do it to
			b := bends[draw(h, weighted, "bend")]
			if b.do(h, tb) {
				bent = true
				h.seen["bent: "+b.name]++
				break
			}
		}
	}
	sub := &service.Submission{
		Request:     &request.Request{Anchor: []byte(tb.anchor), Until: tb.until, Auditors: make([][]byte, len(h.params.Policy.Auditors))},
		Information: new(audit.Information),
	}
	for _, l := range tb.legs {
		sub.Request.Actions, sub.Information.Actions = append(sub.Request.Actions, l.action), append(sub.Information.Actions, l.info)
	}
	if len(sub.Request.Actions) == 0 {
		sub.Request.Actions, sub.Information.Actions = []request.Action{h.legs[0].action}, []audit.Action{h.legs[0].info}
	}
	sub = sent(h.t, sub)
	if !bent {
		h.seen["shown: untouched"]++
	}
	return sub
}

// untouched reports whether a request is what was agreed.
func (h *heist) untouched(r *request.Request) bool {
	return string(r.Anchor) == h.anchor && r.Until == h.until && slices.EqualFunc(r.Actions, h.legs, func(a request.Action, l *leg) bool {
		return bytes.Equal(a.Raw, l.action.Raw) && bytes.Equal(issuerOf(&a), issuerOf(&l.action))
	})
}

func issuerOf(a *request.Action) []byte {
	if a.Issuer == nil {
		return nil
	}
	return a.Issuer.Identity
}

// kind returns how a request is counted.
func (h *heist) kind(r *request.Request) string {
	if h.untouched(r) {
		return "untouched"
	}
	return "bent"
}

// collect shows a request to the others, each of whom signs if it is what it was told, and keeps their signatures.
func (h *heist) collect(sub *service.Submission) {
	digest := sub.Request.Digest(h.genesis.ID())
	for _, p := range rapid.Permutation(h.players[1:]).Draw(h.t, "asked") {
		if p == h.treasury {
			continue // signs nothing
		}
		one := sent(h.t, sub)
		err := p.pay.Sign(h.ctx, one, p.deal)
		if err != nil {
			h.refused("an owner", err)
			continue
		}
		h.seen["signed: "+h.kind(one.Request)]++
		p.signed[digest] = true
		if other := slices.Collect(maps.Keys(p.signed)); len(other) > 1 && string(sub.Request.Anchor) == h.anchor {
			h.t.Fatal("two requests are signed under one anchor")
		}
		for i := range one.Request.Actions {
			a := must.Get(action.Parse(32, one.Request.Actions[i].Kind, one.Request.Actions[i].Raw))(h.t)
			for k, s := range one.Request.Actions[i].Spends {
				ids := []identity.Identity{a.Inputs[k].Token.Owner}
				if script.IsScript(a.Inputs[k].Token.Owner) {
					ids = named(h.t, a.Inputs[k].Token.Owner, s.Unlock)
				}
				for n, signature := range s.Signatures {
					h.signatures[string(digest[:])+string(ids[n])] = signature
					h.ofAnybody = append(h.ofAnybody, signature)
				}
			}
		}
	}
	if h.treasury == nil {
		return
	}
	one := sent(h.t, sub)
	if err := h.issuer.Sign(h.ctx, one, h.treasury.Wallet, h.issuerDeal); err != nil {
		h.seen["issuer refused"]++
		h.refused("the issuer", err)
		return
	}
	h.seen["issuer signed"]++
	h.issuerSigned[digest] = true
	for i := range one.Request.Actions {
		if in := one.Request.Actions[i].Issuer; in != nil && len(in.Signature) > 0 {
			h.issuers[fmt.Sprint(digest, i)] = in.Signature
		}
	}
}

// refused counts a refusal by its cause, which must have a type.
func (h *heist) refused(whose string, err error) {
	cause := "none"
	for _, known := range []error{zkbench.ErrPolicy, zkbench.ErrParams, zkbench.ErrMalformed, zkbench.ErrAnchorConflict, zkbench.ErrSignature, zkbench.ErrSpent, zkbench.ErrProof, zkbench.ErrLimit} {
		if errors.Is(err, known) {
			cause = known.Error()
			break
		}
	}
	if cause == "none" {
		h.t.Fatalf("refused by %s, for no known cause: %v", whose, err)
	}
	if _, ok := errors.AsType[*service.DealError](err); ok {
		cause = "*service.DealError"
	}
	if c, ok := errors.AsType[*zkbench.CheckError](err); ok {
		cause = c.Check
	}
	h.seen["refused by "+whose+": "+cause]++
}

// named returns the members that a threshold's witness names.
func named(t must.TB, owner, unlock []byte) (ids []identity.Identity) {
	t.Helper()
	if len(unlock) != 2 {
		return nil
	}
	th := must.Get(script.ParseThreshold(owner))(t)
	for i, id := range th.Identities() {
		if (int(unlock[0])<<8|int(unlock[1]))>>i&1 != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// sign puts signatures into a request: the robber's own, those that it was given for it, and else what it finds.
func (h *heist) sign(sub *service.Submission) {
	t, r := h.t, sub.Request
	digest := r.Digest(h.genesis.ID())
	message := r.Message(h.genesis.ID())
	own := func(signer identity.Signer, role request.Role, of uint64) []byte {
		m := request.ToSign(message, role, of, signer.Identity())
		return must.Get(signer.Sign(m[:], nil))(t)
	}
	of := func(id identity.Identity) (signature []byte, good bool) {
		for _, mine := range h.robber {
			if bytes.Equal(mine.Identity(), id) {
				return own(mine, request.Owner, 0), true
			}
		}
		if s := h.signatures[string(digest[:])+string(id)]; s != nil {
			return s, true
		}
		if len(h.ofAnybody) > 0 {
			return draw(h, h.ofAnybody, "copied"), false
		}
		return make([]byte, 64), false
	}
	for i := range r.Actions {
		a := must.Get(action.Parse(32, r.Actions[i].Kind, r.Actions[i].Raw))(t)
		for k := range a.Inputs {
			spend := &r.Actions[i].Spends[k]
			p := h.pieces[string(a.Inputs[k].ID)]
			if p == nil {
				continue
			}
			if p.shared == nil {
				s, _ := of(p.Token.Owner)
				spend.Signatures = [][]byte{s}
				continue
			}
			var best, rest []identity.Identity
			for _, id := range p.shared.Identities() {
				if _, good := of(id); good {
					best = append(best, id)
				} else {
					rest = append(rest, id)
				}
			}
			if h.chance(5, "other signers") {
				slices.Reverse(best)
			}
			signers := append(best, rest...)[:p.shared.K()]
			slices.SortFunc(signers, func(a, b identity.Identity) int { return bytes.Compare(a, b) })
			*spend = request.Spend{Unlock: must.Get(p.shared.Unlock(signers...))(t)}
			var owners []audit.Owner
			for _, id := range signers {
				s, _ := of(id)
				spend.Signatures = append(spend.Signatures, s)
				at := slices.IndexFunc(p.shared.Identities(), func(other identity.Identity) bool { return bytes.Equal(other, id) })
				owners = append(owners, p.to.Members[at].Audit)
			}
			if info := &sub.Information.Actions[i]; info.Sealed == nil && k < len(info.Inputs) {
				info.Inputs[k].Owners = owners
			}
		}
		switch in := r.Actions[i].Issuer; {
		case in == nil:
		case bytes.Equal(in.Identity, h.south.Identity()):
			in.Signature = own(h.south, request.IssuerRole, uint64(i))
		case r.Actions[i].Kind == token.Transfer: // the redemption that the issuer has been told of
			if slices.ContainsFunc(h.legs, func(l *leg) bool { return bytes.Equal(l.action.Raw, r.Actions[i].Raw) }) {
				in.Signature = own(key(t, "issuer"), request.IssuerRole, uint64(i))
			}
		default:
			in.Signature = h.issuers[fmt.Sprint(digest, i)]
		}
	}
}

// land submits a request with all the signatures that there are, and looks at what it has done.
func (h *heist) land(sub *service.Submission) {
	t := h.t
	h.sign(sub)
	var shown *request.Request
	if h.audited {
		signature, _, err := h.auditor.Sign(h.ctx, must.Get(sub.Request.Encode())(t), must.Get(sub.Information.Encode())(t))
		if err != nil {
			h.refused("the auditor", err)
			return
		}
		shown = sent(t, sub).Request
		if h.chance(3, "other signers than the auditor saw") {
			h.sign(sub)
		}
		sub.Request.Auditors[0] = signature
	}
	valid, err := h.validator.Validate(h.ctx, validator.TokenFunc(h.ledger.Token), must.Get(sub.Request.Encode())(t), blockTime)
	if err != nil {
		h.refused("the validator", err)
		return
	}
	h.ledger.apply(valid)
	r := sub.Request
	h.seen["landed: "+h.kind(r)]++
	if shown != nil {
		for i := range r.Actions {
			for k := range r.Actions[i].Spends {
				if !bytes.Equal(r.Actions[i].Spends[k].Unlock, shown.Actions[i].Spends[k].Unlock) {
					t.Fatalf("action %d, input %d: others sign than the auditor saw", i, k)
				}
			}
		}
	}
	h.check(r)
}

// tagged reports whether an output is at an address: of its owner, with notes for its members.
func tagged(out *token.Token, raw []byte, to service.Address) bool {
	if !bytes.Equal(out.Owner, to.Owner) {
		return false
	}
	shares, _ := note.Decode(raw)
	return slices.EqualFunc(shares, to.Members, func(s note.Share, m service.Member) bool { return s.Tag == m.Payee.Tag })
}

// output is one of a request that has landed.
type output struct {
	id    token.ID
	token *token.Token
	note  []byte
	value uint64 // as far as somebody knows
	typ   string
	by    []byte // the issuer of its action
}

// check holds what a request has done to each player to what that has agreed to.
func (h *heist) check(r *request.Request) {
	t := h.t
	digest := r.Digest(h.genesis.ID())
	known := map[string]service.UnspentToken{} // what wallets find
	for _, p := range h.players {
		_ = p.Discard(h.ctx, []byte(h.anchor)) // a proposal that has not landed holds tokens
		must.Do(t, p.Sync(h.ctx, h.ledger))
		for held, err := range p.Unspent() {
			must.Do(t, err)
			known[string(held.ID)] = held
		}
		for _, s := range p.shared(t) {
			known[string(s.ID)] = s.UnspentToken
		}
	}
	var outputs []output
	var spent []*piece
	for i := range r.Actions {
		a := must.Get(action.Parse(32, r.Actions[i].Kind, r.Actions[i].Raw))(t)
		for k := range a.Inputs {
			p := h.pieces[string(a.Inputs[k].ID)]
			p.spent = true
			spent = append(spent, p)
			h.mayBeSpent(p, &r.Actions[i], r.Actions[i].Spends[k].Unlock, digest)
		}
		for j := range a.Outputs {
			out := output{id: request.OutputID(r.Anchor, i, j), token: &a.Outputs[j], note: a.Notes[j], by: issuerOf(&r.Actions[i])}
			if o, ok := h.openings[string(out.token.Commitment)]; ok {
				out.value, out.typ = o.Value, o.Type
			} else if held, ok := known[string(out.id)]; ok {
				out.value, out.typ = held.Value, held.Type
			}
			outputs = append(outputs, out)
		}
		if r.Actions[i].Kind == token.Issue && bytes.Equal(issuerOf(&r.Actions[i]), key(t, "issuer").Identity()) {
			if !h.issuerSigned[digest] || !bytes.Equal(r.Actions[i].Raw, h.issues[0].Raw) {
				t.Fatalf("action %d: an issue that the issuer has not agreed to", i)
			}
			h.atLeast(h.treasury, h.treasury.deal)
		}
	}
	for _, p := range h.players[1:] {
		if p.signed[digest] {
			if len(p.proposed) > 0 && r.Until != h.until {
				t.Fatalf("proposed until %d, signed until %d", h.until, r.Until)
			}
			h.atLeast(p, p.deal)
			h.together(p, spent, outputs)
		} else {
			h.atLeast(p, service.Deal{})
		}
	}
	for _, p := range h.players { // the next one begins with what there is now
		p.have = h.alone(p)
		p.deal.Gives, p.deal.Gets = nil, nil // what was agreed is done
	}
}

// mayBeSpent fails the run unless owners have agreed to the action that spends their token.
func (h *heist) mayBeSpent(p *piece, a *request.Action, unlock []byte, digest [32]byte) {
	if p.shared == nil {
		owner := p.owners[0]
		if owner == h.players[0] {
			return
		}
		if !owner.signed[digest] || !owner.has(a) {
			h.t.Fatalf("a token of %d %s is spent by an action that its owner has not proposed", p.Opening.Value, p.Opening.Type)
		}
		return
	}
	h.seen["landed: with shared tokens"]++
	for _, id := range named(h.t, p.Token.Owner, unlock) {
		if slices.ContainsFunc(h.robber, func(s identity.Signer) bool { return bytes.Equal(s.Identity(), id) }) {
			continue
		}
		at := slices.IndexFunc(p.shared.Identities(), func(other identity.Identity) bool { return bytes.Equal(other, id) })
		for _, owner := range p.owners {
			if !h.finds(owner, service.Address{Owner: id, Members: p.to.Members[at : at+1]}) {
				continue
			}
			if !owner.signed[digest] || !slices.ContainsFunc(owner.deal.Shared.Spends, func(id token.ID) bool { return bytes.Equal(id, p.ID) }) {
				h.t.Fatalf("a shared token of %d %s is spent, and one of those who sign has not agreed", p.Opening.Value, p.Opening.Type)
			}
			if owner.together == p && !owner.has(a) {
				h.t.Fatalf("a shared token of %d %s is spent otherwise than one of those who sign has proposed", p.Opening.Value, p.Opening.Type)
			}
		}
	}
}

// has reports whether a player has proposed an action, with its issuer.
func (p *player) has(a *request.Action) bool {
	return slices.ContainsFunc(p.proposed, func(b request.Action) bool {
		return bytes.Equal(a.Raw, b.Raw) && bytes.Equal(issuerOf(a), issuerOf(&b))
	})
}

// alone returns what a player has alone, by type.
func (h *heist) alone(p *player) map[string]int64 {
	sums := map[string]int64{}
	for held, err := range p.Unspent() {
		must.Do(h.t, err)
		sums[held.Type] += int64(held.Value)
	}
	return sums
}

// atLeast fails the run if a player has less, of any type, than before and by its deal.
func (h *heist) atLeast(p *player, deal service.Deal) {
	now := h.alone(p)
	for _, typ := range append(heistTypes, "EUR") {
		want := p.have[typ] + int64(deal.Gets[typ]) - int64(deal.Gives[typ])
		if now[typ] < want {
			h.t.Fatalf("a player has %d %s, %d before, and agreed to %d", now[typ], typ, p.have[typ], want)
		}
	}
}

// together fails the run unless what a player owns with others has become what its deal says.
func (h *heist) together(p *player, spent []*piece, outputs []output) {
	deal := p.deal.Shared
	net := map[string]int64{}
	for _, s := range spent {
		if s.shared != nil && slices.Contains(s.owners, p) {
			net[s.Opening.Type] -= int64(s.Opening.Value)
		}
	}
	rest := slices.Clone(outputs)
	for _, c := range deal.Change {
		for _, out := range outputs {
			if tagged(out.token, out.note, c) {
				net[out.typ] += int64(out.value)
			}
		}
	}
	for typ, payments := range deal.Pays {
		for _, pay := range payments {
			net[typ] += int64(pay.Value)
			at := slices.IndexFunc(rest, func(o output) bool {
				return o.typ == typ && o.value == pay.Value && tagged(o.token, o.note, pay.To) && (len(pay.To.Owner) > 0 || bytes.Equal(o.by, deal.Issuer))
			})
			if at < 0 {
				h.t.Fatalf("a payment of %d %s out of a shared token has not arrived", pay.Value, typ)
			}
			rest = slices.Delete(rest, at, at+1)
		}
	}
	for typ, value := range net {
		if value != int64(deal.Gets[typ]) {
			h.t.Fatalf("%d %s of what is owned together are missing", -value, typ)
		}
	}
}
