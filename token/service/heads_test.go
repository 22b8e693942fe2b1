package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/client"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// showing is a ledger that shows a head of its operator's choice.
type showing struct {
	service.Ledger
	signed []byte
}

func (s showing) Head(context.Context) ([]byte, error) { return s.signed, nil }

// ending is a ledger whose log ends after so many records, and that shows the head and tree of the whole log.
type ending struct {
	*memory
	records uint64
}

func (e ending) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return copyOf(e).Log(ctx, from)
}

// follower is a participant who follows a log.
type follower struct {
	name   string
	vault  func() *service.Vault // of now
	follow func(l service.Ledger) error
	lose   func() // what was learned from the log
}

// followers returns a wallet, an issuer and an auditor, who reach ledgers by via.
func (w *world) followers(t *testing.T, alice *party, via way) []follower {
	ctx := t.Context()
	none := func(ledgers.Record) error { return nil }
	anew := func(v *service.Vault) func() { return func() { must.Do(t, v.FollowAnew(ctx)) } }
	return []follower{
		{"wallet", func() *service.Vault { return alice.Vault }, func(l service.Ledger) error { return alice.Sync(ctx, via(w, t, l)) }, func() { alice.lose(t, w) }},
		{"issuer", func() *service.Vault { return w.issued }, func(l service.Ledger) error { return w.issuer.Sync(ctx, via(w, t, l)) }, anew(w.issued)},
		{"auditor", func() *service.Vault { return w.audited }, func(l service.Ledger) error {
			_, err := w.auditor.Reconcile(ctx, via(w, t, l), none)
			return err
		}, anew(w.audited)},
	}
}

// evidence returns the evidence of a vault.
func evidence(t must.TB, v *service.Vault) (all []service.Evidence) {
	t.Helper()
	for e, err := range v.Evidence() {
		must.Do(t, err)
		all = append(all, e)
	}
	return all
}

// bySigners returns the log that edit makes of a ledger's, with the head of that log: of validators who sign two histories.
func (m *memory) bySigners(edit func(log []ledgers.Record) []ledgers.Record) *memory {
	other := m.lying(edit)
	other.liesOf, other.signers, other.signed = nil, m.signers, m.signed
	return other
}

// signedAnew returns a record with another witness of its request, under the same digest.
func signedAnew(t must.TB, r ledgers.Record) ledgers.Record {
	t.Helper()
	signed := must.Get(request.Decode(bytes.Clone(r.Request)))(t)
	signed.Auditors[0][0] ^= 1
	r.Request = must.Get(signed.Encode())(t)
	return r
}

// TestLyingOperator: a log in which all follows from what it says, and which is not the one that validators have signed, is refused with the number of
// the first record that differs: by a wallet, an issuer and an auditor, new or after an honest past. The records before it count. The honest log is followed
// afterwards, and the record is evidence with the head that it contradicts.
func TestLyingOperator(t *testing.T) {
	t.Parallel()
	for how, via := range ways() {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testLyingOperator(t, via)
		})
	}
}

func testLyingOperator(t *testing.T, via way) {
	w, alice, _ := signedLife(t)
	w.update(t, limits(11)) // what comes before it is written first
	must.Get(w.auditor.Reconcile(t.Context(), w.ledger, nil))(t)
	w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(alice.address(t), 1)))(t))
	for name, lie := range map[string]struct {
		edit func(log []ledgers.Record) []ledgers.Record
		at   uint64 // the first record that differs
	}{
		"a hole":  {func(log []ledgers.Record) []ledgers.Record { return numbered(slices.Delete(log, 2, 3)...) }, 3},
		"changed": {func(log []ledgers.Record) []ledgers.Record { log[2] = signedAnew(t, log[2]); return log }, 3},
		"later":   {func(log []ledgers.Record) []ledgers.Record { log[5].Time = log[5].Time.Add(1); return log }, 6},
		"exchanged": {func(log []ledgers.Record) []ledgers.Record {
			return numbered(log[0], log[2], log[1], log[3], log[4], log[5])
		}, 2},
		"update moved": {func(log []ledgers.Record) []ledgers.Record { return numbered(log[0], log[4], log[2]) }, 2},
		"repeated":     {func(log []ledgers.Record) []ledgers.Record { return numbered(slices.Insert(log, 3, log[2])...) }, 4},
		"one more": {func(log []ledgers.Record) []ledgers.Record {
			return numbered(slices.Insert(log, 1, w.recorded(t, 0, w.unsigned(t, "forged", alice.address(t), 1)))...)
		}, 2},
		"ends early": {func(log []ledgers.Record) []ledgers.Record { return log[:3] }, 4},
	} {
		for _, f := range w.followers(t, alice, via) {
			t.Run(strings.ReplaceAll(name, " ", "-")+"/"+f.name, func(t *testing.T) {
				lied := w.ledger.lying(lie.edit)
				for _, past := range []uint64{0, 1, lie.at - 1, lie.at} {
					f.lose()
					must.Do(t, f.follow(copyOf{w.ledger, past}), "the honest past")
					before := len(evidence(t, f.vault()))
					err := f.follow(lied)
					lag := is[*client.LagError](err) // the server has told of a later record
					short := name == "ends early" && (past == lie.at || lag)
					if !isCorrupt(err) && !(short && errors.Is(err, ledgers.ErrRolledBack)) {
						t.Fatalf("after %d: %v, want a corrupt ledger", past, err)
					}
					place := fmt.Sprintf("request %d:", max(lie.at, past))
					switch {
					case lag:
						place = "tells 3 records"
					case short:
						place = "ends before that"
					case name == "ends early":
						place = "log: ends"
					}
					golden.Contains(t, err.Error(), place)
					if name != "ends early" && f.name == "wallet" {
						golden.Equal(t, "evidence", 1, len(evidence(t, f.vault()))-before)
						e := evidence(t, f.vault())[0]
						told := lied.sealed()[e.Number-1]
						golden.Contains(t, err.Error(), fmt.Sprintf("leaf %x", told.Leaf()))
						golden.Equal(t, "in a line", fmt.Sprintf("request %d contradicts the signed head of 7 leaves", e.Number), e.String())
						golden.Equal(t, "leaf", told.Leaf(), tlog.RecordHash(e.Leaf))
						golden.Equal(t, "kept", string(w.ledger.head(len(w.ledger.log))), string(e.Kept))
						golden.Contains(t, e.Text(), e.Reason, string(e.Kept), fmt.Sprintf("%x", e.Leaf))
						must.FailGet(0, f.follow(lied))(t, zkbench.ErrMalformed, "told again")
						golden.Equal(t, "evidence, told again", 1, len(evidence(t, f.vault()))-before)
					}
					if f.name == "wallet" {
						golden.Equal(t, "followed", max(lie.at-1, past), must.Get(f.vault().Followed())(t))
					}
					must.Do(t, f.follow(w.ledger), "the honest future")
				}
				if f.name == "wallet" {
					alice.has(t, 78, "of the honest log")
				}
			})
		}
	}
}

// TestLyingHead: a head that does not count, and heads that contradict the one kept, are refused with an error that names both. Nothing is counted, the honest log
// is followed afterwards, and two signed heads that contradict each other are evidence.
func TestLyingHead(t *testing.T) {
	t.Parallel()
	for how, via := range ways() {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			testLyingHead(t, via)
		})
	}
}

func testLyingHead(t *testing.T, via way) {
	w, alice, bob := signedLife(t)
	w.land(t, must.Get(w.issuer.Issue(t.Context(), paying(bob.address(t), 1)))(t))
	of := func(n int) head.Head {
		edge, _ := w.ledger.edge(n)
		return head.Head{Ledger: w.genesis.ID(), Size: edge.Last() + 1, Root: edge.Root()}
	}
	at := func(h head.Head, names ...string) service.Ledger {
		return showing{w.ledger, signedHead(h, blockTime, names...)}
	}
	elsewhere := of(5)
	elsewhere.Ledger[0] ^= 1
	changed := func(n int) func([]ledgers.Record) []ledgers.Record {
		return func(log []ledgers.Record) []ledgers.Record {
			log[1] = signedAnew(t, log[1])
			return log[:n]
		}
	}
	later := *w.ledger.bySigners(changed(3))
	later.signed = func() time.Time { return blockTime.Add(time.Minute) }
	all := []string{"v1", "v2", "v3"}
	const seen = 4
	for name, lie := range map[string]struct {
		l        service.Ledger
		want     error // of errors.Is
		as       func(err error) bool
		past     bool     // is a lie only to those who have seen a head
		says     []string // in the error's text
		evidence int      // for those who have seen a head
	}{
		"another ledger":     {l: at(elsewhere, all...), as: is[*head.LedgerError], says: []string{fmt.Sprintf("%x", elsewhere.Ledger), fmt.Sprintf("%x", w.genesis.ID())}},
		"too few signatures": {l: at(of(5), "v1"), as: is[*head.ThresholdError], says: []string{"1 validators", "2 of 3"}},
		"one, twice":         {l: at(of(5), "v1", "v1"), as: is[*head.ThresholdError]},
		"others' signatures": {l: at(of(5), "v1", "v4", "v5"), as: is[*head.ThresholdError]},
		"bad signature":      {l: showing{w.ledger, bytes.Replace(signedHead(of(5), blockTime, all...), []byte("\n6\n"), []byte("\n5\n"), 1)}, want: zkbench.ErrSignature},
		"nonsense":           {l: showing{w.ledger, []byte("nonsense")}, want: zkbench.ErrMalformed},
		"none":               {l: showing{w.ledger, nil}, want: head.ErrNoHead},
		"larger than the log": {
			l: at(head.Head{Ledger: w.genesis.ID(), Size: 9, Root: [32]byte{1}}, all...), as: is[*head.ExtendError], want: head.ErrInconsistent,
			says: []string{"told size 9"}, evidence: 1,
		},
		"rolled back":        {l: copyOf{w.ledger, 3}, past: true, as: is[*head.ExtendError], want: head.ErrShorter, says: []string{"kept size 5", "told size 4"}},
		"rolled back, later": {l: &later, past: true, as: is[*head.ExtendError], want: head.ErrShorter, says: []string{"kept size 5", "told size 4"}, evidence: 1},
		"forked":             {l: w.ledger.bySigners(changed(4)), past: true, as: is[*head.ExtendError], want: head.ErrForked, says: []string{"kept size 5", "told size 5"}, evidence: 1},
		"forked, longer":     {l: w.ledger.bySigners(changed(5)), past: true, as: is[*head.ExtendError], want: head.ErrInconsistent, says: []string{"kept size 5", "told size 6"}, evidence: 1},
	} {
		for _, f := range w.followers(t, alice, via) {
			t.Run(strings.ReplaceAll(name, " ", "-")+"/"+f.name, func(t *testing.T) {
				for _, past := range []uint64{0, seen} {
					if lie.past && past == 0 {
						continue
					}
					f.lose()
					must.Do(t, f.follow(copyOf{w.ledger, past}), "the honest past")
					before := len(evidence(t, f.vault()))
					err := f.follow(lie.l)
					if err == nil || lie.as != nil && !lie.as(err) || lie.want != nil && !errors.Is(err, lie.want) {
						t.Fatalf("after %d: %v", past, err)
					}
					if f.name == "wallet" {
						golden.Equal(t, "followed", past, must.Get(f.vault().Followed())(t))
						if past > 0 {
							golden.Contains(t, err.Error(), lie.says...)
							found := evidence(t, f.vault())
							golden.Equal(t, "evidence", lie.evidence, len(found)-before)
							for _, e := range found {
								golden.Equal(t, "kept", string(w.ledger.head(seen)), string(e.Kept))
								golden.Equal(t, "told", string(must.Get(lie.l.Head(t.Context()))(t)), string(e.Told))
								golden.Contains(t, e.Text(), e.Reason, string(e.Kept), string(e.Told))
							}
						}
					}
					must.Do(t, f.follow(w.ledger), "the honest future")
				}
				if f.name == "wallet" {
					alice.has(t, 77, "of the honest log")
				}
			})
		}
	}
}

// is reports whether an error is of a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// TestUpToHead: records after the newest head wait for the next one, and what was seen is not asked for again.
func TestUpToHead(t *testing.T) {
	w, alice, _ := signedLife(t)
	alice.lose(t, w)
	behind := showing{w.ledger, w.ledger.head(2)}
	for range 2 {
		must.Do(t, alice.Sync(t.Context(), behind))
		golden.Equal(t, "followed", 2, must.Get(alice.Followed())(t))
		alice.has(t, 70, "under the head")
	}
	must.Do(t, alice.Sync(t.Context(), w.ledger))
	alice.has(t, 77, "under the next head")
	alice.crash(t, w)
	must.Fail(t, alice.Sync(t.Context(), behind), head.ErrShorter, "the head is kept in the file")
	must.Fail(t, alice.Sync(t.Context(), showing{w.ledger, nil}), head.ErrNoHead, "no head any more")
	must.Fail(t, alice.Sync(t.Context(), ending{w.ledger, 3}), ledgers.ErrRolledBack, "a log that ends before what was seen")

	alice.lose(t, w)
	must.Fail(t, alice.Sync(t.Context(), cut{memory: w.ledger, after: 1}), zkbench.ErrEnv, "out of reach")
	golden.Equal(t, "followed, before it was out of reach", 1, must.Get(alice.Followed())(t))
	must.Fail(t, alice.Sync(t.Context(), behind), head.ErrShorter, "a head before the one under which a record was counted")
	must.Do(t, alice.Sync(t.Context(), w.ledger))

	alice.lose(t, w)
	wrong := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record { log[2].Digest[0] ^= 1; return log })
	must.Fail(t, alice.Sync(t.Context(), showing{wrong, w.ledger.head(2)}), zkbench.ErrMalformed, "a record that no head has")
	golden.Equal(t, "followed, before it", 2, must.Get(alice.Followed())(t))
	golden.Equal(t, "evidence of what nobody has signed", 0, len(evidence(t, alice.Vault)))

	empty := w.ledger.lying(func([]ledgers.Record) []ledgers.Record { return nil })
	new := w.party(t, w.key(t, "alice"))
	must.Do(t, new.Sync(t.Context(), showing{empty, nil}), "a ledger that has just been created")
	new.RequireHead(time.Hour)
	must.Fail(t, new.Sync(t.Context(), showing{empty, nil}), head.ErrNoHead, "by who asks for fresh heads")
	must.Do(t, new.Close())
}

// TestHeadAge: a vault that asks for fresh heads refuses older ones, and ledgers whose policy has none.
func TestHeadAge(t *testing.T) {
	w, alice, _ := signedLife(t)
	ctx := t.Context()
	old := time.Now().Add(-2 * time.Hour)
	w.ledger.signed = func() time.Time { return old }
	alice.RequireHead(time.Hour)
	err := alice.Sync(ctx, w.ledger)
	e, ok := errors.AsType[*head.AgeError](err)
	if !ok || e.Time.Unix() != old.Unix() || e.Max != time.Hour || e.Clock.Sub(old) < 2*time.Hour {
		t.Fatalf("%v, want an old head", err)
	}
	golden.Contains(t, err.Error(), old.UTC().Format(time.RFC3339), "1h0m0s")
	alice.RequireHead(3 * time.Hour)
	must.Do(t, alice.Sync(ctx, w.ledger))
	alice.RequireHead(time.Hour)
	w.ledger.signed = time.Now
	must.Do(t, alice.Sync(ctx, w.ledger), "signed anew at the same size")
	alice.RequireHead(0)
	w.ledger.signed = nil
	must.Do(t, alice.Sync(ctx, w.ledger))

	none := newWorld(t, nil)
	bob := none.party(t, none.key(t, "bob"))
	bob.RequireHead(time.Hour)
	must.Fail(t, bob.Sync(ctx, none.ledger), head.ErrNoValidators, "no heads at all")
	must.Do(t, bob.Close())
}

// TestHeadsOfUpdates: validators who come, are replaced, or go with updates of the policy. Each head is opened under the policy in force at its size, by one who follows
// all the time and by one who follows from the first record.
func TestHeadsOfUpdates(t *testing.T) {
	t.Parallel()
	w := governed(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 1)
	followed := func(want uint64, why string) {
		t.Helper()
		must.Do(t, alice.Sync(ctx, w.ledger), why)
		golden.Equal(t, "followed: "+why, want, must.Get(alice.Followed())(t))
		new := w.party(t, w.key(t, "alice"))
		must.Do(t, new.Sync(ctx, w.ledger), why)
		golden.Equal(t, "followed anew: "+why, want, must.Get(new.Followed())(t))
		must.Do(t, new.Close())
		if _, err := auditorOf(t, w, service.SignAll{}).Reconcile(ctx, w.ledger, func(ledgers.Record) error { return nil }); err != nil {
			t.Errorf("auditor: %s: %v", why, err)
		}
	}
	pay := func() {
		t.Helper()
		must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
		must.Do(t, w.issuer.Sync(ctx, w.ledger))
		w.land(t, must.Get(w.issuer.Issue(ctx, paying(alice.address(t), 1)))(t))
	}
	followed(1, "without validators")
	w.update(t, validators(1, "a"))
	followed(2, "before their first head")
	w.ledger.signers = []string{"a"}
	pay()
	followed(3, "the first validators")
	w.update(t, limits(11))
	pay()
	followed(5, "the same validators after an update")
	w.update(t, validators(2, "b", "c"))
	must.FailGet(0, alice.Sync(ctx, w.ledger))(t, zkbench.ErrSignature, "a head of those who were replaced")
	before := w.ledger.head(5)
	w.ledger.signers = []string{"b", "c"}
	eager := w.party(t, w.key(t, "alice"))
	if err := eager.Sync(ctx, early{showing{w.ledger, w.ledger.head(5)}}); !is[*head.ThresholdError](err) {
		t.Errorf("%v, want a head by validators who are not in force yet refused", err)
	}
	must.Do(t, eager.Close())
	pay()
	followed(7, "their successors")

	// The other reader of a vault is behind the policy that the vault has.
	both := must.Get(service.NewIssueService(w.params, "", smallTables, serial, w.audited, key(t, "issuer")))(t)
	must.Do(t, both.Sync(ctx, showing{copyOf{w.ledger, 5}, before}))
	golden.Equal(t, "followed by the other reader", 5, must.Get(w.audited.Followed())(t))

	// Who hides the update needs the validators of before to sign the head after it, and the log shows it.
	hidden := w.ledger.bySigners(func(log []ledgers.Record) []ledgers.Record { return log })
	hidden.signers = []string{"a"}
	for want, l := range map[uint64]*memory{
		5: hidden,
		4: hidden.lying(func(log []ledgers.Record) []ledgers.Record { log[4] = signedAnew(t, log[4]); return log }),
	} {
		new := w.party(t, w.key(t, "alice"))
		if err := new.Sync(ctx, hiding{l}); !isCorrupt(err) {
			t.Errorf("%v, want a corrupt ledger", err)
		}
		golden.Equal(t, "followed, before what was hidden", want, must.Get(new.Followed())(t))
		must.Do(t, new.Close())
	}

	w.update(t, validators(0))
	w.ledger.signers = nil
	pay()
	followed(9, "without validators again")
}

// early is a ledger that says of each update that it is the second record.
type early struct{ showing }

func (e early) Record(ctx context.Context, anchor []byte) (ledgers.Record, bool, error) {
	r, found, err := e.showing.Record(ctx, anchor)
	r.Seq = 2
	return r, found, err
}

// hiding is a ledger that does not have the third update, if it is asked.
type hiding struct{ *memory }

func (h hiding) Record(ctx context.Context, anchor []byte) (ledgers.Record, bool, error) {
	r, found, err := h.memory.Record(ctx, anchor)
	return r, found && !(r.Update && r.Policy >= 2), err
}

// TestEvidenceIsBounded: a ledger that lies often does not fill the vault, and records that it invents take no places of
// signed heads.
func TestEvidenceIsBounded(t *testing.T) {
	w, alice, bob := signedLife(t)
	invented := w.ledger.lying(func(log []ledgers.Record) []ledgers.Record {
		log[1].Time = log[1].Time.Add(1)
		return log
	})
	if err := bob.Sync(t.Context(), invented); !isCorrupt(err) {
		t.Errorf("%v, want another log", err)
	}
	for i := range service.MaxEvidence + 1 {
		lied := showing{w.ledger, signedHead(head.Head{Ledger: w.genesis.ID(), Size: 100, Root: [32]byte{byte(i)}}, blockTime, "v1", "v2")}
		must.Fail(t, bob.Sync(t.Context(), lied), head.ErrInconsistent, "lie %d to Bob", i)
	}
	heads := 0
	for _, e := range evidence(t, bob.Vault) {
		if e.Number == 0 {
			heads++
		}
	}
	golden.Equal(t, "evidence of heads", service.MaxEvidence, heads)
	if len(evidence(t, bob.Vault)) == heads {
		t.Error("no evidence of records")
	}
	for i := range service.MaxEvidence + 2 {
		lied := showing{w.ledger, signedHead(head.Head{Ledger: w.genesis.ID(), Size: 100, Root: [32]byte{byte(i)}}, blockTime, "v1", "v2")}
		must.Fail(t, alice.Sync(t.Context(), lied), head.ErrInconsistent, "lie %d", i)
	}
	golden.Equal(t, "evidence", service.MaxEvidence, len(evidence(t, alice.Vault)))
	must.Do(t, alice.FollowAnew(t.Context()))
	golden.Equal(t, "evidence, of who begins anew", service.MaxEvidence, len(evidence(t, alice.Vault)))
}

// TestValidatorsNamedAgain: if a policy names validators after one that had none, a reader who is past their last head
// waits for a new one.
func TestValidatorsNamedAgain(t *testing.T) {
	for name, again := range map[string]string{"the same": "a", "another": "b"} {
		t.Run(name, func(t *testing.T) {
			w := governed(t, nil)
			alice := w.funded(t, "alice", 1)
			w.update(t, validators(1, "a"))
			w.ledger.signers = []string{"a"}
			must.Do(t, alice.Sync(t.Context(), w.ledger))
			old := w.ledger.head(2) // which stores keep
			w.ledger.signers = nil
			w.update(t, validators(0))
			must.Do(t, alice.Sync(t.Context(), showing{w.ledger, old}))
			w.update(t, validators(1, again))
			must.Do(t, alice.Sync(t.Context(), showing{w.ledger, old}))
			w.update(t, validators(1, again, "c"))
			at := must.Get(alice.Followed())(t)
			must.Fail(t, alice.Sync(t.Context(), showing{w.ledger, old}), head.ErrNoHead, "a head of earlier validators")
			golden.Equal(t, "records without a head", at, must.Get(alice.Followed())(t))
			w.ledger.signers = []string{again}
			must.Do(t, alice.Sync(t.Context(), w.ledger))
			golden.Equal(t, "records under a new head", at+1, must.Get(alice.Followed())(t))
		})
	}
}
