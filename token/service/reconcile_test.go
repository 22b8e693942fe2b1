package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
)

// auditorOf returns the world's auditor with a policy, and a vault of its own.
func auditorOf(t *testing.T, w *world, rules service.Policy) *service.AuditorService {
	t.Helper()
	vault := w.vault(t)
	t.Cleanup(func() { must.Do(t, vault.Close()) })
	return must.Get(service.NewAuditorService(w.params, smallTables, executor.Serial(), vault, w.audits(t, rules)))(t)
}

// TestPolicy: what the policy refuses is not signed and not kept, and the policy sees who issues, what, and to whom: no
// request whose issuer has not signed.
func TestPolicy(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	asked, revoked := 0, errors.New("revoked")
	auditor := auditorOf(t, w, service.PolicyFunc(func(_ context.Context, r *audit.Report) error {
		asked++
		for _, a := range r.Actions {
			if a.Kind == token.Issue && (!bytes.Equal(a.Issuer, w.params.Policy.Issuers[0].Identity) || a.Type != usd) {
				return fmt.Errorf("%x may not issue %s", a.Issuer, a.Type)
			}
			for _, h := range a.Outputs {
				if slices.ContainsFunc(h.Owners, func(p audit.Party) bool { return p.Name == "Mallory" }) {
					return revoked
				}
			}
		}
		return nil
	}))
	alice, mallory := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.pseudonyms(t, "Mallory"))
	issue := func(o service.Order) *service.Submission { return must.Get(w.issuer.Issue(ctx, o))(t) }
	good := issue(paying(alice.address(t), 1))
	raw, info := encodings(t, good)
	_, report, err := auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	golden.Equal(t, "issuer", w.params.Policy.Issuers[0].Identity, []byte(report.Actions[0].Issuer))
	other := paying(alice.address(t), 1)
	other.Type = "EUR"
	for name, c := range map[string]struct {
		sub  *service.Submission
		want error
	}{"another type": {issue(other), zkbench.ErrPolicy}, "a payee who is revoked": {issue(paying(mallory.address(t), 1)), revoked}} {
		raw, info := encodings(t, c.sub)
		signature, _, err := auditor.Sign(ctx, raw, info)
		must.Fail(t, err, zkbench.ErrPolicy, "%s", name)
		must.Fail(t, err, c.want, "%s", name)
		kept, _, err := auditor.Signed(c.sub.Request.Anchor)
		if signature != nil || kept != nil || err != nil {
			t.Errorf("%s: signed, or kept: %v", name, err)
		}
	}
	before := asked
	for name, edit := range map[string]func(i *request.Issuer){
		"a signature that is none": func(i *request.Issuer) { i.Signature[0] ^= 1 },
		"an issuer who is none":    func(i *request.Issuer) { i.Identity = key(t, "nobody").Identity() },
	} {
		r := must.Get(request.Decode(bytes.Clone(raw)))(t)
		edit(r.Actions[0].Issuer)
		_, _, err := auditor.Sign(ctx, must.Get(r.Encode())(t), info)
		must.Fail(t, err, must.ErrAny, "%s", name)
	}
	golden.Equal(t, "requests of which the policy is asked", before, asked)
	must.FailGet(service.NewAuditorService(w.params, smallTables, executor.Serial(), w.audited, w.audits(t, nil)))(t, zkbench.ErrParams, "no policy")
}

// unlanded returns the anchors of what an auditor has signed and that may still be recorded.
func unlanded(t must.TB, s *service.AuditorService) (anchors []string) {
	t.Helper()
	t.Helper()
	for anchor, err := range s.Unlanded() {
		must.Do(t, err)
		anchors = append(anchors, string(anchor))
	}
	return anchors
}

// TestReconcile: what was signed and landed, and what was not, is known from the log, each record of it seen once.
func TestReconcile(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	var strays []string
	stray := func(r ledger.Record) error { strays = append(strays, string(r.Anchor)); return nil }
	reconcile := func(s *service.AuditorService, l service.Ledger) uint64 {
		t.Helper()
		return must.Get(s.Reconcile(ctx, l, stray))(t)
	}

	issue := func(anchor string) *service.Submission {
		return must.Get(w.issuer.Issue(ctx, anchored(anchor, paying(alice.address(t), 1))))(t)
	}
	golden.Equal(t, "landed, on an empty ledger", 0, reconcile(w.auditor, w.ledger))
	lost := issue("c")
	raw, info := encodings(t, lost)
	_, _, err := w.auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	w.land(t, issue("a"))
	w.land(t, issue("b"))
	golden.Equal(t, "unlanded, unasked", []string{"a", "b", "c"}, unlanded(t, w.auditor))
	golden.Equal(t, "landed", 2, reconcile(w.auditor, w.ledger))
	golden.Equal(t, "unlanded", []string{"c"}, unlanded(t, w.auditor))
	golden.Equal(t, "landed since", 0, reconcile(w.auditor, w.ledger))
	w.land(t, lost)
	golden.Equal(t, "landed at last", 1, reconcile(w.auditor, w.ledger))
	golden.Equal(t, "unlanded at last", nil, unlanded(t, w.auditor))
	golden.Equal(t, "strays", nil, strays)

	// An auditor whose vault is lost sees all of it as strays. What its caller does not take is told again.
	fresh := auditorOf(t, w, service.SignAll{})
	stop := errors.New("stop")
	_, err = fresh.Reconcile(ctx, w.ledger, func(ledger.Record) error { return stop })
	must.Fail(t, err, stop, "stopped")
	must.FailGet(fresh.Reconcile(ctx, w.ledger, nil))(t, zkbench.ErrParams, "nobody to tell")
	taken := 0
	_, err = fresh.Reconcile(ctx, w.ledger, func(r ledger.Record) error {
		if taken++; taken > 1 {
			return stop
		}
		return stray(r)
	})
	must.Fail(t, err, stop, "stopped at the second")
	golden.Equal(t, "landed after it", 0, reconcile(fresh, w.ledger))
	golden.Equal(t, "strays, each taken once", []string{"a", "b", "c"}, strays)
	golden.Equal(t, "landed, with nothing new", 0, reconcile(fresh, w.ledger))
	golden.Equal(t, "strays that were taken", []string{"a", "b", "c"}, strays)
	strays = nil
	again := auditorOf(t, w, service.SignAll{})
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	must.FailGet(again.Reconcile(cancelled, w.ledger, stray))(t, context.Canceled, "cancelled")
	golden.Equal(t, "landed, of none that was signed", 0, reconcile(again, w.ledger))
	golden.Equal(t, "strays", []string{"a", "b", "c"}, strays)

	// A request under a signed anchor that says something else is a stray, and the one that was signed has not landed.
	strays = nil
	signed := issue("d")
	raw, info = encodings(t, signed)
	_, _, err = w.auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	w.ledger.append(t, must.Get(must.Get(w.issuer.Issue(ctx, anchored("e", paying(alice.address(t), 1))))(t).Request.Encode())(t))
	other := must.Get(request.Decode(bytes.Clone(w.ledger.log[3].Request)))(t)
	other.Anchor = []byte("d")
	w.ledger.log = w.ledger.log[:3]
	w.ledger.append(t, must.Get(other.Encode())(t))
	golden.Equal(t, "landed, of another request", 0, reconcile(w.auditor, w.ledger))
	golden.Equal(t, "the stray", []string{"d"}, strays)
	golden.Equal(t, "unlanded, where another request has the anchor", nil, unlanded(t, w.auditor))
	genesis := w.genesis
	genesis.Nonce[0]++
	must.FailGet(w.auditor.Reconcile(ctx, newMemory(genesis), stray))(t, zkbench.ErrParams, "another ledger")
}

// counting is a policy that counts what its auditor has signed and what has become of it.
type counting struct {
	open map[string]uint64 // value of what is signed and may land, by anchor
	sum  uint64            // of what has landed
	told []string
	deaf bool
}

func (c *counting) Allow(_ context.Context, r *audit.Report) error {
	c.open[string(r.Anchor)] += r.Actions[0].Outputs[0].Value
	return nil
}

func (c *counting) Settled(_ context.Context, anchor []byte, _ [32]byte, landed bool) error {
	if c.deaf {
		return errors.New("not now")
	}
	c.told = append(c.told, fmt.Sprintf("%s %v", anchor, landed))
	if landed {
		c.sum += c.open[string(anchor)]
	}
	delete(c.open, string(anchor))
	return nil
}

// TestPolicyHears: the policy hears of each request that it allowed once what has become of it: it has landed, or another request has
// taken its anchor or a token that it spends. What it could not take it hears again.
func TestPolicyHears(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	c := &counting{open: make(map[string]uint64)}
	auditor := auditorOf(t, w, c)
	alice := w.party(t, w.key(t, "alice"))
	sign := func(sub *service.Submission) *service.Submission {
		t.Helper()
		raw, info := encodings(t, sub)
		signature, _, err := auditor.Sign(ctx, raw, info)
		must.Do(t, err)
		sub.Request.Auditors[0] = signature
		return sub
	}
	put := func(sub *service.Submission) {
		t.Helper()
		w.ledger.apply(must.Get(w.validator.Validate(ctx, validator.TokenFunc(w.ledger.Token), must.Get(sub.Request.Encode())(t), blockTime))(t))
		must.Do(t, alice.Sync(ctx, w.ledger))
	}
	put(sign(must.Get(w.issuer.Issue(ctx, anchored("issue", paying(alice.address(t), 10))))(t)))
	sign(must.Get(w.issuer.Issue(ctx, anchored("waits", paying(alice.address(t), 1))))(t))
	lost := sign(must.Get(alice.pay.Transfer(ctx, anchored("lost", paying(alice.address(t), 10))))(t))
	must.Do(t, alice.Discard(ctx, lost.Request.Anchor))
	put(sign(must.Get(alice.pay.Transfer(ctx, anchored("paid", paying(alice.address(t), 10))))(t)))
	none := func(ledger.Record) error { return errors.New("a stray") }
	c.deaf = true
	must.FailGet(auditor.Reconcile(ctx, w.ledger, none))(t, must.ErrAny, "a policy that does not listen")
	c.deaf = false
	for range 2 {
		must.Get(auditor.Reconcile(ctx, w.ledger, none))(t)
	}
	golden.Equal(t, "told", []string{"issue true", "paid true", "lost false"}, c.told)
	golden.Equal(t, "landed", 20, c.sum)
	golden.Equal(t, "open", map[string]uint64{"waits": 1}, c.open)
	golden.Equal(t, "unlanded", []string{"waits"}, unlanded(t, auditor))
}
