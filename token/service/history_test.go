package service_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
)

// line is a movement in short.
type line struct {
	Anchor          string
	Status          service.Status
	Number          uint64
	Made            bool
	Spent, Received []uint64 // values
	Paid            []uint64
}

func history(t must.TB, v *service.Vault) (lines []line, all []service.Movement) {
	t.Helper()
	for m, err := range v.History() {
		must.Do(t, err)
		l := line{Anchor: string(m.Anchor), Status: m.Status, Number: m.Number, Made: m.Made}
		for _, h := range m.Spent {
			l.Spent = append(l.Spent, h.Value)
		}
		for _, h := range m.Received {
			l.Received = append(l.Received, h.Value)
		}
		for _, p := range m.Paid {
			l.Paid = append(l.Paid, p.Value)
		}
		slices.Sort(l.Spent)
		slices.Sort(l.Received)
		slices.Sort(l.Paid)
		lines, all = append(lines, l), append(all, m)
	}
	return lines, all
}

// TestHistory: what was paid and received is there in every state, with the outputs that were paid also after they have landed; what a lost vault had comes
// back from keys and log, but for what it had made itself.
func TestHistory(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.key(t, "bob"))
	w.land(t, must.Get(w.issuer.Issue(ctx, anchored("issue", paying(alice.address(t), 100, 20))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	issue := line{Anchor: "issue", Status: service.Landed, Number: 1, Received: []uint64{20, 100}}
	lines, _ := history(t, alice.Vault)
	golden.Equal(t, "received", []line{issue}, lines)

	to := bob.address(t)
	pay := must.Get(alice.pay.Transfer(ctx, anchored("pay", paying(to, 30))))(t)
	dropped := must.Get(alice.pay.Transfer(ctx, anchored("dropped", paying(to, 5))))(t)
	must.Do(t, alice.Discard(ctx, dropped.Request.Anchor))
	pending := line{Anchor: "pay", Status: service.Pending, Made: true, Spent: []uint64{100}, Paid: []uint64{30, 70}}
	cancelled := line{Anchor: "dropped", Status: service.Cancelled, Made: true, Spent: []uint64{20}, Paid: []uint64{5, 15}}
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "pending and cancelled", []line{issue, pending, cancelled}, lines)

	land := func(sub *service.Submission) { must.Get(w.submitAt(t, sub, blockTime.Add(time.Hour)))(t) }
	land(pay)
	must.Do(t, alice.Sync(ctx, w.ledger))
	landed := pending
	landed.Status, landed.Number, landed.Received = service.Landed, 2, []uint64{70}
	lines, all := history(t, alice.Vault)
	golden.Equal(t, "landed", []line{issue, landed, cancelled}, lines)
	golden.Equal(t, "time", blockTime.Add(time.Hour).UTC(), all[1].Time.UTC())
	// The outputs that were paid open their tokens, whoever asks later.
	pp := must.Get(w.params.Crypto(token.CSP, smallTables))(t)
	var openings []token.Opening
	for _, p := range all[1].Paid {
		openings = append(openings, p.Opening)
	}
	commitments := must.Get(pp.Commit(ctx, serial, openings))(t)
	for j, c := range w.ledger.log[1].Creates {
		made := must.Get(token.DecodeToken(32, c.Token))(t)
		golden.Equal(t, "commitment", made.Commitment, commitments[j])
		golden.Equal(t, "owner", identity.Identity(made.Owner), all[1].Paid[j].Owner)
	}

	// This one can never land, since another wallet of the same keys has spent its input.
	beside := w.party(t, alice.keys)
	must.Do(t, beside.Sync(ctx, w.ledger))
	must.Get(alice.pay.Transfer(ctx, anchored("late", paying(to, 60))))(t)
	land(must.Get(beside.pay.Transfer(ctx, anchored("beside", paying(service.Address{}, 70))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	refused := line{Anchor: "late", Status: service.Refused, Made: true, Spent: []uint64{70}, Paid: []uint64{10, 60}}
	other := line{Anchor: "beside", Status: service.Landed, Number: 3, Spent: []uint64{70}}
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "refused", []line{issue, landed, cancelled, refused, other}, lines)

	// What was taken back lands all the same.
	land(dropped)
	must.Do(t, alice.Sync(ctx, w.ledger))
	cancelled.Status, cancelled.Number, cancelled.Received = service.Landed, 4, []uint64{15}
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "landed after all", []line{issue, landed, cancelled, refused, other}, lines)
	alice.crash(t, w)
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "opened again", []line{issue, landed, cancelled, refused, other}, lines)

	bare := func(l line) line {
		l.Made, l.Paid = false, nil
		return l
	}
	must.Do(t, alice.FollowAnew(ctx))
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "before the log is followed anew", []line{
		{Anchor: "pay", Status: service.Pending, Made: true, Paid: landed.Paid},
		{Anchor: "dropped", Status: service.Pending, Made: true, Paid: cancelled.Paid},
		{Anchor: "late", Status: service.Refused, Made: true, Paid: refused.Paid},
	}, lines)
	must.Do(t, alice.Sync(ctx, w.ledger))
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "followed anew", []line{landed, cancelled, refused, issue, other}, lines)
	alice.lose(t, w)
	must.Do(t, alice.Sync(ctx, w.ledger))
	lines, _ = history(t, alice.Vault)
	golden.Equal(t, "of a lost vault", []line{issue, bare(landed), other, bare(cancelled)}, lines)

	// The issuer's.
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	lines, _ = history(t, w.issued)
	golden.Equal(t, "of the issuer", []line{{Anchor: "issue", Status: service.Landed, Number: 1, Made: true, Paid: []uint64{20, 100}}}, lines)
}

// TestHistoryOfDeal: a request of two parties is one movement, from its proposal on, with the outputs that each has made.
func TestHistoryOfDeal(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 100), w.funded(t, "bob", 50)
	must.Do(t, alice.Sync(ctx, w.ledger))
	first := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(bob.address(t), 30))))(t)
	second := must.Get(bob.pay.Propose(ctx, 1, anchored("deal", paying(alice.address(t), 50))))(t)
	deal := must.Get(service.Join(first, second))(t)
	for _, p := range []*party{alice, bob} {
		must.Do(t, p.pay.Sign(ctx, deal, anything(t, p, deal)))
	}
	w.land(t, deal)
	must.Do(t, alice.Sync(ctx, w.ledger))
	lines, _ := history(t, alice.Vault)
	golden.Equal(t, "Alice's", line{Anchor: "deal", Status: service.Landed, Number: 3, Made: true, Spent: []uint64{100}, Received: []uint64{50, 70}, Paid: []uint64{30, 70}}, lines[len(lines)-1])
	golden.Equal(t, "movements", 2, len(lines))
}

// TestCompare: a vault agrees with an honest ledger, and each way in which a ledger can differ is a finding that says what and where.
func TestCompare(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100, 7)
	bob := w.party(t, w.key(t, "bob"))
	paid := must.Get(alice.pay.Transfer(ctx, anchored("pay", paying(bob.address(t), 30))))(t)
	w.land(t, paid)
	must.Do(t, alice.Sync(ctx, w.ledger))
	waits := must.Get(alice.pay.Transfer(ctx, anchored("waits", paying(bob.address(t), 7))))(t)
	must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
	compare := func(v *service.Vault, l *memory) []service.Finding { return must.Get(v.Compare(ctx, l))(t) }
	golden.Equal(t, "with an honest ledger", nil, compare(alice.Vault, w.ledger))
	golden.Equal(t, "the auditor's, with an honest ledger", nil, compare(w.audited, w.ledger))

	other := func(edit func(m *memory)) *memory {
		m := w.ledger.lying(slices.Clone[[]ledgers.Record])
		for id, encoded := range w.ledger.tokens {
			m.tokens[id] = encoded
		}
		for id := range w.ledger.spent {
			m.spent[id] = true
		}
		edit(m)
		return m
	}
	issue, pay := w.ledger.log[0], w.ledger.log[1]
	small, spent := issue.Creates[1].ID, pay.Spends[0]
	for name, test := range map[string]struct {
		edit func(m *memory)
		want service.Finding
	}{
		"a token that is not there": {func(m *memory) { delete(m.tokens, string(small)) }, service.Finding{Kind: service.TokenMissing, Token: small}},
		"a token that is spent": {func(m *memory) {
			delete(m.tokens, string(small))
			m.spent[string(small)] = true
		}, service.Finding{Kind: service.TokenSpent, Token: small}},
		"other bytes":                {func(m *memory) { m.tokens[string(small)] = issue.Creates[0].Token }, service.Finding{Kind: service.TokenDiffers, Token: small}},
		"a token that is spent here": {func(m *memory) { m.tokens[string(spent)] = issue.Creates[0].Token }, service.Finding{Kind: service.TokenUnspent, Token: spent}},
		"a submission that is there": {
			func(m *memory) { m.anchors["waits"] = w.recorded(t, 3, must.Get(waits.Request.Encode())(t)) },
			service.Finding{Kind: service.RequestLanded, Anchor: []byte("waits"), Number: 3},
		},
		"a submission whose anchor is taken": {func(m *memory) {
			m.anchors["waits"] = ledgers.Record{Seq: 4, Entry: issue.Entry}
		}, service.Finding{Kind: service.RequestRefused, Anchor: []byte("waits"), Number: 4}},
		"a payment that is not there":    {func(m *memory) { delete(m.anchors, "pay") }, service.Finding{Kind: service.RequestMissing, Anchor: []byte("pay")}},
		"a payment under another number": {func(m *memory) { m.anchors["pay"] = ledgers.Record{Seq: 9, Entry: pay.Entry} }, service.Finding{Kind: service.RequestMissing, Anchor: []byte("pay"), Number: 9}},
		"another request, with its digest": {func(m *memory) {
			r := m.anchors["pay"]
			r.Request = issue.Request
			m.anchors["pay"] = r
		}, service.Finding{Kind: service.RequestMissing, Anchor: []byte("pay"), Number: 2}},
	} {
		golden.Equal(t, name, []service.Finding{test.want}, compare(alice.Vault, other(test.edit)))
		if test.want.String() == "" {
			t.Errorf("%s: says nothing", name)
		}
	}
	missing := other(func(m *memory) { delete(m.anchors, "pay") })
	golden.Equal(t, "an auditor's request that is gone", []service.Finding{{Kind: service.RequestMissing, Anchor: []byte("pay")}}, compare(w.audited, missing))
	w.land(t, waits)
	golden.Equal(t, "an auditor's request, before Reconcile", []service.Finding{{Kind: service.RequestLanded, Anchor: []byte("waits"), Number: 3}}, compare(w.audited, w.ledger))

	genesis := w.genesis
	genesis.Nonce[0]++
	must.FailGet(alice.Compare(ctx, newMemory(genesis)))(t, zkbench.ErrParams, "another ledger")
}

// TestDamagedHistory: a movement that is damaged, or sealed with a time that is none, is an error in its place.
func TestDamagedHistory(t *testing.T) {
	for name, damage := range map[string]func(key, value []byte) []byte{
		"a bit": func(_, value []byte) []byte { value[3] ^= 1; return value },
		"a time": func(key, value []byte) []byte {
			const nanoseconds = 1 + 1 + 32 + 8 + 8
			body := value[:len(value)-4]
			copy(body[nanoseconds:], []byte{0xff, 0xff, 0xff, 0xff})
			return service.Seal("history", key, body)
		},
	} {
		t.Run(name, func(t *testing.T) { damagedHistory(t, damage) })
	}
}

func damagedHistory(t *testing.T, damage func(key, value []byte) []byte) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 1)
	w.fund(t, alice, 2)
	must.Do(t, alice.Close())
	editFile(t, alice.path, func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("history"))
		key, value := b.Cursor().First()
		key = slices.Clone(key)
		return b.Put(key, damage(key, slices.Clone(value)))
	})
	alice.open(t, w)
	defer alice.Close()
	good, bad := 0, 0
	for m, err := range alice.History() {
		if isCorrupt(err) {
			bad++
		} else if must.Do(t, err); len(m.Received) == 1 {
			good++
		}
	}
	if good != 1 || bad != 1 {
		t.Errorf("%d good and %d damaged, want 1 and 1", good, bad)
	}
}

// TestHistoryOfShared: what a wallet has proposed and others have signed without it has landed for it too.
func TestHistoryOfShared(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var all []*party
	var owners []service.Address
	for _, name := range []string{"ann", "ben", "cleo"} {
		p := w.party(t, w.key(t, name))
		all, owners = append(all, p), append(owners, p.address(t))
	}
	shared := must.Get(service.Shared(2, owners...))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(shared, 100)))(t))
	for _, p := range all {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	var id token.ID
	for h, err := range all[0].Shared() {
		must.Do(t, err)
		id = h.ID
	}
	o := anchored("pay", paying(w.party(t, w.key(t, "dora")).address(t), 30))
	o.From, o.Change = []token.ID{id}, &shared
	sub := must.Get(all[0].pay.Propose(ctx, 0, o))(t)
	for _, p := range all[1:] {
		must.Do(t, p.pay.Sign(ctx, sub, anything(t, p, sub, shared)))
	}
	w.land(t, sub)
	for i, p := range all {
		must.Do(t, p.Sync(ctx, w.ledger))
		want := line{Anchor: "pay", Status: service.Landed, Number: 2, Made: true, Spent: []uint64{100}, Received: []uint64{70}}
		if i == 0 {
			want.Paid = []uint64{30, 70}
		}
		lines, _ := history(t, p.Vault)
		golden.Equal(t, fmt.Sprintf("party %d", i), want, lines[len(lines)-1])
		wantKept(t, p.Vault, 0, "it has landed")
	}
}

// TestHistoryOfTakenAnchor: a payment, or a proposal, whose anchor another request has is refused, and the other request is a movement of its own.
func TestHistoryOfTakenAnchor(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 100), w.party(t, w.key(t, "bob"))
	must.Get(alice.pay.Transfer(ctx, anchored("pay", paying(bob.address(t), 30))))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, anchored("pay", paying(alice.address(t), 5))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(bob.address(t), 100))))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, anchored("deal", paying(alice.address(t), 6))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 0, "neither can land")
	alice.has(t, 111, "all that was held, and what came")
	lines, _ := history(t, alice.Vault)
	golden.Equal(t, "history", []line{
		{Anchor: "pay", Status: service.Refused, Made: true, Spent: []uint64{100}, Paid: []uint64{30, 70}},
		{Anchor: "pay", Status: service.Landed, Number: 2, Received: []uint64{5}},
		{Anchor: "deal", Status: service.Refused, Made: true, Spent: []uint64{100}, Paid: []uint64{100}},
		{Anchor: "deal", Status: service.Landed, Number: 3, Received: []uint64{6}},
	}, lines[1:])
}

// TestLeftOutOfDeal: a token that a wallet has proposed to spend, and that the request which it has signed does not spend, is free again when that has landed.
func TestLeftOutOfDeal(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice, bob := w.funded(t, "alice", 100, 50), w.party(t, w.key(t, "bob"))
	deal := must.Get(alice.pay.Propose(ctx, 0, anchored("deal", paying(bob.address(t), 100)), anchored("deal", paying(bob.address(t), 50))))(t)
	deal.Request.Actions, deal.Information.Actions = deal.Request.Actions[:1], deal.Information.Actions[:1]
	must.Do(t, alice.pay.Sign(ctx, deal, anything(t, alice, deal)))
	alice.has(t, 0, "while it may land")
	w.land(t, deal)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 50, "what was left out")
}
