package service_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
)

// anchored gives an order its anchor.
func anchored(anchor string, o service.Order) service.Order {
	o.Anchor = []byte(anchor)
	return o
}

// kept returns the submissions of a vault, by anchor.
func kept(t must.TB, v *service.Vault) map[string]service.PendingSubmission {
	t.Helper()
	all := map[string]service.PendingSubmission{}
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

// TestCrash: after a crash before anything is settled, the reservation and the submission are there.
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
	golden.Equal(t, "request", must.Get(sub.Request.Encode())(t), must.Get(again.Request.Encode())(t))
	w.land(t, &again.Submission)
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Do(t, bob.Sync(ctx, w.ledger))
	alice.has(t, 70, "after paying")
	bob.has(t, 30, "after being paid")
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
	wantKept(t, alice.Vault, 0, "one has landed, the other can never")
	must.Fail(t, alice.Release(ctx, late.Request.Anchor), zkbench.ErrParams, "released what has landed")
}

// TestLandsWhileAsked: a request that lands between what is read of the log and the question for its anchor is landed, once.
func TestLandsWhileAsked(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 100)
	sub := must.Get(alice.pay.Transfer(t.Context(), anchored("a", paying(alice.address(t), 30))))(t)
	must.Do(t, alice.Sync(t.Context(), &before{memory: w.ledger, do: func() { w.land(t, sub) }}))
	wantKept(t, alice.Vault, 1, "the log is still to say it")
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	wantKept(t, alice.Vault, 0, "it has landed")
	alice.has(t, 100, "what was paid to oneself, and the change")
}

// before is a ledger where something happens before the first question for an anchor is answered.
type before struct {
	*memory
	do func()
}

func (b *before) Record(ctx context.Context, anchor []byte) (ledgers.Record, bool, error) {
	if b.do != nil && !policy.Reserved(anchor) {
		b.do()
		b.do = nil
	}
	return b.memory.Record(ctx, anchor)
}

// cut is a ledger whose log breaks off after so many records, the one that is read again among them, by the end of a context or without a reason of the caller's.
type cut struct {
	*memory
	after  int
	cancel context.CancelFunc
}

func (c cut) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		n := 0
		for r, err := range c.memory.Log(ctx, from) {
			if n++; n > c.after {
				if c.cancel == nil {
					yield(ledgers.Record{}, zkbench.ErrEnv)
					return
				}
				c.cancel()
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// TestSyncInPieces: what a Sync has read when the ledger is out of reach, or its context ends, is kept, and the next one goes on behind it.
func TestSyncInPieces(t *testing.T) {
	w := newWorld(t, nil)
	bob := w.party(t, w.key(t, "bob"))
	for range 6 {
		w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 1)))(t))
	}
	for i := range 2 {
		must.Fail(t, bob.Sync(t.Context(), cut{memory: w.ledger, after: 2 + min(i, 1)}), zkbench.ErrEnv, "out of reach")
		bob.has(t, uint64(2*i+2), "what was read before")
		golden.Equal(t, "followed", uint64(2*i+2), must.Get(bob.Followed())(t))
	}
	ctx, cancel := context.WithCancel(t.Context())
	must.Fail(t, bob.Sync(ctx, cut{memory: w.ledger, after: 1, cancel: cancel}), context.Canceled, "cancelled")
	bob.has(t, 5, "one record more was read")
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	bob.has(t, 6, "all")
}

// TestTakenAnchor: somebody else's request has the anchor, so ours can never land.
func TestTakenAnchor(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	w.land(t, must.Get(w.issuer.Issue(ctx, anchored("a", paying(w.party(t, w.key(t, "bob")).address(t), 1))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Get(alice.pay.Transfer(ctx, anchored("a", paying(alice.address(t), 30))))(t) // under the anchor of a record that the vault has seen
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 100, "the input of what can never land")
	wantKept(t, alice.Vault, 0, "it can never land")

	// And of one that it has not.
	sub := must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 30)))(t)
	must.Do(t, alice.Sync(ctx, w.ledger))
	wantKept(t, alice.Vault, 1, "it may land")
	asked := w.ledger.asked
	must.Do(t, alice.Sync(ctx, w.ledger))
	golden.Equal(t, "asked for an anchor again", asked, w.ledger.asked)
	other := must.Get(w.issuer.Issue(ctx, anchored(string(sub.Request.Anchor), paying(alice.address(t), 5))))(t)
	w.land(t, other)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 105, "the input of what can never land, and the other's output")
	wantKept(t, alice.Vault, 0, "it can never land")
}

// copyOf is a ledger as it was after so many records.
type copyOf struct {
	*memory
	records uint64
}

func (c copyOf) Record(ctx context.Context, anchor []byte) (ledgers.Record, bool, error) {
	r, found, err := c.memory.Record(ctx, anchor)
	return r, found && r.Seq <= c.records, err
}

func (c copyOf) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		for r, err := range c.memory.Log(ctx, from) {
			if r.Seq > c.records || !yield(r, err) {
				return
			}
		}
	}
}

func (c copyOf) Head(context.Context) ([]byte, error) { return c.head(int(c.records)), nil }

// TestLaggingLedger: a ledger that has less than the vault has seen is refused. It is not asked for anchors, and no submission waits for
// ever because of it.
func TestLaggingLedger(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	w.land(t, must.Get(w.issuer.Issue(ctx, anchored("taken", paying(alice.address(t), 5))))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Get(alice.pay.Transfer(ctx, anchored("taken", paying(alice.address(t), 30))))(t)
	must.Fail(t, alice.Sync(ctx, copyOf{w.ledger, 1}), ledgers.ErrRolledBack, "a copy that lacks what the vault has seen")
	wantKept(t, alice.Vault, 1, "the copy does not know")
	must.Do(t, alice.Sync(ctx, copyOf{w.ledger, 2}))
	wantKept(t, alice.Vault, 0, "it can never land")
	alice.has(t, 105, "what it held, and what landed")
}

// TestReleasedIsAnothers: a submission that was released and can never land takes nothing from the one that has its tokens meanwhile.
func TestReleasedIsAnothers(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 10, 20)
	beside := w.party(t, w.key(t, "alice"))
	must.Do(t, beside.Sync(ctx, w.ledger))
	to := w.party(t, w.key(t, "bob")).address(t)
	both := must.Get(alice.pay.Transfer(ctx, paying(to, 30)))(t)
	must.Do(t, alice.Release(ctx, both.Request.Anchor))
	small := must.Get(alice.pay.Transfer(ctx, paying(to, 10)))(t)
	w.land(t, must.Get(beside.pay.Transfer(ctx, paying(to, 20)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 0, "one is spent, the other held")
	wantKept(t, alice.Vault, 1, "the second may land")
	must.Do(t, alice.Discard(ctx, small.Request.Anchor))
	alice.has(t, 10, "it was held by the second")
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

// TestRestored: a copy of a vault learns what came after it was made, and so does an empty one with the keys alone.
func TestRestored(t *testing.T) {
	for name, keys := range map[string]func(*world) *service.Keys{
		"key":       func(w *world) *service.Keys { return w.key(t, "alice") },
		"pseudonym": func(w *world) *service.Keys { return w.pseudonyms(t, "Alice") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			ctx := t.Context()
			alice := w.party(t, keys(w))
			w.fund(t, alice, 100, 50)
			copied := alice.copied(t, w)
			w.land(t, must.Get(alice.pay.Transfer(ctx, paying(w.party(t, w.key(t, "bob")).address(t), 90)))(t))
			w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 7)))(t))

			copied.open(t, w)
			copied.has(t, 150, "before it asks")
			alice.lose(t, w)
			alice.has(t, 0, "before it asks")
			for _, p := range []*party{copied, alice} {
				must.Do(t, p.Sync(ctx, w.ledger))
				p.has(t, 67, "the change, what was left, and what came")
			}
			// And it is money.
			w.land(t, must.Get(alice.pay.Transfer(ctx, paying(alice.address(t), 67)))(t))
		})
	}
}

// TestFork: a ledger that was put back to an older state, and went on otherwise, is found out by who has seen more of it; a new vault
// follows it.
func TestFork(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 10)
	none := func(ledgers.Record) error { return nil }
	older := len(w.ledger.log)
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(w.party(t, w.key(t, "bob")).address(t), 1)))(t))
	must.Do(t, alice.Sync(ctx, w.ledger))
	must.Get(w.auditor.Reconcile(ctx, w.ledger, none))(t)
	w.ledger.log = w.ledger.log[:older]
	err := alice.Sync(ctx, w.ledger)
	if back, ok := errors.AsType[*ledgers.RolledBackError](err); !ok || !errors.Is(err, zkbench.ErrEnv) || back.Seen.N != int64(older)+2 {
		t.Errorf("%v, want a log that is shorter than %d requests", err, older+1)
	}
	_, err = w.auditor.Reconcile(ctx, w.ledger, none)
	must.Fail(t, err, ledgers.ErrRolledBack, "the auditor")
	alice.has(t, 10, "what it had")
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 7)))(t))
	if err := alice.Sync(ctx, w.ledger); !isCorrupt(err) {
		t.Errorf("%v, want another log", err)
	}
	if _, err := w.auditor.Reconcile(ctx, w.ledger, none); !isCorrupt(err) {
		t.Errorf("the auditor: %v, want another log", err)
	}
	alice.has(t, 10, "what it had")
	alice.lose(t, w)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.has(t, 17, "in a new vault")
}

// TestMarked: a wallet's vault is synchronized by the wallet, and is for its keys alone.
func TestMarked(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 100)
	shared := must.Get(service.NewIssueService(w.params, "", smallTables, executor.Serial(), alice.Vault, key(t, "issuer")))(t)
	must.Fail(t, shared.Sync(t.Context(), w.ledger), zkbench.ErrParams, "a wallet's vault, followed for nobody")
	must.FailGet(service.NewWallet(w.params, alice.Vault, w.key(t, "mallory")))(t, zkbench.ErrParams, "other keys")

	// A vault that has been followed for nobody becomes a wallet's from the beginning of the log.
	v := w.vault(t)
	defer v.Close()
	issuer := must.Get(service.NewIssueService(w.params, "", smallTables, executor.Serial(), v, key(t, "issuer")))(t)
	must.Do(t, issuer.Sync(t.Context(), w.ledger))
	again := must.Get(service.NewWallet(w.params, v, w.key(t, "alice")))(t)
	must.Do(t, again.Sync(t.Context(), w.ledger))
	golden.Equal(t, "balance", 100, must.Get(again.Holdings(usd))(t).Sum.Uint64())

	genesis := w.genesis
	genesis.Nonce[0]++
	elsewhere := must.Get(service.NewKey(genesis, key(t, "alice")))(t)
	must.FailGet(service.NewWallet(w.params, alice.Vault, elsewhere))(t, zkbench.ErrParams, "keys of another ledger")
	empty := w.vault(t)
	defer empty.Close()
	must.FailGet(service.NewWallet(w.params, empty, elsewhere))(t, zkbench.ErrParams, "keys of another ledger, for a vault that has none")
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
	alice.has(t, 100, "after it")
}

// TestIssueLife: an issue waits for the ledger as a transfer does.
func TestIssueLife(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	to := w.party(t, w.key(t, "bob")).address(t)
	sub := must.Get(w.issuer.Issue(ctx, paying(to, 100)))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 1, "one that may land")
	w.land(t, sub)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 0, "of one that has landed")
	must.Fail(t, w.issued.Discard(ctx, sub.Request.Anchor), zkbench.ErrParams, "discarded what has landed")
	// One whose anchor is another's can never land.
	alice := w.funded(t, "alice", 5)
	w.land(t, must.Get(alice.pay.Transfer(ctx, anchored("a", paying(to, 5))))(t))
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	must.Get(w.issuer.Issue(ctx, anchored("a", paying(to, 100))))(t)
	must.Do(t, w.issuer.Sync(ctx, w.ledger))
	wantKept(t, w.issued, 0, "of one that can never land")
}

// TestOneMoment: Unspent yields the tokens of one moment, whatever its caller does to the
// vault meanwhile.
func TestOneMoment(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) {
		p.Policy.Limits = token.Limits{Inputs: 4, Outputs: 64, Metadata: 10, Ahead: token.MaxAhead}
	})
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
		}
		must.Do(t, alice.Sync(t.Context(), w.ledger))
	}
	if got := alice.balance(t); sum != 3000 || got != 3000 {
		t.Errorf("tokens worth %d and a balance of %d, want 3000", sum, got)
	}
}
