package wallet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"sync"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// Account is a wallet as programs use it through a server. It is safe for concurrent use.
type Account struct {
	*Purse
	payer  *Payer
	ledger ledger.Reader
	signer identity.Signer // of addresses; nil: the wallet's own key

	checking sync.Mutex // held by a check that validates: it has a file

	mu     sync.Mutex
	paying map[string]int  // how many calls make or submit the payment with an anchor now
	told   map[string]told // of pending payments
	ended  chan struct{}   // closed when a call that pays has ended
}

var _ server.Wallet = (*Account)(nil)

// NewAccount returns the wallet p as programs use it. Its payments are made by r, on the ledger l. The parameter signer signs
// the wallet's addresses; if it is nil, the wallet's own key does, which a wallet with pseudonyms does not have. The caller
// must call Run, and close the payer and the wallet.
func NewAccount(p *Purse, r *Payer, l ledger.Reader, signer identity.Signer) *Account {
	return &Account{Purse: p, payer: r, ledger: l, signer: signer, paying: make(map[string]int), told: make(map[string]told), ended: make(chan struct{})}
}

// NewAddress returns a fresh, signed address as text.
func (s *Account) NewAddress() (string, error) { return s.Purse.NewAddress(s.signer) }

// Sync follows the ledger.
func (s *Account) Sync(ctx context.Context) error { return s.Purse.Sync(ctx, s.ledger) }

// Balance returns what can be spent, what pending payments hold, and the anchors of these.
func (s *Account) Balance() (free, held []service.Total, pending [][]byte, err error) {
	b, err := s.Purse.Balance()
	if err != nil {
		return nil, nil, nil, err
	}
	return b.Free, b.Held, b.Waiting, nil
}

// Receipt returns a receipt for an output of a payment, from 1.
func (s *Account) Receipt(ctx context.Context, anchor []byte, output uint64) ([]byte, error) {
	return s.Purse.Receipt(ctx, s.ledger, anchor, output)
}

// Check compares the wallet with the ledger. Call Sync first.
func (s *Account) Check(ctx context.Context, validate bool) ([]service.Finding, error) {
	if validate {
		s.checking.Lock()
		defer s.checking.Unlock()
	}
	return s.Purse.Check(ctx, s.ledger, validate)
}

// Movement returns the last movement with an anchor, or nil if there is none.
func (s *Account) Movement(anchor []byte) (*service.Movement, error) {
	m, err := s.Purse.Movement(anchor)
	return s.numbered(m), err
}

// Keyed returns the payment of an idempotency key, or nil if there is none.
func (s *Account) Keyed(key string) (*service.Movement, error) {
	m, err := s.Wallet.Keyed([]byte(key))
	return s.numbered(m), err
}

// numbered adds to a pending payment the number that the ledger has told.
func (s *Account) numbered(m *service.Movement) *service.Movement {
	if m != nil && m.Status == service.Pending {
		s.mu.Lock()
		defer s.mu.Unlock()
		m.Number = s.told[string(m.Anchor)].valid()
	}
	return m
}

// order checks an order. It also returns the order's encoding, for the anchor.
func (s *Account) order(o server.WalletOrder) (order service.Order, encoded []byte, err error) {
	id, to, err := service.ParseAddress(o.To)
	if err != nil {
		return order, nil, fmt.Errorf("to: %w", err)
	}
	if own := token.LedgerID(s.Genesis().ID()); id != own {
		return order, nil, &argument.ValueError{Field: "to", Value: fmt.Sprintf("an address of ledger %x...", id[:8]), Accepted: fmt.Sprintf("an address of this ledger, %x...", own[:8])}
	}
	if o.Payee != "" {
		known, err := keyfile.ParseEd25519(o.Payee)
		if err != nil {
			return order, nil, &argument.ValueError{Field: "payee", Value: o.Payee, Accepted: keyfile.Ed25519Prefix + " and 64 hexadecimal digits"}
		}
		if err := to.Verify(id, nil, known); err != nil {
			return order, nil, fmt.Errorf("to: %w; accepted: an address that the payee's key has signed", err)
		}
	}
	if o.Value == 0 {
		return order, nil, &argument.ValueError{Field: "value", Value: "0", Accepted: "1 or more"}
	}
	order = service.Order{Type: o.Type, Payments: []service.Payment{{To: to, Value: o.Value}}}
	if o.Until > 0 {
		order.Until = time.Unix(int64(min(o.Until, 1<<62)), 0)
	}
	address, err := to.Encode()
	if err != nil {
		return order, nil, err
	}
	return order, fmt.Appendf(nil, "%q %d %d %x", o.Type, o.Value, o.Until, address), nil
}

// Pay makes the payment of an idempotency key, or goes on with it. What the vault stores decides which: as soon as the
// payment is durable there, its anchor names key and order. Until then nobody else has seen it.
func (s *Account) Pay(ctx context.Context, key string, o server.WalletOrder) (*service.Movement, error) {
	order, encoded, err := s.order(o)
	if err != nil {
		return nil, err
	}
	order.Anchor = s.KeyedAnchor([]byte(key), encoded)
	m, err := s.Keyed(key)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		m, err = s.first(ctx, order)
	case !bytes.Equal(m.Anchor, order.Anchor):
		return nil, &server.KeyError{Key: key}
	case m.Status == service.Pending && m.Number == 0:
		m, err = s.again(ctx, m.Anchor)
	case m.Status == service.Refused || m.Status == service.Cancelled:
		err = fmt.Errorf("%w: the payment of the idempotency key %q is %v, and will not be made; another key pays", zkbench.ErrPolicy, key, m.Status)
	}
	return s.known(ctx, order.Anchor, m, err)
}

// first makes a payment. If too few tokens are free, it waits for those that other payments give back as change.
func (s *Account) first(ctx context.Context, order service.Order) (*service.Movement, error) {
	ctx, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	patience := time.After(changeTime)
	for {
		m, err := s.pay(ctx, order)
		ended := s.ending() // of others: this call has ended
		funds, short := errors.AsType[*service.FundsError](err)
		if !short || !s.coming(order.Type, funds) {
			return m, err
		}
		select {
		case <-patience:
			return nil, err
		case <-ctx.Done():
			return nil, err
		case <-ended:
		case <-time.After(changePause):
		}
		if err := s.Sync(ctx); err != nil {
			return nil, err
		}
	}
}

// pay makes a payment while others know that it is under way.
func (s *Account) pay(ctx context.Context, order service.Order) (*service.Movement, error) {
	defer s.begin(string(order.Anchor))()
	return s.payer.PayKept(ctx, order)
}

const (
	payTime     = 2 * time.Minute        // that a call spends on a payment; then Run goes on with it
	changeTime  = 10 * time.Second       // that a payment waits for the change of others
	changePause = 200 * time.Millisecond // after which it looks again
)

// coming reports whether payments that are under way may give back the tokens that another one lacks.
func (s *Account) coming(typ string, lacks *service.FundsError) bool {
	s.mu.Lock()
	others := len(s.paying) > 0
	s.mu.Unlock()
	if others {
		return true
	}
	b, err := s.Purse.Balance()
	if err != nil {
		return false
	}
	sum := new(big.Int).SetUint64(lacks.Have)
	for _, t := range b.Held {
		if t.Type == typ {
			sum.Add(sum, t.Sum)
		}
	}
	return sum.Cmp(new(big.Int).SetUint64(lacks.Want)) >= 0
}

// begin counts a call that makes or submits the payment with an anchor, until done is called.
func (s *Account) begin(anchor string) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paying[anchor]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.paying[anchor]--; s.paying[anchor] == 0 {
			delete(s.paying, anchor)
		}
		close(s.ended)
		s.ended = make(chan struct{})
	}
}

// ending returns a channel that is closed when the next call that pays ends.
func (s *Account) ending() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// again submits a pending payment again.
func (s *Account) again(ctx context.Context, anchor []byte) (*service.Movement, error) {
	ctx, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	defer s.begin(string(anchor))()
	return s.payer.Again(ctx, anchor)
}

// known returns the outcome of submitting a payment: the payment if it is on the ledger or may be, else the error.
func (s *Account) known(ctx context.Context, anchor []byte, m *service.Movement, err error) (*service.Movement, error) {
	if _, refused := errors.AsType[*RefusedError](err); refused {
		return nil, err
	}
	if landed, ok := errors.AsType[*LandedError](err); ok {
		s.tell(anchor, landed.Seq)
	}
	if err != nil { // the payment is pending if it was made
		m, lost := s.Movement(anchor)
		if m == nil || m.Status != service.Pending || lost != nil {
			return nil, err
		}
		return m, nil
	}
	if m.Status == service.Pending && m.Number == 0 { // it is on the ledger, and no signed head covers it yet
		if r, found, err := s.ledger.Record(ctx, anchor); err == nil && found {
			m.Number = r.Seq
			s.tell(anchor, r.Seq)
		}
	}
	return m, nil
}

// tell keeps the number of a pending payment.
func (s *Account) tell(anchor []byte, number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told[string(anchor)] = told{number, time.Now()}
}

// told is the number under which the ledger says that it has recorded a payment.
type told struct {
	number uint64
	at     time.Time
}

// toldTime is how long a ledger is believed that it has a payment, which its log or a signed head does not show yet.
const toldTime = time.Minute

// valid returns the number, or 0 if the ledger must be asked again: it may have lied, or lost the payment.
func (t told) valid() uint64 {
	if time.Since(t.at) > toldTime {
		return 0
	}
	return t.number
}

// Cancel takes the pending payment with an anchor back, and returns what became of it.
func (s *Account) Cancel(ctx context.Context, anchor []byte) (*service.Movement, error) {
	m, err := s.Movement(anchor)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("%w: the wallet has made no payment %x", zkbench.ErrParams, anchor)
	case m.Status != service.Pending:
		return m, nil
	}
	ctx, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	defer s.begin(string(anchor))() // so Run does not submit it meanwhile
	_, cancelling := s.payer.Cancel(ctx, anchor)
	if cancelling == nil {
		cancelling = s.Sync(ctx)
	}
	now, err := s.Movement(anchor)
	if now == nil || err != nil {
		return nil, cmp.Or(err, cancelling)
	}
	_, unknown := errors.AsType[*UnknownError](cancelling)
	_, landed := errors.AsType[*LandedError](cancelling)
	if cancelling == nil || unknown || landed || now.Status != service.Pending {
		return now, nil
	}
	return nil, cancelling
}

// Consolidate merges the smallest tokens of a type into one.
func (s *Account) Consolidate(ctx context.Context, typ string) (*service.Movement, error) {
	ctx, cancel := context.WithTimeout(ctx, payTime)
	defer cancel()
	m, err := s.payer.Consolidate(ctx, typ)
	unknown, isUnknown := errors.AsType[*UnknownError](err)
	landed, isLanded := errors.AsType[*LandedError](err)
	switch {
	case isUnknown:
		return s.known(ctx, unknown.Anchor, m, err)
	case isLanded:
		return s.known(ctx, landed.Anchor, m, err)
	case err != nil:
		return nil, err
	}
	return s.known(ctx, m.Anchor, m, nil)
}

// The time between attempts to learn what became of pending payments begins with resumePause. It doubles up to
// maxResumePause while some remain.
const (
	resumePause    = time.Second
	maxResumePause = time.Minute
)

// Run goes on with the payments whose outcome is not known, until ctx ends: those that were pending when the last process
// ended, and those whose answers were lost. It logs why a payment remains pending.
func (s *Account) Run(ctx context.Context, log *slog.Logger) {
	pause := resumePause
	for ctx.Err() == nil {
		left, err := s.resume(ctx, log)
		if err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "the pending payments cannot be read", "error", err)
		}
		if left == 0 {
			pause = resumePause
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
		pause = min(2*pause, maxResumePause)
	}
}

// resume submits the pending payments again that no call submits, and returns how many of them remain unknown.
func (s *Account) resume(ctx context.Context, log *slog.Logger) (left int, err error) {
	waiting, err := s.unknown()
	if err != nil {
		return 0, err
	}
	for _, anchor := range waiting {
		if ctx.Err() != nil {
			return left, nil
		}
		m, why := s.again(ctx, anchor)
		if m, err := s.known(ctx, anchor, m, why); err == nil && (m == nil || m.Status != service.Pending || m.Number > 0) {
			continue
		}
		left++
		if ctx.Err() == nil {
			log.WarnContext(ctx, "payment pending", "anchor", fmt.Sprintf("%x", anchor), "error", why)
		}
	}
	return left, nil
}

// unknown returns the anchors of the pending payments that the ledger has not told of, and that no call submits. It leaves
// out those that a later payment takes back: if they were submitted again, they might be the faster ones.
func (s *Account) unknown() (anchors [][]byte, err error) {
	var all []*service.Movement
	last := make(map[string]uint64) // the place of the last payment that spends a token
	for k, err := range s.Submissions() {
		if err != nil {
			return nil, err
		}
		m, err := s.Movement(k.Request.Anchor)
		if err != nil {
			return nil, err
		}
		if m == nil || m.Status != service.Pending || k.Released {
			continue
		}
		all = append(all, m)
		for _, h := range m.Spent {
			last[string(h.ID)] = max(last[string(h.ID)], m.Place)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := make(map[string]told)
	for _, m := range all {
		taken := false
		for _, h := range m.Spent {
			taken = taken || last[string(h.ID)] > m.Place
		}
		if told := s.told[string(m.Anchor)]; told.valid() > 0 {
			pending[string(m.Anchor)] = told
		} else if !taken && s.paying[string(m.Anchor)] == 0 {
			anchors = append(anchors, m.Anchor)
		}
	}
	s.told = pending // the others have landed
	return anchors, nil
}
