package service_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
)

// lying returns the ledger with another log, as its operator could show it.
func (m *memory) lying(edit func(log []ledgers.Record) []ledgers.Record) *memory {
	other := newMemory(m.genesis)
	maps.Copy(other.anchors, m.anchors)
	for _, r := range m.log {
		r.Spends, r.Creates = slices.Clone(r.Spends), slices.Clone(r.Creates)
		other.log = append(other.log, r)
	}
	other.log = edit(other.log)
	if len(m.signers) > 0 { // the operator has no keys of validators, so the head and its proofs are the true ones
		other.liesOf = m
	}
	return other
}

// numbered gives records the numbers of their places.
func numbered(log ...ledgers.Record) []ledgers.Record {
	for i := range log {
		log[i].Seq = uint64(i + 1)
	}
	return log
}

// recorded returns the record of a request, as an honest ledger would have it.
func (w *world) recorded(t must.TB, seq int, raw []byte) ledgers.Record {
	t.Helper()
	e := must.Get(entry.Parse(w.genesis.ID(), 32, raw))(t).Entry
	e.Time = blockTime
	return ledgers.Record{Seq: uint64(seq), Entry: e}
}

// life returns a log of four records: an issue of 100 to Alice, who pays 30 to Bob, an issue of 7 to her, and one of 1 to him.
func life(t *testing.T) (w *world, alice, bob *party) {
	t.Helper()
	return lifeUnder(t, func(*token.Policy) {})
}

// signedLife is a life whose heads two of three validators must sign. All of them do.
func signedLife(t *testing.T) (w *world, alice, bob *party) {
	t.Helper()
	return lifeUnder(t, validators(2, "v1", "v2", "v3"), "v1", "v2", "v3")
}

func lifeUnder(t *testing.T, edit func(*token.Policy), signers ...string) (w *world, alice, bob *party) {
	t.Helper()
	w = governed(t, edit)
	w.ledger.signers = signers
	alice, bob = w.funded(t, "alice", 100), w.party(t, w.key(t, "bob"))
	w.land(t, must.Get(alice.pay.Transfer(t.Context(), paying(bob.address(t), 30)))(t))
	w.fund(t, alice, 7)
	w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 1)))(t))
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	alice.has(t, 77, "before any lie")
	return w, alice, bob
}

// lies returns the ways in which a record can say something else than its request, or not follow the one before it. Each is about the record of
// index 1, and as it is told to a vault that has seen none, or all before it.
func lies() map[string]func(log []ledgers.Record) []ledgers.Record {
	of := func(edit func(r, other *ledgers.Record)) func([]ledgers.Record) []ledgers.Record {
		return func(log []ledgers.Record) []ledgers.Record {
			edit(&log[1], &log[2])
			return log
		}
	}
	return map[string]func(log []ledgers.Record) []ledgers.Record{
		"number of 2^62":           of(func(r, _ *ledgers.Record) { r.Seq = 1 << 62 }),
		"number before":            of(func(r, _ *ledgers.Record) { r.Seq = 1 }),
		"number 0":                 of(func(r, _ *ledgers.Record) { r.Seq = 0 }),
		"record left out":          func(log []ledgers.Record) []ledgers.Record { return slices.Delete(log, 1, 2) },
		"anchor":                   of(func(r, _ *ledgers.Record) { r.Anchor = []byte("other") }),
		"digest":                   of(func(r, _ *ledgers.Record) { r.Digest[0] ^= 1 }),
		"spending left out":        of(func(r, _ *ledgers.Record) { r.Spends = nil }),
		"spending of more":         of(func(r, other *ledgers.Record) { r.Spends = append(r.Spends, other.Creates[0].ID) }),
		"spending of another":      of(func(r, other *ledgers.Record) { r.Spends[0] = other.Creates[0].ID }),
		"creation left out":        of(func(r, _ *ledgers.Record) { r.Creates = r.Creates[:1] }),
		"creation of more":         of(func(r, other *ledgers.Record) { r.Creates = append(r.Creates, other.Creates...) }),
		"another token":            of(func(r, other *ledgers.Record) { r.Creates[0].Token = other.Creates[0].Token }),
		"another id":               of(func(r, other *ledgers.Record) { r.Creates[0].ID = other.Creates[0].ID }),
		"an update":                of(func(r, _ *ledgers.Record) { r.Update = true }),
		"policy":                   of(func(r, _ *ledgers.Record) { r.Policy = 1 }),
		"time before":              of(func(r, _ *ledgers.Record) { r.Time = r.Time.Add(-1) }),
		"nonsense":                 of(func(r, _ *ledgers.Record) { r.Request = []byte("nonsense") }),
		"another request":          of(func(r, other *ledgers.Record) { r.Request = other.Request }), // under the anchor and digest that was signed
		"request of before, again": func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[0], log[1], log[2], log[3]) },
	}
}

// TestLyingLog: a record that its request, or the record before it, contradicts is refused: by a wallet that has seen what came before and by one
// that is rebuilt, by an issuer, and by an auditor. Nothing of it is written, what came before is, and an honest ledger is followed after it. Heads
// change nothing about that, but a request that is repeated is then found by those whom it does not concern too.
func TestLyingLog(t *testing.T) {
	for heads, life := range map[string]func(*testing.T) (w *world, alice, bob *party){"no heads": life, "heads": signedLife} {
		t.Run(heads, func(t *testing.T) {
			t.Parallel()
			w, alice, bob := life(t)
			for name, lie := range lies() {
				t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
					w.tellLie(t, alice, bob, lie, name == "request of before, again" && heads == "no heads")
				})
			}
		})
	}
}

// tellLie tells a lie about the second record to everybody. If it is harmless, bob and the issuer may believe it.
func (w *world) tellLie(t *testing.T, alice, bob *party, lie func([]ledgers.Record) []ledgers.Record, harmless bool) {
	t.Helper()
	ctx := t.Context()
	none := func(r ledgers.Record) error { return fmt.Errorf("request %d is a stray", r.Seq) }
	lied := w.ledger.lying(lie)
	for _, seen := range []int{0, 1} {
		for _, p := range []*party{alice, bob} {
			p.lose(t, w)
			must.Do(t, p.Sync(ctx, copyOf{w.ledger, uint64(seen)}))
			if err := p.Sync(ctx, lied); !isCorrupt(err) && !(harmless && p == bob) {
				t.Errorf("%d seen: %v, want a corrupt ledger", seen, err)
			}
		}
		alice.has(t, 100, "of the record before")
		golden.Equal(t, "followed", 1, must.Get(alice.Followed())(t))
		must.Do(t, alice.Sync(ctx, w.ledger))
		alice.has(t, 77, "of the honest log")
	}
	must.Do(t, w.issued.FollowAnew(ctx))
	if err := w.issuer.Sync(ctx, lied); !isCorrupt(err) && !harmless {
		t.Errorf("issuer: %v, want a corrupt ledger", err)
	}
	if _, err := w.auditor.Reconcile(ctx, lied, none); !isCorrupt(err) {
		t.Errorf("auditor: %v, want a corrupt ledger", err)
	}
	must.Do(t, w.audited.FollowAnew(ctx))
	must.Get(w.auditor.Reconcile(ctx, copyOf{w.ledger, 1}, none))(t)
	if _, err := w.auditor.Reconcile(ctx, lied, none); !isCorrupt(err) {
		t.Errorf("auditor who has seen one: %v, want a corrupt ledger", err)
	}
	golden.Equal(t, "landed of the honest log", 3, must.Get(w.auditor.Reconcile(ctx, w.ledger, none))(t))
	must.Do(t, w.audited.FollowAnew(ctx))
}

// TestSpentTwice: a wallet's token that two requests spend is a log's that no honest ledger has.
func TestSpentTwice(t *testing.T) {
	w, alice, bob := life(t)
	ctx := t.Context()
	twin := w.party(t, w.key(t, "alice"))
	must.Do(t, twin.Sync(ctx, copyOf{w.ledger, 1}))
	double := must.Get(twin.pay.Transfer(ctx, paying(bob.address(t), 1)))(t)
	lied := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		return append(log, w.recorded(t, 5, must.Get(double.Request.Encode())(t)))
	})
	for range 2 {
		if err := alice.Sync(ctx, lied); !isCorrupt(err) {
			t.Errorf("%v, want a corrupt ledger", err)
		}
		alice.has(t, 77, "of what came before")
		alice.lose(t, w)
	}
}

// TestLyingLast: the record that a vault has seen last is read again, and must be as it was in all that a request does not say.
func TestLyingLast(t *testing.T) {
	w, alice, bob := life(t)
	ctx := t.Context()
	none := func(ledgers.Record) error { return nil }
	must.Get(w.auditor.Reconcile(ctx, w.ledger, none))(t)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(bob.address(t), 1)))(t))
	for name, edit := range map[string]func(r *ledgers.Record){
		"number": func(r *ledgers.Record) { r.Seq++ },
		"time":   func(r *ledgers.Record) { r.Time = r.Time.Add(-1) },
		"policy": func(r *ledgers.Record) { r.Policy++ },
		"request": func(r *ledgers.Record) { // signed otherwise, which its digest does not show
			signed := must.Get(request.Decode(bytes.Clone(r.Request)))(t)
			signed.Auditors[0][0] ^= 1
			r.Request = must.Get(signed.Encode())(t)
		},
	} {
		lied := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
			edit(&log[3])
			return log
		})
		if err := alice.Sync(ctx, lied); !isCorrupt(err) {
			t.Errorf("%s: %v, want another log", name, err)
		}
		if _, err := w.auditor.Reconcile(ctx, lied, none); !isCorrupt(err) {
			t.Errorf("%s: the auditor: %v, want another log", name, err)
		}
	}
	must.Do(t, alice.Sync(ctx, w.ledger))
}

// answering is a ledger with another answer about an anchor.
type answering struct {
	*memory
	answer ledgers.Record
}

func (a answering) Record(context.Context, []byte) (ledgers.Record, bool, error) {
	return a.answer, true, nil
}

// TestLyingAnswer: the answer that a submission has landed, or never will, changes nothing unless the log which the vault has followed says so.
func TestLyingAnswer(t *testing.T) {
	t.Parallel()
	w, alice, bob := life(t)
	ctx := t.Context()
	sub := must.Get(alice.pay.Transfer(ctx, anchored("a", paying(bob.address(t), 60))))(t)
	raw := must.Get(sub.Request.Encode())(t)
	other := must.Get(request.Decode(bytes.Clone(w.ledger.log[3].Request)))(t)
	other.Anchor = []byte("a")
	waits := func(why string) {
		t.Helper()
		wantKept(t, alice.Vault, 1, why)
		alice.has(t, 7, why)
	}
	for name, answer := range map[string]ledgers.Record{
		"another's record": w.ledger.sealed()[1],
		"landed":           w.recorded(t, 2, raw),
		"landed, number 0": w.recorded(t, 0, raw),
		"never":            w.recorded(t, 2, must.Get(other.Encode())(t)),
	} {
		if err := alice.Sync(ctx, answering{w.ledger, answer}); !isCorrupt(err) {
			t.Errorf("%s: %v, want a corrupt ledger", name, err)
		}
		waits(name)
		// A log that agrees with the answer is not the one that the vault has followed.
		agrees := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
			log[1] = answer
			return numbered(log...)
		})
		if err := alice.Sync(ctx, answering{agrees, answer}); !isCorrupt(err) {
			t.Errorf("%s, and a log that says so: %v, want a corrupt ledger", name, err)
		}
		waits(name)
	}
	must.Do(t, alice.Sync(ctx, answering{w.ledger, w.recorded(t, 5, raw)}), "a record that the log is to show")
	waits("what the log has not shown")
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 0, "it has landed")
	alice.has(t, 17, "after paying once")
}

// TestForgedSpending: a wallet that validates nothing can be told that its token is spent, by a payment that nobody has signed. From an honest ledger it
// has the token again, and keeps what it has submitted; one that validates is not told.
func TestForgedSpending(t *testing.T) {
	t.Parallel()
	w, alice, bob := life(t)
	ctx := t.Context()
	sub := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 7)))(t)
	r := must.Get(request.Decode(bytes.Clone(w.ledger.log[1].Request)))(t)
	a := must.Get(action.Parse(32, token.Transfer, r.Actions[0].Raw))(t)
	for _, h := range alice.unspent(t) {
		a.Inputs[0].ID = h
	}
	r.Anchor, r.Actions[0].Raw = []byte("forged"), must.Get(a.Encode(a.Proof()))(t)
	lied := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		return append(log, w.recorded(t, 5, must.Get(r.Encode())(t)))
	})
	checked := w.party(t, w.key(t, "alice"))
	w.check(t, checked.Vault)
	if err := checked.Sync(ctx, lied); !isCorrupt(err) {
		t.Errorf("%v, want a payment without signatures refused", err)
	}
	checked.has(t, 77, "of what is valid")
	must.Do(t, alice.Sync(ctx, lied))
	alice.has(t, 0, "of what a wallet is told that validates nothing")
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(bob.address(t), 1)))(t))
	if err := alice.Sync(ctx, w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want another log", err)
	}
	must.Do(t, alice.FollowAnew(ctx))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 70, "what the submission does not hold")
	wantKept(t, alice.Vault, 1, "the submission")
	w.land(t, sub)
	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 0, "it has landed")
	alice.has(t, 70, "after it has landed")
}

// unspent returns the ids of what a party can spend.
func (p *party) unspent(t must.TB) (ids []token.ID) {
	t.Helper()
	for h, err := range p.Unspent() {
		must.Do(t, err)
		ids = append(ids, h.ID)
	}
	return ids
}

// TestReleasedAnew: what was released before the log is followed anew is free after it, and what another submission holds is held.
func TestReleasedAnew(t *testing.T) {
	w, alice, bob := life(t)
	ctx := t.Context()
	lost := must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 77)))(t)
	must.Do(t, alice.Release(ctx, lost.Request.Anchor))
	must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 7)))(t)
	must.Do(t, alice.FollowAnew(ctx))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 70, "all but what the second holds")
	wantKept(t, alice.Vault, 2, "both")
}

// TestDeceivedAuditor: an auditor who has believed a log with a forged record in it, as one does who validates nothing, finds what has landed from an honest ledger.
func TestDeceivedAuditor(t *testing.T) {
	w, _, bob := life(t)
	ctx := t.Context()
	forged := w.recorded(t, 0, w.unsigned(t, "forged", bob.address(t), 1))
	lied := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record { return numbered(slices.Insert(log, 1, forged)...) })
	var strays []string
	stray := func(r ledgers.Record) error { strays = append(strays, string(r.Anchor)); return nil }
	golden.Equal(t, "landed, as told", 4, must.Get(w.auditor.Reconcile(ctx, lied, stray))(t))
	golden.Equal(t, "strays", []string{"forged"}, strays)
	must.Do(t, w.audited.FollowAnew(ctx))
	unlanded := 0
	for _, err := range w.auditor.Unlanded() {
		must.Do(t, err)
		unlanded++
	}
	golden.Equal(t, "unlanded, before the log is read anew", 4, unlanded)
	golden.Equal(t, "landed", 4, must.Get(w.auditor.Reconcile(ctx, w.ledger, stray))(t))
	golden.Equal(t, "strays of the honest log", []string{"forged"}, strays)
}

// turncoat is a ledger that gives another genesis every second time, and the digests of that ledger with its records.
type turncoat struct {
	*memory
	asked *int
	other ledgers.Genesis
}

func (l turncoat) Genesis() ledgers.Genesis {
	if *l.asked++; *l.asked%2 == 0 {
		return l.other
	}
	return l.genesis
}

// TestAnotherGenesis: what ledger its requests are of, a vault knows by itself. Told otherwise, it took its own payment for another one's, and gave it up.
func TestAnotherGenesis(t *testing.T) {
	w, alice, bob := life(t)
	ctx := t.Context()
	must.Get(alice.pay.Transfer(ctx, paying(bob.address(t), 60)))(t)
	for kept := range alice.Submissions() {
		w.land(t, &kept.Submission)
	}
	l := turncoat{w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		for i := range log {
			r := must.Get(request.Decode(log[i].Request))(t)
			log[i].Digest = r.Digest(ledgers.Genesis{}.ID())
		}
		return log
	}), new(int), ledgers.Genesis{}}
	if err := alice.Sync(ctx, l); !isCorrupt(err) {
		t.Errorf("%v, want a corrupt ledger", err)
	}
	wantKept(t, alice.Vault, 1, "what waits")
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "landed", 17, alice.balance(t))
	golden.Equal(t, "findings", 0, len(must.Get(alice.Compare(ctx, w.ledger))(t)))
}
