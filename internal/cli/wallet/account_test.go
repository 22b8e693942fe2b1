package wallet_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli/wallet"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// account returns a bank's wallet as programs use it, with its payer.
func (s *servers) account(p *wallet.Purse) (*wallet.Account, *wallet.Payer) {
	s.t.Helper()
	r := s.payer(p)
	signer := must.Get(wallet.NewKey())(s.t).Self()
	return wallet.NewAccount(p, r, s.client(), signer), r
}

// asks returns an order of a program that pays dollars to a wallet.
func (s *servers) asks(to *wallet.Purse, value uint64) server.WalletOrder {
	s.t.Helper()
	return server.WalletOrder{To: must.Get(to.NewAddress(nil))(s.t), Type: "USD", Value: value}
}

// TestAccount: a key pays once, and says which order it pays.
func TestAccount(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	a, r := s.account(south)

	order := s.asks(me, 10)
	m := must.Get(a.Pay(ctx, "rent", order))(t)
	golden.Equal(t, "number", uint64(8), m.Number)
	again := must.Get(a.Pay(ctx, "rent", order))(t)
	golden.Equal(t, "anchor", m.Anchor, again.Anchor)
	golden.Equal(t, "requests", uint64(8), s.requests())
	for name, other := range map[string]server.WalletOrder{
		"value":   {To: order.To, Type: "USD", Value: 11},
		"type":    {To: order.To, Type: "EUR", Value: 10},
		"until":   {To: order.To, Type: "USD", Value: 10, Until: 4_000_000_000},
		"address": s.asks(me, 10),
	} {
		_, err := a.Pay(ctx, "rent", other)
		if e, ok := errors.AsType[*server.KeyError](err); !ok || e.Key != "rent" || !errors.Is(err, zkbench.ErrAnchorConflict) {
			t.Errorf("another %s under the key: %v", name, err)
		}
	}
	golden.Equal(t, "of the key", m.Anchor, must.Get(a.Keyed("rent"))(t).Anchor)
	if m := must.Get(a.Keyed("other"))(t); m != nil {
		t.Errorf("a key that was not used has the payment %x", m.Anchor)
	}

	// Many payments at the same time: those for which no token is free wait for change.
	var all sync.WaitGroup
	const payments = 6
	for i := range payments {
		order := s.asks(me, 5)
		all.Go(func() {
			if m, err := a.Pay(ctx, fmt.Sprint("at once ", i), order); err != nil || m.Status != service.Landed {
				t.Errorf("payment %d: %v", i, err)
			}
		})
	}
	all.Wait()
	golden.Equal(t, "requests", uint64(8+payments), s.requests())
	s.holds(south, "50", "0")
	s.holds(me, "40", "0")
	_, err := a.Pay(ctx, "too much", s.asks(me, 51))
	if funds, ok := errors.AsType[*service.FundsError](err); !ok || funds.Have != 50 {
		t.Errorf("more than there is: %v", err)
	}

	// A lost answer: the payment is pending, and the same key or Run goes on with it.
	lossy := &losing{Submitter: s.honest}
	r.Through(func(ledger.Submitter) ledger.Submitter { return lossy })
	order = s.asks(me, 7)
	lossy.loses = true
	golden.Equal(t, "status", service.Pending, must.Get(a.Pay(ctx, "lost", order))(t).Status)
	lossy.loses = false
	golden.Equal(t, "status", service.Landed, must.Get(a.Pay(ctx, "lost", order))(t).Status)
	s.holds(south, "43", "0")
	lossy.loses = true
	golden.Equal(t, "status", service.Pending, must.Get(a.Pay(ctx, "resumed", s.asks(me, 3)))(t).Status)
	lossy.loses = false
	running, stop := context.WithCancel(ctx)
	var log strings.Builder
	all.Go(func() { a.Run(running, slog.New(slog.NewTextHandler(&log, nil))) })
	for must.Get(a.Keyed("resumed"))(t).Status != service.Landed {
		must.Do(t, ctx.Err())
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	all.Wait()
	s.holds(south, "40", "0")
	s.holds(me, "50", "0")
	golden.Equal(t, "requests", uint64(8+payments+2), s.requests())
	golden.Equal(t, "findings", 0, len(must.Get(a.Check(ctx, true))(t)))
}

// losing is a submitter that loses answers.
type losing struct {
	ledger.Submitter
	loses bool
}

// Submit implements ledger.Submitter.
func (l *losing) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	verdicts, err := l.Submitter.Submit(ctx, requests)
	if l.loses {
		return nil, zkbench.ErrOutcomeUnknown
	}
	return verdicts, err
}

// TestAccountCancels: a refused payment is pending until it is taken back, and then its key pays nothing.
func TestAccountCancels(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	a, _ := s.account(south)
	order := s.asks(me, 35)
	s.submitter.refuses = &zkbench.CheckError{Check: "policy", Action: -1, Index: -1, Err: zkbench.ErrPolicy}
	for range 2 {
		_, err := a.Pay(ctx, "refused", order)
		if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || !refused.Kept {
			t.Fatalf("refused: %v", err)
		}
	}
	m := must.Get(a.Keyed("refused"))(t)
	golden.Equal(t, "status", service.Pending, m.Status)
	must.FailGet(a.Cancel(ctx, m.Anchor))(t, zkbench.ErrPolicy, "the validator refuses that as well")
	s.submitter.refuses = nil
	// The request that takes it back is pending: Run goes on with that one, and not with the payment.
	running, stop := context.WithCancel(ctx)
	var runs sync.WaitGroup
	runs.Go(func() { a.Run(running, slog.New(slog.DiscardHandler)) })
	for must.Get(a.Keyed("refused"))(t).Status == service.Pending {
		must.Do(t, ctx.Err())
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	runs.Wait()
	golden.Equal(t, "status", service.Cancelled, must.Get(a.Cancel(ctx, m.Anchor))(t).Status)
	s.holds(south, "90", "0")
	_, err := a.Pay(ctx, "refused", order)
	must.Fail(t, err, zkbench.ErrPolicy, "the key of a payment that was taken back")
	golden.Contains(t, err.Error(), `idempotency key "refused" is cancelled`)
	golden.Equal(t, "requests", uint64(8), s.requests())
	must.FailGet(a.Cancel(ctx, []byte("nothing")))(t, zkbench.ErrParams, "no payment")
}

// TestAccountConsolidates: the tokens of a type become one. If the answer is lost, the request is pending, and Run goes on
// with it. A refused request stays pending until it is taken back.
func TestAccountConsolidates(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	pays, _ := s.account(south)
	merges, r := s.account(me)
	_, err := merges.Consolidate(ctx, "USD")
	must.Fail(t, err, zkbench.ErrPolicy, "nothing to merge")
	tokens := func() int {
		must.Do(t, merges.Sync(ctx))
		free, _, _, err := merges.Balance()
		must.Do(t, err)
		return free[0].Tokens
	}
	for i := range 4 {
		must.Get(pays.Pay(ctx, fmt.Sprint(i), s.asks(me, 5)))(t)
	}
	golden.Equal(t, "tokens", 4, tokens())
	m := must.Get(merges.Consolidate(ctx, "USD"))(t)
	golden.Equal(t, "status", service.Landed, m.Status)
	golden.Equal(t, "tokens", 1, tokens())
	s.holds(me, "20", "0")

	must.Get(pays.Pay(ctx, "one more", s.asks(me, 5)))(t)
	golden.Equal(t, "tokens", 2, tokens())
	lossy := &losing{Submitter: s.honest, loses: true}
	r.Through(func(ledger.Submitter) ledger.Submitter { return lossy })
	m = must.Get(merges.Consolidate(ctx, "USD"))(t)
	golden.Equal(t, "status", service.Pending, m.Status)
	lossy.loses = false
	running, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Go(func() { merges.Run(running, slog.New(slog.DiscardHandler)) })
	for must.Get(merges.Movement(m.Anchor))(t).Status == service.Pending {
		must.Do(t, ctx.Err())
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	all.Wait()
	golden.Equal(t, "tokens", 1, tokens())
	s.holds(me, "25", "0")

	must.Get(pays.Pay(ctx, "the last", s.asks(me, 5)))(t)
	must.Do(t, merges.Sync(ctx))
	s.submitter.refuses = &zkbench.CheckError{Check: "policy", Action: -1, Index: -1, Err: zkbench.ErrPolicy}
	r.Through(func(ledger.Submitter) ledger.Submitter { return s.submitter })
	_, err = merges.Consolidate(ctx, "USD")
	if refused, ok := errors.AsType[*wallet.RefusedError](err); !ok || !refused.Kept {
		t.Fatalf("refused: %v", err)
	}
	s.submitter.refuses = nil
	s.holds(me, "0", "30")
}

// TestAccountCut: if the ledger has recorded a payment and then cannot be followed, the payment is pending with its number, and
// nobody submits it again.
func TestAccountCut(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	ctx := t.Context()
	south, me := s.bank("south"), s.person()
	a, r := s.account(south)
	cutter := &cutting{Submitter: s.honest}
	r.Through(func(ledger.Submitter) ledger.Submitter { return cutter })
	r.Cut(&cutter.cut)
	for n, pay := range []func() (*service.Movement, error){
		func() (*service.Movement, error) { return a.Pay(ctx, "rent", s.asks(me, 10)) },
		func() (*service.Movement, error) { return a.Consolidate(ctx, "USD") },
	} {
		m := must.Get(pay())(t)
		golden.Equal(t, "status", service.Pending, m.Status)
		golden.Equal(t, "number", uint64(8+n), m.Number)
		golden.Equal(t, "number as told later", uint64(8+n), must.Get(a.Movement(m.Anchor))(t).Number)
		cutter.cut.Store(false)
		must.Do(t, a.Sync(ctx))
		golden.Equal(t, "status", service.Landed, must.Get(a.Movement(m.Anchor))(t).Status)
	}
	golden.Equal(t, "requests", uint64(9), s.requests())
}

// TestAccountAsksAgain: what a ledger has told of a payment, and its log does not show, is not believed for ever.
func TestAccountAsksAgain(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	south, me := s.bank("south"), s.person()
	a, r := s.account(south)
	cutter := &cutting{Submitter: s.honest}
	r.Through(func(ledger.Submitter) ledger.Submitter { return cutter })
	r.Cut(&cutter.cut)
	m := must.Get(a.Pay(t.Context(), "rent", s.asks(me, 10)))(t)
	golden.Equal(t, "number", uint64(8), m.Number)
	running, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { a.Run(running, slog.New(slog.DiscardHandler)) })
	time.Sleep(1500 * time.Millisecond)
	golden.Equal(t, "submitted, while it is believed", int64(1), cutter.submitted.Load())
	a.Age(m.Anchor, 2*time.Minute)
	for cutter.submitted.Load() < 2 {
		must.Do(t, t.Context().Err())
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	all.Wait()
	golden.Equal(t, "requests", uint64(8), s.requests())
	golden.Equal(t, "number, told once more", uint64(8), must.Get(a.Movement(m.Anchor))(t).Number)
}

// TestAccountWaits: a payment that waits for the change of another looks again a few times a second.
func TestAccountWaits(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	south, me := s.bank("south"), s.person()
	r, follows := s.payer(south), &counting{Reader: s.client()}
	a := wallet.NewAccount(south, r, follows, must.Get(wallet.NewKey())(t).Self())
	slow := &slowly{s.honest, make(chan struct{}), make(chan struct{})}
	r.Through(func(ledger.Submitter) ledger.Submitter { return slow })
	all := uint64(0)
	for _, free := range must.Get(south.Balance())(t).Free {
		if free.Type == "USD" {
			all = free.Sum.Uint64()
		}
	}
	var first sync.WaitGroup
	first.Go(func() {
		m := must.Get(a.Pay(t.Context(), "one", s.asks(me, all)))(t)
		golden.Equal(t, "status", service.Landed, m.Status)
	})
	<-slow.entered
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	_, err := a.Pay(ctx, "two", s.asks(me, 1))
	if _, short := errors.AsType[*service.FundsError](err); !short && !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a payment beside one of all tokens: %v", err)
	}
	golden.Within(t, "looks at the ledger", 1, int(follows.logs.Load()), 10)
	close(slow.release)
	first.Wait()
}

// counting is a ledger that counts how often its log is read.
type counting struct {
	ledger.Reader
	logs atomic.Int64
}

// Log implements ledger.Reader.
func (c *counting) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	c.logs.Add(1)
	return c.Reader.Log(ctx, from)
}

// slowly is a submitter that waits.
type slowly struct {
	ledger.Submitter
	entered, release chan struct{}
}

// Submit implements ledger.Submitter.
func (s *slowly) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	close(s.entered)
	<-s.release
	return s.Submitter.Submit(ctx, requests)
}

// cutting is a submitter that cuts its caller off from the log after each request.
type cutting struct {
	ledger.Submitter
	cut       atomic.Bool
	submitted atomic.Int64
}

// Submit implements ledger.Submitter.
func (c *cutting) Submit(ctx context.Context, requests [][]byte) ([]ledger.Verdict, error) {
	defer c.cut.Store(true)
	c.submitted.Add(1)
	return c.Submitter.Submit(ctx, requests)
}

// TestAccountRefuses: what a program asks for wrongly is refused with the field's name, and nothing is paid.
func TestAccountRefuses(t *testing.T) {
	t.Parallel()
	s := newServers(t)
	south, me := s.bank("south"), s.person()
	a, _ := s.account(south)
	order := s.asks(me, 1)
	id, address, err := service.ParseAddress(order.To)
	must.Do(t, err)
	id[0] ^= 1
	elsewhere := must.Get(service.FormatAddress(id, address))(t)
	for _, c := range []struct {
		says string
		is   error
		edit func(o *server.WalletOrder)
	}{
		{"to: ", zkbench.ErrMalformed, func(o *server.WalletOrder) { o.To = "me" }},
		{"to: ", zkbench.ErrMalformed, func(o *server.WalletOrder) { o.To = o.To[:len(o.To)-2] }},
		{"to: ", zkbench.ErrParams, func(o *server.WalletOrder) { o.To = elsewhere }},
		{"value: ", zkbench.ErrParams, func(o *server.WalletOrder) { o.Value = 0 }},
		{"value of 9 bits", zkbench.ErrParams, func(o *server.WalletOrder) { o.Value = 256 }},
		{"type of 0 bytes", zkbench.ErrParams, func(o *server.WalletOrder) { o.Type = "" }},
		{"insufficient funds", zkbench.ErrPolicy, func(o *server.WalletOrder) { o.Type = "none" }},
		{"an end of validity", zkbench.ErrParams, func(o *server.WalletOrder) { o.Until = 1<<64 - 1 }},
		{"payee: ", zkbench.ErrParams, func(o *server.WalletOrder) { o.Payee = "ed25519:00" }},
		{"to: ", zkbench.ErrSignature, func(o *server.WalletOrder) { o.Payee = "ed25519:" + strings.Repeat("5a", 31) + "1b" }},
	} {
		o := order
		c.edit(&o)
		_, err := a.Pay(t.Context(), "key", o)
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v; want %v: ...%s", o, err, c.is, c.says)
		}
	}
	golden.Equal(t, "requests", uint64(7), s.requests())
	order.Payee = me.Name()
	golden.Equal(t, "status", service.Landed, must.Get(a.Pay(t.Context(), "key", order))(t).Status)
}
