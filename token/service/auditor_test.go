package service_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

func encodings(t must.TB, sub *service.Submission) (raw, info []byte) {
	t.Helper()
	return must.Get(sub.Request.Encode())(t), must.Get(sub.Information.Encode())(t)
}

// TestAuditor: what was signed is kept, and an anchor is signed for one request only.
func TestAuditor(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	order := func(value uint64) service.Order { return anchored("one anchor", paying(alice.address(t), value)) }
	first := must.Get(w.issuer.Issue(ctx, order(1)))(t)
	if sub, err := w.issuer.Issue(ctx, order(2)); sub != nil || !errors.Is(err, zkbench.ErrAnchorConflict) {
		t.Errorf("issued twice under one anchor: %v, and a submission that is not kept: %v", err, sub != nil)
	}
	must.Do(t, w.issued.Discard(ctx, first.Request.Anchor))
	second := must.Get(w.issuer.Issue(ctx, order(2)))(t)

	raw, info := encodings(t, first)
	must.Get(w.auditor.Check(ctx, raw, info))(t)
	if kept, _, err := w.auditor.Signed(first.Request.Anchor); err != nil || kept != nil {
		t.Errorf("a check was kept as signed: %v", err)
	}
	signature, report, err := w.auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	golden.Equal(t, "value", 1, report.Actions[0].Outputs[0].Value)
	keptRequest, keptInfo, err := w.auditor.Signed(first.Request.Anchor)
	must.Do(t, err)
	if !bytes.Equal(keptRequest, raw) || !bytes.Equal(keptInfo, info) {
		t.Error("what is kept is not what was signed")
	}
	again, _, err := w.auditor.Sign(ctx, raw, info)
	if err != nil || !bytes.Equal(again, signature) {
		t.Errorf("the same request again: %v", err)
	}
	otherRaw, otherInfo := encodings(t, second)
	if s, _, err := w.auditor.Sign(ctx, otherRaw, otherInfo); !errors.Is(err, zkbench.ErrAnchorConflict) || s != nil {
		t.Errorf("another request under a signed anchor: %v", err)
	}
	if s, _, err := w.auditor.Sign(ctx, otherRaw, info); err == nil || s != nil {
		t.Error("signed a request with the information of another")
	}
	for name, pair := range map[string][2][]byte{"request": {raw[1:], info}, "information": {raw, info[1:]}} {
		must.FailGet(w.auditor.Check(ctx, pair[0], pair[1]))(t, zkbench.ErrMalformed, "malformed %s", name)
	}
}

// TestAuditorRace: of two requests under one anchor, given to many goroutines at once,
// one is signed.
func TestAuditorRace(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	var raws, infos [2][]byte
	for i := range raws {
		sub := must.Get(w.issuer.Issue(t.Context(), anchored("raced", paying(alice.address(t), uint64(i)))))(t)
		must.Do(t, w.issued.Discard(t.Context(), sub.Request.Anchor))
		raws[i], infos[i] = encodings(t, sub)
	}
	var wg sync.WaitGroup
	var signed [2]atomic.Int32
	for i := range 32 {
		wg.Go(func() {
			_, _, err := w.auditor.Sign(context.Background(), raws[i%2], infos[i%2])
			if err == nil {
				signed[i%2].Add(1)
			} else if !errors.Is(err, zkbench.ErrAnchorConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if a, b := signed[0].Load(), signed[1].Load(); a+b != 16 || a*b != 0 {
		t.Errorf("signed the one %d times and the other %d times, want 16 and 0", a, b)
	}
}

// TestConstructors: whoever is not in the policy, when it comes to signing, and another system's vault, are
// refused.
func TestConstructors(t *testing.T) {
	w := newWorld(t, nil)
	ex, tuning := executor.Serial(), smallTables
	other := *w.params
	other.Policy.Limits.Inputs = 1
	for name, make := range map[string]func() error{
		"issuer": func() error {
			s := must.Get(service.NewIssueService(w.params, "", tuning, ex, w.issued, key(t, "auditor")))(t)
			_, err := s.Issue(t.Context(), paying(must.Get(w.wallet.Address(nil))(t), 1))
			return err
		},
		"auditor": func() error {
			s := must.Get(service.NewAuditorService(w.params, tuning, ex, w.audited, service.Auditor{Signer: key(t, "issuer"), Policy: service.SignAll{}}))(t)
			_, _, err := s.Sign(t.Context(), nil, nil)
			return err
		},
		"issuer's vault": func() error {
			_, err := service.NewIssueService(&other, "", tuning, ex, w.issued, key(t, "issuer"))
			return err
		},
		"auditor's vault": func() error {
			_, err := service.NewAuditorService(&other, tuning, ex, w.audited, w.audits(t, service.SignAll{}))
			return err
		},
		"wallet's vault": func() error {
			_, err := service.NewWallet(&other, w.issued, w.key(t, "alice"))
			return err
		},
		"transfer's wallet": func() error {
			_, err := service.NewTransferService(&other, "", tuning, ex, w.wallet)
			return err
		},
		"another holder's certificate": func() error {
			scheme := must.Get(identity.NewScheme(w.params.Curve))(t)
			var holders [2]identity.Holder
			for i := range holders {
				holders[i] = must.Get(scheme.NewHolder(nil))(t)
			}
			r := must.Get(holders[0].Request("Alice", nil))(t)
			certificate := must.Get(scheme.Enrol("Alice", r, w.authority))(t)
			_, err := service.NewPseudonyms(w.params, w.genesis, holders[1], certificate, w.authority.Identity())
			return err
		},
		"auditor's key": func() error { // with which everybody shares one secret
			small := *w.params
			small.Policy.Auditors = ledgertest.Auditors(t, key(t, "auditor").Identity())
			small.Policy.Auditors[0].Key = make([]byte, 32)
			genesis := ledgertest.Genesis(t, &small)
			v := must.Get(service.CreateVault(w.path(), genesis))(t)
			defer v.Close()
			_, err := service.NewWallet(&small, v, must.Get(service.NewKey(genesis, key(t, "alice")))(t))
			return err
		},
		"proof type": func() error {
			_, err := service.NewTransferService(w.params, token.Bulletproof, smallTables, ex, w.wallet)
			return err
		},
	} {
		must.Fail(t, make(), zkbench.ErrParams, "%s", name)
	}
}

// TestAuditorRefuses: what issuers and owners have not signed as the parameters ask is
// neither signed nor kept, so nobody's anchor is taken by it.
func TestAuditorRefuses(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) { p.Policy.Redeem = token.RedeemIssuer })
	ctx := t.Context()
	alice := w.funded(t, "alice", 100, 100)
	issued := must.Get(w.issuer.Issue(ctx, anchored("issue", paying(alice.address(t), 7))))(t)
	moved := must.Get(alice.pay.Transfer(ctx, anchored("transfer", paying(alice.address(t), 30))))(t)
	redeemed := must.Get(alice.pay.Transfer(ctx, anchored("redemption", paying(service.Address{}, 30))))(t)
	flip := func(signature []byte) []byte {
		out := bytes.Clone(signature)
		out[len(out)-1] ^= 1
		return out
	}
	for _, test := range []struct {
		name string
		sub  *service.Submission
		edit func(a *request.Action)
		want error
	}{
		{"issue/proof type=unknown", issued, func(a *request.Action) { a.ProofType = "nonsense" }, zkbench.ErrParams},
		{"issue/issuer=none", issued, func(a *request.Action) { a.Issuer = nil }, zkbench.ErrPolicy},
		{"issue/issuer=unknown", issued, func(a *request.Action) { a.Issuer.Identity = key(t, "nobody").Identity() }, zkbench.ErrPolicy},
		{"issue/signature=flipped", issued, func(a *request.Action) { a.Issuer.Signature = flip(a.Issuer.Signature) }, zkbench.ErrSignature},
		{"transfer/signatures=none", moved, func(a *request.Action) { a.Spends = nil }, zkbench.ErrPolicy},
		{"transfer/signature=empty", moved, func(a *request.Action) { a.Spends[0].Signatures[0] = nil }, zkbench.ErrSignature},
		{"transfer/signature=flipped", moved, func(a *request.Action) { a.Spends[0].Signatures[0] = flip(a.Spends[0].Signatures[0]) }, zkbench.ErrSignature},
		{"redemption/signature=none", redeemed, func(*request.Action) {}, zkbench.ErrSignature},
		{"redemption/issuer=none", redeemed, func(a *request.Action) { a.Issuer = nil }, zkbench.ErrPolicy},
		{"redemption/signature=owner's", redeemed, func(a *request.Action) { a.Issuer.Signature = a.Spends[0].Signatures[0] }, zkbench.ErrSignature},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw, info := encodings(t, test.sub)
			r := must.Get(request.Decode(raw))(t)
			test.edit(&r.Actions[0])
			raw = must.Get(r.Encode())(t)
			if signature, _, err := w.auditor.Sign(ctx, raw, info); !errors.Is(err, test.want) || signature != nil {
				t.Errorf("%v, want %v", err, test.want)
			}
			if kept, _, err := w.auditor.Signed(r.Anchor); kept != nil || err != nil {
				t.Errorf("kept as signed: %v", err)
			}
		})
	}
	must.Do(t, w.issuer.Approve(ctx, redeemed.Request, 0, must.Get(redeemed.Redeemed(0))(t)...))
	for _, sub := range []*service.Submission{issued, moved, redeemed} {
		w.land(t, sub)
	}
}

// TestPolicyIsAskedOnce: a request that is signed again, by several callers at once or after a crash, does not count twice; one that
// was refused is asked for again.
func TestPolicyIsAskedOnce(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var mu sync.Mutex
	asked, refused := make(map[string]int), errors.New("over the limit")
	limit := service.PolicyFunc(func(_ context.Context, r *audit.Report) error {
		mu.Lock()
		defer mu.Unlock()
		asked[string(r.Anchor)]++
		if r.Actions[0].Outputs[0].Value > 50 {
			return refused
		}
		return nil
	})
	auditor := auditorOf(t, w, limit)
	alice := w.party(t, w.key(t, "alice"))
	small := must.Get(w.issuer.Issue(ctx, anchored("small", paying(alice.address(t), 50))))(t)
	raw, info := encodings(t, small)
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			if _, _, err := auditor.Sign(ctx, raw, info); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	large, largeInfo := encodings(t, must.Get(w.issuer.Issue(ctx, anchored("large", paying(alice.address(t), 51))))(t))
	for range 2 {
		_, _, err := auditor.Sign(ctx, large, largeInfo)
		must.Fail(t, err, refused, "over the limit")
	}
	golden.Equal(t, "asked", map[string]int{"small": 1, "large": 2}, asked)
}
