package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/script"
	"github.com/zkbench/zkbench/token/service"
)

func inputsOf(t must.TB, sub *service.Submission) []action.Input {
	t.Helper()
	a := must.Get(action.Parse(32, token.Transfer, sub.Request.Actions[0].Raw))(t)
	return a.Inputs
}

// TestLife: issue, pay, pay back, redeem, with keys of both kinds.
func TestLife(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) { p.Policy.Redeem = token.RedeemIssuer })
	ctx := t.Context()
	alice, bob := w.party(t, w.key(t, "alice")), w.party(t, w.pseudonyms(t, "Bob"))
	w.fund(t, alice, 100, 50)
	alice.has(t, 150, "the funds")

	o := paying(bob.address(t), 60)
	o.Payments = append(o.Payments, service.Payment{To: bob.address(t), Value: 60})
	o.Metadata = []byte("lunch")
	sub := must.Get(alice.pay.Transfer(ctx, o))(t)
	alice.has(t, 0, "before the ledger has the change")
	report := w.land(t, sub)
	var values []uint64
	for _, out := range report.Actions[0].Outputs {
		values = append(values, out.Value)
	}
	if got := fmt.Sprint(values); len(values) != 3 || strings.Count(got, "60") != 2 || strings.Count(got, "30") != 1 {
		t.Errorf("the auditor saw outputs of %v, want 60, 60 and a change of 30", values)
	}
	for _, p := range []*party{alice, bob} {
		must.Do(t, p.Sync(ctx, w.ledger))
	}
	alice.has(t, 30, "after paying")
	bob.has(t, 120, "after being paid")

	// Bob redeems with the issuer's approval.
	sub = must.Get(bob.pay.Transfer(ctx, paying(service.Address{}, 100)))(t)
	must.FailGet(w.submit(t, sub))(t, zkbench.ErrSignature, "a redemption without approval")
	right := must.Get(sub.Redeemed(0))(t)
	golden.Equal(t, "outputs that are redeemed", 1, len(right))
	wrong := right[0]
	wrong.Value--
	for name, redeemed := range map[string][]token.Opening{"none": nil, "another value": {wrong}, "two": {right[0], right[0]}} {
		if err := w.issuer.Approve(ctx, sub.Request, 0, redeemed...); !errors.Is(err, zkbench.ErrPolicy) || sub.Request.Actions[0].Issuer.Signature != nil {
			t.Errorf("approved with openings=%s: %v", name, err)
		}
	}
	must.Fail(t, w.issuer.Approve(ctx, sub.Request, 1, right...), zkbench.ErrParams, "approved an action that is not there")
	must.Do(t, w.issuer.Approve(ctx, sub.Request, 0, right...))
	report = w.land(t, sub)
	golden.Equal(t, "owner of the input", "Bob", report.Actions[0].Inputs[0].Owners[0].Name)
	must.Do(t, bob.Sync(ctx, w.ledger))
	bob.has(t, 20, "after redeeming 100 of 120")
}

// TestPseudonyms: no owner comes twice, and the auditor knows who each is.
func TestPseudonyms(t *testing.T) {
	w := newWorld(t, nil)
	alice, bob := w.party(t, w.pseudonyms(t, "Alice")), w.party(t, w.pseudonyms(t, "Bob"))
	w.fund(t, alice, 100, 100)
	for range 3 {
		sub := must.Get(alice.pay.Transfer(t.Context(), paying(bob.address(t), 10)))(t)
		report := w.land(t, sub)
		names := map[string]uint64{}
		for _, out := range report.Actions[0].Outputs {
			names[out.Owners[0].Name] += out.Value
		}
		if len(names) != 2 || names["Bob"] != 10 || report.Actions[0].Inputs[0].Owners[0].Name != "Alice" {
			t.Errorf("the auditor saw %v", report)
		}
		must.Do(t, alice.Sync(t.Context(), w.ledger))
	}
	must.Do(t, bob.Sync(t.Context(), w.ledger))
	owners := map[string]bool{}
	for id, raw := range w.ledger.tokens {
		tok := must.Get(token.DecodeToken(32, raw))(t)
		if owners[string(tok.Owner)] {
			t.Errorf("token %x has an owner that another has", id)
		}
		owners[string(tok.Owner)] = true
	}
	// A crash changes nothing.
	bob.crash(t, w)
	sub := must.Get(bob.pay.Transfer(t.Context(), paying(alice.address(t), 30)))(t)
	w.land(t, sub)
	must.FailGet(w.wallet.With(bob.Vault, w.pseudonyms(t, "Mallory")))(t, zkbench.ErrParams, "keys of another holder than the vault's")
}

// TestSelection: which tokens are chosen.
func TestSelection(t *testing.T) {
	w := newWorld(t, nil)
	to := w.party(t, w.key(t, "bob")).address(t)
	for _, test := range []struct {
		have   []uint64
		want   uint64
		inputs []uint64
		change bool
	}{
		{[]uint64{5, 7, 9}, 7, []uint64{7}, false},
		{[]uint64{5, 7, 9}, 6, []uint64{7}, true},
		{[]uint64{5, 7, 9}, 12, []uint64{9, 5}, true},
		{[]uint64{5, 7, 9}, 16, []uint64{9, 7}, false},
		{[]uint64{5, 7, 9}, 17, []uint64{9, 7, 5}, true},
		{[]uint64{5, 5, 5, 5}, 20, []uint64{5, 5, 5, 5}, false},
		{[]uint64{5, 7, 0}, 0, []uint64{0}, false},
		{[]uint64{0, 300, 65535}, 301, []uint64{65535}, true},
	} {
		t.Run(fmt.Sprintf("have=%v/want=%d", test.have, test.want), func(t *testing.T) {
			alice := w.party(t, w.key(t, t.Name()))
			defer alice.Close()
			w.fund(t, alice, test.have...)
			sub := must.Get(alice.pay.Transfer(t.Context(), paying(to, test.want)))(t)
			var got []uint64
			for _, in := range sub.Information.Actions[0].Inputs {
				got = append(got, in.Opening.Value)
			}
			golden.Equal(t, "inputs", test.inputs, got)
			if outputs := len(sub.Information.Actions[0].Outputs); (outputs == 2) != test.change {
				t.Errorf("%d outputs, want change: %v", outputs, test.change)
			}
			w.land(t, sub)
		})
	}
}

// TestChangePlace: the change is now before the payment, now behind it.
func TestChangePlace(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.party(t, w.key(t, "alice"))
	to := w.party(t, w.key(t, "bob")).address(t)
	w.fund(t, alice, 10)
	places := map[bool]int{}
	for range 40 { // all at one place: once in 2^39 runs
		sub := must.Get(alice.pay.Transfer(t.Context(), paying(to, 4)))(t)
		outputs := sub.Information.Actions[0].Outputs
		if len(outputs) != 2 || outputs[0].Opening.Value+outputs[1].Opening.Value != 10 {
			t.Fatalf("outputs %v", outputs)
		}
		places[outputs[0].Opening.Value == 6]++
		must.Do(t, alice.Discard(t.Context(), sub.Request.Anchor))
	}
	golden.Equal(t, "places of the change", 2, len(places))
}

// TestRefusedOrders: typed errors, and no token stays reserved.
func TestRefusedOrders(t *testing.T) {
	w := newWorld(t, nil)
	alice := w.funded(t, "alice", 10, 10, 10, 10, 10, 10)
	to := w.party(t, w.pseudonyms(t, "Bob")).address(t)
	var image [script.ImageLen]byte
	lock := must.Get(script.NewHashLock(image, 1_900_000_000, key(t, "alice").Identity(), key(t, "bob").Identity()))(t)
	locked := service.Address{Owner: lock.Owner(), Members: append(to.Members[:1:1], to.Members...)}
	small := service.Address{Owner: append([]byte{byte(identity.TypeEd25519), 1}, make([]byte, 31)...), Members: to.Members}
	deaf := service.Address{Owner: to.Owner, Members: slices.Clone(to.Members)}
	deaf.Members[0].Payee.Key = make([]byte, 32)
	edited := func(edit func(*service.Order)) service.Order {
		o := paying(to, 10)
		edit(&o)
		return o
	}
	for _, test := range []struct {
		name  string
		order service.Order
		cause error
		text  string
	}{
		{"payments=0", paying(to), zkbench.ErrParams, "no payments"},
		{"payments=5", paying(to, 1, 1, 1, 1, 1), zkbench.ErrParams, "5, at most 4"},
		{"outputs=5", paying(to, 1, 1, 1, 1), zkbench.ErrParams, "outputs with change"},
		{"type=empty", edited(func(o *service.Order) { o.Type = "" }), zkbench.ErrParams, "type of 0 bytes"},
		{"type=long", edited(func(o *service.Order) { o.Type = strings.Repeat("x", token.MaxType+1) }), zkbench.ErrParams, "type of 257 bytes"},
		{"type=another", edited(func(o *service.Order) { o.Type = "EUR" }), zkbench.ErrPolicy, "have 0, want 10"},
		{"anchor=empty", edited(func(o *service.Order) { o.Anchor = []byte{} }), zkbench.ErrParams, "anchor"},
		{"anchor=long", edited(func(o *service.Order) { o.Anchor = make([]byte, token.MaxAnchor+1) }), zkbench.ErrParams, "anchor"},
		{"anchor=of an update", edited(func(o *service.Order) { o.Anchor = policy.Anchor(1) }), zkbench.ErrParams, "policy updates"},
		{"metadata=11", edited(func(o *service.Order) { o.Metadata = make([]byte, 11) }), zkbench.ErrLimit, "metadata"},
		{"value=17 bits", paying(to, 1<<16), zkbench.ErrParams, "17 bits"},
		{"funds=short", paying(to, 61), zkbench.ErrPolicy, "have 60, want 61"},
		{"funds=scattered", paying(to, 41), zkbench.ErrLimit, "5, at most 4"},
		{"owner=unknown type", paying(service.Address{Owner: []byte{99}, Members: to.Members}, 1), zkbench.ErrMalformed, "payment 0"},
		{"owner=small order", paying(small, 1), zkbench.ErrParams, "small order"},
		{"members=missing", paying(service.Address{Owner: to.Owner}, 1), zkbench.ErrParams, "0 members, the owner has 1"},
		{"members=of nobody", paying(service.Address{Members: to.Members}, 1), zkbench.ErrParams, "1 members, the owner has 0"},
		{"audit=nothing", paying(service.Address{Owner: to.Owner, Members: []service.Member{{Payee: to.Members[0].Payee}}}, 1), zkbench.ErrPolicy, "no information for the auditors"},
		{"note key=of small order", paying(deaf, 1), zkbench.ErrParams, "note key"},
		{"script=with change", paying(locked, 9), zkbench.ErrPolicy, "owner script"},
		{"script=two inputs", paying(locked, 20), zkbench.ErrPolicy, "owner script"},
		{"rand=empty", edited(func(o *service.Order) { o.Rand = bytes.NewReader(nil) }), nil, "drawing the anchor"},
		{"rand=short", edited(func(o *service.Order) { o.Rand = bytes.NewReader(make([]byte, 40)) }), nil, "drawing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sub, err := alice.pay.Transfer(t.Context(), test.order)
			if err == nil || sub != nil || test.cause != nil && !errors.Is(err, test.cause) || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%v, want %v with %q", err, test.cause, test.text)
			}
			if alice.Taken() != 0 || alice.balance(t) != 60 {
				t.Errorf("%d tokens reserved, %d free", alice.Taken(), alice.balance(t))
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := alice.pay.Transfer(ctx, paying(to, 10)); !errors.Is(err, context.Canceled) || alice.Taken() != 0 {
		t.Errorf("cancelled: %v, %d reserved", err, alice.Taken())
	}
	must.FailGet(w.issuer.Issue(t.Context(), paying(service.Address{}, 1)))(t, zkbench.ErrParams, "issued to nobody")

	// A script in its one shape.
	sub := must.Get(alice.pay.Transfer(t.Context(), paying(locked, 10)))(t)
	golden.Equal(t, "outputs to a script", 1, len(sub.Information.Actions[0].Outputs))

	o := anchored("chosen", paying(to, 10))
	must.Get(alice.pay.Transfer(t.Context(), o))(t)
	must.FailGet(alice.pay.Transfer(t.Context(), o))(t, zkbench.ErrAnchorConflict, "one anchor twice")
}

func TestWrappingPayments(t *testing.T) {
	w := newWorld(t, func(p *token.PublicParams) {
		q := must.Get(token.NewPublicParams("BN254", 64, token.CSP))(t)
		p.Bits, p.RangeProofs = q.Bits, q.RangeProofs
	})
	alice := w.funded(t, "alice", 1<<63)
	w.fund(t, alice, 1<<63+5)
	to := alice.address(t)
	must.FailGet(alice.pay.Transfer(t.Context(), paying(to, 1<<63, 1<<63)))(t, zkbench.ErrParams, "payments of 2^64")
	// The funds suffice, but no auditor adds up more than 64 bits.
	must.FailGet(alice.pay.Transfer(t.Context(), paying(to, 1<<63, 1<<63-1)))(t, zkbench.ErrLimit, "inputs of 2^64 and more")
	named := paying(to, 1)
	for h, err := range alice.Unspent() {
		must.Do(t, err)
		named.From = append(named.From, h.ID)
	}
	must.FailGet(alice.pay.Transfer(t.Context(), named))(t, zkbench.ErrLimit, "tokens of 2^64 by name")
	b := must.Get(alice.Holdings(usd))(t)
	golden.Equal(t, "balance", "18446744073709551621", b.Sum.String())
}

// TestConcurrentTransfers: 64 goroutines pay out of one wallet, and none takes a token
// that another takes.
func TestConcurrentTransfers(t *testing.T) {
	w := newWorld(t, nil)
	const payers, tokens = 64, 80
	alice := w.funded(t, "alice", slices.Repeat([]uint64{10}, tokens)...)
	to := w.party(t, w.key(t, "bob")).address(t)
	var wg sync.WaitGroup
	var mu sync.Mutex
	holder := map[string]int{}
	paid, short := 0, 0
	for i := range payers {
		wg.Go(func() {
			sub, err := alice.pay.Transfer(t.Context(), paying(to, 15))
			mu.Lock()
			defer mu.Unlock()
			if errors.Is(err, zkbench.ErrPolicy) {
				short++
				return
			}
			if err != nil {
				t.Error(err)
				return
			}
			paid++
			for _, in := range inputsOf(t, sub) {
				if other, taken := holder[string(in.ID)]; taken {
					t.Errorf("token %x is in the submissions of %d and %d", in.ID, other, i)
				}
				holder[string(in.ID)] = i
			}
		})
	}
	wg.Wait()
	if paid != tokens/2 || short != payers-tokens/2 || alice.Taken() != 0 {
		t.Errorf("%d paid, %d short of funds, %d still taken", paid, short, alice.Taken())
	}
}
