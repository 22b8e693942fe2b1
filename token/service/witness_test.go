package service_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
)

// TestOtherMembersSign: an auditor who has signed that Ann and Ben spend a token of three signs it for no other two of them: its policy has not
// seen them. A record of which others have signed than the auditor was shown is a stray, whatever its digest.
func TestOtherMembersSign(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var board []*party
	for _, name := range []string{"Ann", "Ben", "Cid"} {
		board = append(board, w.party(t, w.pseudonyms(t, name)))
	}
	shared := must.Get(service.Shared(2, board[0].address(t), board[1].address(t), board[2].address(t)))(t)
	revoked := errors.New("revoked")
	var settled []bool
	rules := &hooks{
		allow: func(r *audit.Report) error {
			if slices.ContainsFunc(r.Actions[0].Inputs, func(h audit.Holding) bool {
				return slices.ContainsFunc(h.Owners, func(p audit.Party) bool { return p.Name == "Cid" })
			}) {
				return revoked
			}
			return nil
		},
		settled: func(landed bool) { settled = append(settled, landed) },
	}
	w.land(t, must.Get(w.issuer.Issue(ctx, paying(shared, 100)))(t))
	for _, p := range board {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	o := paying(service.Address{}, 100)
	o.From = []token.ID{board[0].shared(t)[0].ID}
	sub := must.Get(board[0].pay.Propose(ctx, 0, o))(t)
	must.Do(t, board[0].pay.Sign(ctx, sub, anything(t, board[0], sub)))
	other := sent(t, sub)
	for i, s := range []*service.Submission{sub, other} {
		must.Do(t, board[i+1].pay.Sign(ctx, s, anything(t, board[i+1], s)))
	}
	auditor := auditorOf(t, w, rules)
	must.Get(auditor.Reconcile(ctx, w.ledger, func(ledgers.Record) error { return nil }))(t)
	raw, info := encodings(t, other)
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Fail(t, err, revoked, "by Ann and Cid")
	raw, info = encodings(t, sub)
	_, _, err = auditor.Sign(ctx, raw, info)
	must.Do(t, err, "by Ann and Ben")
	raw, info = encodings(t, other)
	signature, _, err := auditor.Sign(ctx, raw, info)
	must.Fail(t, err, zkbench.ErrAnchorConflict, "by Ann and Cid, after Ann and Ben")
	golden.Equal(t, "signature", 0, len(signature))

	var strays []uint64
	w.ledger.append(t, raw)
	golden.Equal(t, "landed", 1, must.Get(auditor.Reconcile(ctx, w.ledger, func(r ledgers.Record) error { strays = append(strays, r.Seq); return nil }))(t))
	golden.Equal(t, "strays", []uint64{2}, strays)
	golden.Equal(t, "what the policy hears", []bool{true}, settled)
}

// hooks is a policy of functions.
type hooks struct {
	allow   func(*audit.Report) error
	settled func(landed bool)
}

func (h *hooks) Allow(_ context.Context, r *audit.Report) error { return h.allow(r) }

func (h *hooks) Settled(_ context.Context, _ []byte, _ [32]byte, landed bool) error {
	h.settled(landed)
	return nil
}

// TestCallerLeaves: a request that the policy has allowed is kept, also if its caller has left meanwhile: the policy hears what becomes of it.
func TestCallerLeaves(t *testing.T) {
	w := newWorld(t, nil)
	ctx, leave := context.WithCancel(t.Context())
	auditor := auditorOf(t, w, &hooks{allow: func(*audit.Report) error { leave(); return nil }})
	sub := must.Get(w.issuer.Issue(t.Context(), paying(w.party(t, w.key(t, "alice")).address(t), 1)))(t)
	raw, info := encodings(t, sub)
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	kept, _, err := auditor.Signed(sub.Request.Anchor)
	must.Do(t, err)
	golden.Equal(t, "kept", raw, kept)
}

// TestLandsAfterRefusal: a log has two requests that spend one token, and the auditor has signed both. The second is no record of an honest ledger.
func TestLandsAfterRefusal(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.funded(t, "alice", 100)
	twin := w.party(t, w.key(t, "alice"))
	must.Do(t, twin.Sync(ctx, w.ledger))
	for _, p := range []*party{alice, twin} {
		raw, info := encodings(t, must.Get(p.pay.Transfer(ctx, paying(service.Address{}, 100)))(t))
		_, _, err := w.auditor.Sign(ctx, raw, info)
		must.Do(t, err)
		w.ledger.append(t, raw)
	}
	for _, seen := range []uint64{3, 2, 3} { // in one transaction, and apart
		landed, err := w.auditor.Reconcile(ctx, copyOf{w.ledger, seen}, nil)
		if seen == 3 && !isCorrupt(err) || seen == 2 && err != nil {
			t.Errorf("%d landed, %v", landed, err)
		}
		if seen == 3 {
			must.Do(t, w.audited.FollowAnew(ctx))
		}
	}
}

// TestRefusedByALie: a request that a forged record has refused lands on the honest ledger, when the auditor follows that anew.
func TestRefusedByALie(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	var settled []bool
	auditor := auditorOf(t, w, &hooks{allow: func(*audit.Report) error { return nil }, settled: func(landed bool) { settled = append(settled, landed) }})
	alice := w.funded(t, "alice", 100)
	ignored := func(ledgers.Record) error { return nil }
	sub := must.Get(alice.pay.Transfer(ctx, anchored("pay", paying(service.Address{}, 30))))(t)
	raw, info := encodings(t, sub)
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	forged := w.recorded(t, 2, w.unsigned(t, "pay", alice.address(t), 1))
	must.Get(auditor.Reconcile(ctx, w.ledger.lying(func(log []ledgers.Record) []ledgers.Record { return append(log, forged) }), ignored))(t)
	golden.Equal(t, "unlanded, as told", 0, len(unlanded(t, auditor)))
	w.land(t, sub)
	must.Do(t, auditor.Vault().FollowAnew(ctx))
	golden.Equal(t, "unlanded", []string{"pay"}, unlanded(t, auditor))
	golden.Equal(t, "landed", 1, must.Get(auditor.Reconcile(ctx, w.ledger, ignored))(t))
	golden.Equal(t, "what the policy hears", []bool{false, true}, settled)
}

// TestRefusedOnce: the policy hears once of a request that two records refuse, which are read together.
func TestRefusedOnce(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	settled := 0
	auditor := auditorOf(t, w, &hooks{allow: func(*audit.Report) error { return nil }, settled: func(bool) { settled++ }})
	alice := w.funded(t, "alice", 100, 50)
	twin := w.party(t, w.key(t, "alice"))
	must.Do(t, twin.Sync(ctx, w.ledger))
	raw, info := encodings(t, must.Get(alice.pay.Transfer(ctx, paying(service.Address{}, 150)))(t))
	_, _, err := auditor.Sign(ctx, raw, info)
	must.Do(t, err)
	for _, value := range []uint64{100, 50} {
		w.land(t, must.Get(twin.pay.Transfer(ctx, paying(service.Address{}, value)))(t))
	}
	must.Get(auditor.Reconcile(ctx, w.ledger, func(ledgers.Record) error { return nil }))(t)
	golden.Equal(t, "what the policy hears", 1, settled)
}

// TestTwoServicesOfAVault: two services of one auditor, with one vault, sign one request under an anchor, also if the second has signed while the first one's
// policy was asked.
func TestTwoServicesOfAVault(t *testing.T) {
	w := newWorld(t, nil)
	ctx := t.Context()
	alice := w.party(t, w.key(t, "alice"))
	var raws, infos [2][]byte
	for i := range raws {
		sub := must.Get(w.issuer.Issue(ctx, anchored("raced", paying(alice.address(t), uint64(i)))))(t)
		must.Do(t, w.issued.Discard(ctx, sub.Request.Anchor))
		raws[i], infos[i] = encodings(t, sub)
	}
	first := must.Get(service.NewAuditorService(w.params, smallTables, serial, w.audited, w.audits(t, &hooks{allow: func(*audit.Report) error {
		_, _, err := w.auditor.Sign(ctx, raws[1], infos[1])
		return err
	}})))(t)
	signature, _, err := first.Sign(ctx, raws[0], infos[0])
	must.Fail(t, err, zkbench.ErrAnchorConflict, "the second has signed another one")
	golden.Equal(t, "signature", 0, len(signature))
}
