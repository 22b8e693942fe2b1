package validator_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/validator"
)

// TestSubmitBehindTime: a validator whose clock is behind the ledger's time judges requests at that time, and lands them at it.
func TestSubmitBehindTime(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100, 50)
	made := g.land(raw, openings...).Creates
	alice, bob, preimage := g.owners[0], g.owners[1], []byte("a secret")
	deadline := g.at.Add(validator.Ahead)
	lock := must.Get(script.NewHashLock(must.Get(script.Image(preimage))(t), uint64(deadline.Unix()), alice.Identity(), bob.Identity()))(t)
	for i, c := range made {
		a, opened := g.moved(fmt.Sprint("lock ", i), 0, "", []token.ID{c.ID}, output(lock.Owner(), []uint64{100, 50}[i]))
		made[i] = g.land(g.sign(&request.Request{Anchor: fmt.Append(nil, "lock ", i), Actions: []request.Action{a}}, []identity.Signer{g.owners[i]}), opened...).Creates[0]
	}
	unlock := func(anchor string, u script.Unlock, c ledgers.Created, value uint64, by identity.Signer) []byte {
		a, _ := g.moved(anchor, 0, "", []token.ID{c.ID}, output(by.Identity(), value))
		a.Spends[0].Unlock, a.Spends[0].Preimage = must.Get(u.Encode())(t), u.Preimage
		return g.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, []identity.Signer{by})
	}
	claim := unlock("claim", script.Unlock{Kind: script.Claim, Preimage: preimage}, made[0], 100, bob)
	reclaim := unlock("reclaim", script.Unlock{Kind: script.Reclaim}, made[1], 50, alice)
	plain, _ := g.issue("plain", 7)
	ahead, _ := g.issue("ahead", 7)
	must.Do(t, g.submit(g.another(), deadline, ahead)[0].Err)

	results := g.submit(g.v, g.at, claim, reclaim, plain, ahead)
	want(t, "a claim before the deadline, landed behind it", results[0].Err, validator.Scripts, 0, 0, zkbench.ErrPolicy)
	must.Do(t, errors.Join(results[1].Err, results[2].Err, results[3].Err))
	golden.Equal(t, "time of what landed", deadline.UTC(), results[2].Record.Time)
	golden.Equal(t, "of what was there", deadline.UTC(), results[3].Record.Time)
	ledgertest.Verify(t, g.l)
}

// TestSubmitBehindUpdate: a validator that lags behind the policy and the time follows both.
func TestSubmitBehindUpdate(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	update := g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben")
	must.Do(t, g.submit(g.another(), g.at.Add(validator.Ahead), update)[0].Err)
	g.ahead = 1
	raw, _ := g.issue("a", 1)
	r := g.landed(g.v, raw)
	must.Do(t, r.Err)
	golden.Equal(t, "policy", 1, r.Record.Policy)
	golden.Equal(t, "time", g.at.Add(validator.Ahead).UTC(), r.Record.Time)
}

// runaway is a ledger whose time is always ahead of every entry.
type runaway struct {
	*bolt.Ledger
	ahead time.Duration
	calls int
}

func (r *runaway) ApplyEach(_ context.Context, batch []ledgers.Entry) ([]error, error) {
	r.calls++
	rejected := make([]error, len(batch))
	for i, e := range batch {
		late := &ledgers.TimeError{Time: e.Time, Last: e.Time.Add(r.ahead)}
		rejected[i] = &zkbench.CheckError{Check: "time", Action: i, Index: -1, Err: late}
	}
	return rejected, nil
}

// TestSubmitEnds: where others are always ahead, or a ledger says of no later time that it is, a request is rejected.
func TestSubmitEnds(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue("a", 1)
	for ahead, calls := range map[time.Duration]int{1: validator.MaxLate + 1, 0: 1, -1: 1} {
		l := &runaway{Ledger: g.l, ahead: ahead}
		s := must.Get(validator.NewSubmitter(g.v, l, func() time.Time { return g.at }))(t)
		results := must.Get(s.Submit(t.Context(), [][]byte{raw}))(t)
		want(t, "a ledger that runs away", results[0].Err, "time", -1, -1, zkbench.ErrPolicy)
		golden.Equal(t, "calls", calls, l.calls)
	}
}

// TestRaceOfClocks: validators with different clocks land requests at once; the log's times rise.
func TestRaceOfClocks(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	const issues = 8
	var wg sync.WaitGroup
	for i, v := range []*validator.Validator{g.v, g.another()} {
		raws := make([][]byte, issues)
		for k := range raws {
			raws[k], _ = g.issue(fmt.Sprint("issue ", i, k), 1)
		}
		wg.Go(func() {
			for k, raw := range raws {
				if r := g.submit(v, g.at.Add(time.Duration(i*5+k)*time.Second), raw); r[0].Err != nil {
					t.Error(r[0].Err)
				}
			}
		})
	}
	wg.Wait()
	golden.Equal(t, "landed", 2*issues, len(ledgertest.Records(t, g.l, 1)))
	ledgertest.Verify(t, g.l)
}

// pays returns a signed transfer of a token from the first owner to the second.
func (g *governed) pays(anchor string, id token.ID, value uint64) []byte {
	g.Helper()
	a, _ := g.moved(anchor, 0, "", []token.ID{id}, output(g.owners[1].Identity(), value))
	return g.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, g.owners[:1])
}

// TestSubmitter holds the submitter to the contract.
func TestSubmitter(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("money", 100)
	id := g.land(raw, openings...).Creates[0].ID
	var q ledgertest.Requests
	for i := range 3 {
		raw, _ := g.issue(fmt.Sprint("good ", i), uint64(i+1))
		q.Good = append(q.Good, raw)
	}
	q.Other, _ = g.issue("good 0", 77)
	q.Rivals = [2][]byte{g.pays("one", id, 100), g.pays("two", id, 100)}
	ledgertest.Submitter(t, must.Get(validator.NewSubmitter(g.v, g.l, func() time.Time { return g.at }))(t), g.l, q)
	ledgertest.Verify(t, g.l)
}

// TestSubmitTraced checks the spans of a submission that is decided on: validating and writing, below the caller's.
func TestSubmitTraced(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue("money", 100)
	recorder := tracetest.NewSpanRecorder()
	ctx, span := trace.NewTracerProvider(trace.WithSpanProcessor(recorder)).Tracer("test").Start(t.Context(), "batch")
	s := must.Get(validator.NewSubmitter(g.v, g.l, func() time.Time { return g.at }))(t)
	must.Get(s.Submit(ctx, [][]byte{raw, []byte("no request")}))(t)
	spans := recorder.Ended()
	golden.Equal(t, "spans", 2, len(spans))
	for i, want := range []struct {
		name     string
		requests int
	}{{"validate", 2}, {"write", 1}} {
		golden.Equal(t, "name", want.name, spans[i].Name())
		golden.Equal(t, "parent", true, spans[i].Parent().Equal(span.SpanContext()))
		golden.Equal(t, "attributes", true, slices.Equal(spans[i].Attributes(), []attribute.KeyValue{attribute.Int("zkbench.requests", want.requests)}))
	}
}

// TestNewSubmitter: a validator lands nothing on another ledger than its own.
func TestNewSubmitter(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	l := must.Get(bolt.Create(filepath.Join(t.TempDir(), replay.FileName), ledgers.Genesis{Params: g.l.Genesis().Params}))(t)
	defer l.Close()
	must.FailGet(validator.NewSubmitter(g.v, l, nil))(t, zkbench.ErrParams, "another ledger")
	s := must.Get(validator.NewSubmitter(g.v, g.l, nil))(t)
	raw, _ := g.issue("a", 1)
	before := time.Now()
	at := must.Get(s.Submit(t.Context(), [][]byte{raw}))(t)[0].Record.Time
	if at.Before(before.Truncate(0)) || at.After(time.Now()) {
		t.Errorf("a clock of nil gives %v", at)
	}
}

// TestSubmitAgain: a request that is on the ledger gets its record, whatever has become of what it needed: its tokens are spent,
// another policy holds, and nothing of it is verified, signatures neither.
func TestSubmitAgain(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("a", 100)
	issued := g.land(raw, openings...)
	pays := g.pays("pay", issued.Creates[0].ID, 100)
	paid := g.landed(g.v, pays)
	must.Do(t, paid.Err)
	update := g.update(g.v.Policy(), newIssuer(signerNamed(t, "another issuer")), "anna", "carl")
	updated := g.land(update)

	unsigned := must.Get(request.Decode(pays))(t)
	unsigned.Auditors[0] = make([]byte, len(unsigned.Auditors[0]))
	again := g.submit(g.another(), g.at.Add(time.Hour), raw, pays, update, must.Get(unsigned.Encode())(t))
	for i, want := range []*ledgers.Record{issued, paid.Record, updated, paid.Record} {
		if v := again[i]; v.Err != nil || !ledgertest.SameRecord(*want, *v.Record) {
			t.Errorf("request %d: %v", i, v.Err)
		}
	}
	golden.Equal(t, "entries", 3, len(ledgertest.Records(t, g.l, 1)))

	// Under its anchor another one is refused, before anything of it is verified.
	other := must.Get(request.Decode(g.pays("pay", issued.Creates[0].ID, 100)))(t)
	other.Auditors[0] = unsigned.Auditors[0]
	want(t, "another under its anchor", g.landed(g.v, must.Get(other.Encode())(t)).Err, "anchor", -1, -1, zkbench.ErrAnchorConflict)
	competing := g.update(&g.params.Policy, newIssuer(signerNamed(t, "thief")), "anna")
	want(t, "another update", g.landed(g.v, competing).Err, "anchor", -1, -1, zkbench.ErrAnchorConflict)
}

// hooked is a store that runs a function before its calls.
type hooked struct {
	ledgers.Store
	decide, state, record func() error // nil: nothing
}

func before[T any](hook func() error, call func() (T, error)) (none T, err error) {
	if hook != nil {
		if err := hook(); err != nil {
			return none, err
		}
	}
	return call()
}

func (h *hooked) Decide(ctx context.Context, batch []ledgers.Entry) (ledgers.Decision, error) {
	return before(h.decide, func() (ledgers.Decision, error) { return h.Store.Decide(ctx, batch) })
}

func (h *hooked) State(ctx context.Context) (ledgers.State, error) {
	return before(h.state, func() (ledgers.State, error) { return h.Store.State(ctx) })
}

func (h *hooked) Record(ctx context.Context, anchor []byte) (r ledgers.Record, found bool, err error) {
	r, err = before(h.record, func() (ledgers.Record, error) {
		r, found, err = h.Store.Record(ctx, anchor)
		return r, err
	})
	return r, found, err
}

// TestSubmitRaces: another validator lands a request after it was looked for, and before it is validated: it gets the other's record,
// whether it is refused here because its token is spent or lands as well. If the store cannot be asked, no refusal is told.
func TestSubmitRaces(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, openings := g.issue("money", 100, 50)
	made := g.land(raw, openings...).Creates
	other, late := g.another(), g.at.Add(5*time.Second)
	away := errors.New("the ledger is away")
	race := func(h *hooked, raw []byte) ledgers.Verdict {
		h.Store = g.l
		h.state = func() error {
			must.Do(t, g.submit(other, late, raw)[0].Err)
			return nil
		}
		s := must.Get(validator.NewSubmitter(g.v, h, func() time.Time { return g.at }))(t)
		return must.Get(s.Submit(t.Context(), [][]byte{raw}))(t)[0]
	}
	issue, _ := g.issue("issue", 7)
	for name, raw := range map[string][]byte{"a transfer": g.pays("pay", made[0].ID, 100), "an issue": issue} {
		v := race(&hooked{}, raw)
		must.Do(t, v.Err, name)
		golden.Equal(t, name, late.UTC(), v.Record.Time)
	}
	asked := 0
	decide := func() error {
		if asked++; asked == 2 {
			return away
		}
		return nil
	}
	g.owners[0], g.owners[1] = g.owners[1], g.owners[0] // whose the other token is
	pay := g.pays("pay again", made[1].ID, 50)
	v := race(&hooked{decide: decide}, pay)
	if _, refused := errors.AsType[*zkbench.CheckError](v.Err); refused || !errors.Is(v.Err, away) || v.Record != nil {
		t.Errorf("refused, and not known whether it has landed: %v", v.Err)
	}
	unread, _ := g.issue("unread", 7)
	h := &hooked{Store: g.l, record: func() error { return away }}
	s := must.Get(validator.NewSubmitter(g.v, h, func() time.Time { return late }))(t)
	v = must.Get(s.Submit(t.Context(), [][]byte{unread}))(t)[0]
	if !errors.Is(v.Err, away) || !errors.Is(v.Err, zkbench.ErrOutcomeUnknown) || v.Record != nil {
		t.Errorf("landed, and the record cannot be read: %v", v.Err)
	}
	h.record = nil
	must.Do(t, must.Get(s.Submit(t.Context(), [][]byte{unread}))(t)[0].Err)
	h.record = func() error { return away }
	if v = must.Get(s.Submit(t.Context(), [][]byte{pay}))(t)[0]; !errors.Is(v.Err, away) {
		t.Errorf("there, and the record cannot be read: %v", v.Err)
	}
	for name, h := range map[string]*hooked{"decide": {Store: g.l, decide: h.record}, "state": {Store: g.l, state: h.record}} {
		s := must.Get(validator.NewSubmitter(g.v, h, nil))(t)
		fresh, _ := g.issue("fresh", 7)
		must.FailGet(s.Submit(t.Context(), [][]byte{fresh}))(t, away, "%s", name)
	}
	golden.Equal(t, "entries", 5, len(ledgertest.Records(t, g.l, 1)))
	ledgertest.Verify(t, g.l)
}

// TestSubmitAhead: on a ledger whose last entry is further ahead of the clock than allowed, as a malicious validator may write it,
// nothing lands; what is there is answered all the same. At the limit requests land.
func TestSubmitAhead(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	raw, _ := g.issue("a", 1)
	must.Do(t, g.landed(g.v, raw).Err)
	fresh, _ := g.issue("fresh", 1)
	update := g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben")
	at := g.at.UTC()
	refused := func(clock time.Time, last time.Time) {
		t.Helper()
		n, state := len(ledgertest.Records(t, g.l, 1)), ledgertest.State(t, g.l)
		verdicts := g.submit(g.v, clock, fresh, raw, update)
		for _, i := range []int{0, 2} {
			ahead, ok := errors.AsType[*ledgers.AheadError](verdicts[i].Err)
			if !ok || !errors.Is(verdicts[i].Err, zkbench.ErrEnv) || !ahead.Time.Equal(last) || !ahead.Clock.Equal(clock) || ahead.Max != validator.Ahead {
				t.Errorf("request %d: %v", i, verdicts[i].Err)
			}
		}
		must.Do(t, verdicts[1].Err)
		golden.Equal(t, "entries", n, len(ledgertest.Records(t, g.l, 1)))
		golden.Equal(t, "state", state, ledgertest.State(t, g.l))
		golden.Equal(t, "policy", 0, g.v.Policy().Version)
	}
	refused(at.Add(-validator.Ahead-1), at)
	other, _ := g.issue("other", 1)
	v := g.submit(g.v, at.Add(-validator.Ahead), other)[0]
	must.Do(t, v.Err)
	golden.Equal(t, "time at the limit", at, v.Record.Time)

	malicious := time.Date(9998, 1, 1, 0, 0, 0, 0, time.UTC)
	must.Do(t, g.l.Apply(t.Context(), []ledgers.Entry{{Anchor: []byte("malicious"), Digest: [32]byte{1}, Time: malicious, PolicyDigest: ledgertest.State(t, g.l).PolicyDigest}}))
	refused(at, malicious)

	// What becomes known of it while a request lands counts too.
	g = newGoverned(t)
	raw, _ = g.issue("a", 1)
	l := &runaway{Ledger: g.l, ahead: validator.Ahead + 1}
	s := must.Get(validator.NewSubmitter(g.v, l, func() time.Time { return g.at }))(t)
	if err := must.Get(s.Submit(t.Context(), [][]byte{raw}))(t)[0].Err; !errors.As(err, new(*ledgers.AheadError)) {
		t.Errorf("a ledger that runs far ahead: %v", err)
	}
	golden.Equal(t, "calls", 1, l.calls)
}
