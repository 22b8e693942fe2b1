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
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// auditorOf is the world's auditor with a policy, and a vault of its own.
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
	unlanded := func(s *service.AuditorService) (anchors []string) {
		t.Helper()
		for anchor, err := range s.Unlanded() {
			must.Do(t, err)
			anchors = append(anchors, string(anchor))
		}
		return anchors
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
	golden.Equal(t, "unlanded, unasked", []string{"a", "b", "c"}, unlanded(w.auditor))
	golden.Equal(t, "landed", 2, reconcile(w.auditor, w.ledger))
	golden.Equal(t, "unlanded", []string{"c"}, unlanded(w.auditor))
	golden.Equal(t, "landed since", 0, reconcile(w.auditor, w.ledger))
	w.land(t, lost)
	golden.Equal(t, "landed at last", 1, reconcile(w.auditor, w.ledger))
	golden.Equal(t, "unlanded at last", nil, unlanded(w.auditor))
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
	golden.Equal(t, "unlanded, by another request", []string{"d"}, unlanded(w.auditor))
	genesis := w.genesis
	genesis.Nonce[0]++
	must.FailGet(w.auditor.Reconcile(ctx, newMemory(genesis), stray))(t, zkbench.ErrParams, "another ledger")
}
