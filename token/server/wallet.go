package server

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"connectrpc.com/connect"
	"golang.org/x/sync/singleflight"
	"google.golang.org/protobuf/proto"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/rpc"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1"
	"github.com/zkbench/zkbench/token/internal/rpc/tokenv1/tokenv1connect"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/peer"
	"github.com/zkbench/zkbench/token/service"
)

// Wallet is a wallet that programs use through NewWallet. It is safe for concurrent use.
type Wallet interface {
	Genesis() ledger.Genesis
	// Name says for people who owns the wallet's tokens.
	Name() string
	// Followed returns the number of the last record that Sync has seen.
	Followed() (uint64, error)
	// Sync follows the ledger.
	Sync(ctx context.Context) error
	// NewAddress returns a signed address for one payment, as text.
	NewAddress() (string, error)
	// Pay makes the payment of an idempotency key, or goes on with it if the wallet has made it before: then it pays nothing
	// more. The payment that it returns is pending or landed. It returns a *KeyError if another order was given under the
	// key. The server calls it for one key once at a time.
	Pay(ctx context.Context, key string, o WalletOrder) (*service.Movement, error)
	// Keyed returns the payment of an idempotency key, or nil if there is none.
	Keyed(key string) (*service.Movement, error)
	// Movement returns the movement with an anchor, or nil if there is none.
	Movement(anchor []byte) (*service.Movement, error)
	// Cancel takes the pending payment with an anchor back, and returns what became of it.
	Cancel(ctx context.Context, anchor []byte) (*service.Movement, error)
	// Consolidate merges the smallest tokens of a type into one, and returns the payment of the wallet to itself, which is
	// pending or landed. The server calls it once at a time.
	Consolidate(ctx context.Context, typ string) (*service.Movement, error)
	// Balance returns what can be spent, what pending payments hold, and the anchors of these.
	Balance() (free, held []service.Total, pending [][]byte, err error)
	// HistoryAfter yields the movements after a place in the history.
	HistoryAfter(place uint64) iter.Seq2[service.Movement, error]
	// Receipt returns a receipt for an output of a payment, from 1.
	Receipt(ctx context.Context, anchor []byte, output uint64) ([]byte, error)
	// Check compares the wallet with the ledger, and returns the differences. If validate is true, it also validates the
	// whole log. The server calls Sync first.
	Check(ctx context.Context, validate bool) ([]service.Finding, error)
}

// WalletOrder is what a program asks a wallet to pay.
type WalletOrder struct {
	To    string // an address, as text
	Value uint64
	Type  string
	Until uint64 // the last time of the ledger, in Unix seconds, at which it may record the payment; 0: no end
	Payee string // the key that must have signed the address, as text; empty: any address is accepted
}

// KeyError says that another order was given under an idempotency key before. It wraps zkbench.ErrAnchorConflict.
type KeyError struct{ Key string }

func (e *KeyError) Error() string {
	return fmt.Sprintf("%v: another order was given under the idempotency key %q", zkbench.ErrAnchorConflict, e.Key)
}

func (e *KeyError) Unwrap() error { return zkbench.ErrAnchorConflict }

const (
	maxPaying    = 64            // payments that are made at one time
	maxOwnPaying = maxPaying / 2 // those of one client, which go on when it has gone
	defaultMost  = 100           // movements of a page
	maxMost      = 1000          // movements of a page
)

// NewWallet returns the service of a wallet for the programs of its owner. The server that it is given to makes the wallet
// follow its ledger until it stops, and compares it with the ledger. Without TLS, every program on this machine may pay from
// the wallet; calls under a host name that is not this machine's are refused, as web pages of others make them.
func NewWallet(w Wallet) (Service, error) {
	if w == nil {
		return Service{}, refused("a service of a wallet needs the wallet")
	}
	s := &walletService{Wallet: w, ledger: w.Genesis().ID(), checks: make(chan struct{}, 1), paying: make(map[string]*paying), merging: make(chan struct{}, 1)}
	s.follower = newFollower(peer.Wallet, w.Sync, w.Followed)
	s.checker = newChecker(s.follower, func(ctx context.Context) ([]service.Finding, error) { return w.Check(ctx, false) })
	s.watch = newWatch(pollInterval, s.looks)
	return Service{
		name:    tokenv1connect.WalletServiceName,
		clients: []peer.Role{peer.Program},
		handler: func(opts ...connect.HandlerOption) (string, http.Handler) {
			return tokenv1connect.NewWalletServiceHandler(s, opts...)
		},
		header: ledgerHeader(s.ledger),
		attach: func(server *Server) error {
			s.server = server
			return errors.Join(s.follower.begin(server), s.checker.begin(server))
		},
	}, nil
}

// walletService implements WalletService.
type walletService struct {
	Wallet
	ledger   token.LedgerID
	server   *Server
	follower *follower
	checker  *checker
	watch    *watch
	merging  chan struct{} // holds one while tokens are merged
	checks   chan struct{} // has a value while a call of Check runs

	cancels singleflight.Group // by anchor: a second request to take a payment back could only be refused

	mu     sync.Mutex
	paying map[string]*paying // by idempotency key
}

var _ tokenv1connect.WalletServiceHandler = (*walletService)(nil)

// paying is a call of Pay that runs. Others with the same key wait for it.
type paying struct {
	client *allowance
	order  WalletOrder
	done   chan struct{} // closed when the fields below are set
	paid   *service.Movement
	err    error
}

func keyTopic(key string) string { return "key " + key }

// looks begins to look at the ledger. Whatever is new there may concern any payment.
func (s *walletService) looks() looker {
	var seen uint64
	begun := false
	return func(ctx context.Context) (topics []string, err error) {
		if err := s.Wallet.Sync(ctx); err != nil {
			return nil, err
		}
		last, err := s.Followed()
		if err != nil {
			return nil, err
		}
		if !begun || last != seen {
			topics = append(topics, everything)
		}
		begun, seen = true, last
		return topics, nil
	}
}

func (s *walletService) GetWallet(context.Context, *tokenv1.GetWalletRequest) (*tokenv1.GetWalletResponse, error) {
	last, err := s.Followed()
	return &tokenv1.GetWalletResponse{Protocol: rpc.Protocol, Ledger: s.ledger[:], Name: text(s.Name()), Followed: last}, err
}

func (s *walletService) NewAddress(context.Context, *tokenv1.NewAddressRequest) (*tokenv1.NewAddressResponse, error) {
	text, err := s.Wallet.NewAddress()
	return &tokenv1.NewAddressResponse{Address: text}, err
}

func (s *walletService) Pay(ctx context.Context, r *tokenv1.PayRequest) (*tokenv1.PayResponse, error) {
	if err := checkKey(r.GetKey()); err != nil {
		return nil, err
	}
	m, err := s.pay(ctx, r.GetKey(), WalletOrder{To: r.GetTo(), Value: r.GetValue(), Type: r.GetType(), Until: r.GetUntil(), Payee: r.GetPayee()})
	if err != nil {
		return nil, err
	}
	return &tokenv1.PayResponse{Payment: sent(m)}, nil
}

// checkKey returns ErrParams if a text is not an idempotency key.
func checkKey(key string) error {
	if n := len(key); n < 1 || n > rpc.MaxKey || !utf8.ValidString(key) {
		return refused("an idempotency key of %d bytes; accepted: 1 to %d", n, rpc.MaxKey)
	}
	return nil
}

// mayBegin returns an error when the server stops. What has begun by then is answered.
func (s *walletService) mayBegin() error {
	select {
	case <-s.server.stopping:
		return errStopping
	default:
		return nil
	}
}

// pay makes a payment, or waits for another call that makes the payment of the same key. A payment that has begun goes on
// when its caller has gone.
func (s *walletService) pay(ctx context.Context, key string, o WalletOrder) (*service.Movement, error) {
	if err := s.mayBegin(); err != nil {
		return nil, err
	}
	s.mu.Lock()
	p, n := s.paying[key], len(s.paying)
	if p != nil {
		s.mu.Unlock()
		if p.order != o {
			return nil, &KeyError{key}
		}
		select {
		case <-p.done:
			return p.paid, p.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	client, own := callOf(ctx).allowance, 0
	for _, other := range s.paying {
		if other.client == client {
			own++
		}
	}
	var full error
	switch {
	case n == maxPaying:
		full = busy("payments at one time", maxPaying+1, maxPaying)
	case own == maxOwnPaying:
		full = busy("payments of one client at one time", maxOwnPaying+1, maxOwnPaying)
	}
	if full != nil {
		s.mu.Unlock()
		return nil, full
	}
	p = &paying{client: client, order: o, done: make(chan struct{}), err: errors.New("panic")}
	s.paying[key] = p
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.paying, key)
		s.mu.Unlock()
		close(p.done)
		topics := []string{keyTopic(key)}
		if p.paid != nil {
			topics = append(topics, anchorTopic(p.paid.Anchor))
		}
		s.watch.tell(topics...)
	}()
	p.paid, p.err = s.Wallet.Pay(context.WithoutCancel(ctx), key, o)
	if _, own := errors.AsType[*KeyError](p.err); !own && errors.Is(p.err, zkbench.ErrAnchorConflict) {
		// An auditor or the ledger says so. A program would take it for a key that is in use, and pay twice with another.
		p.err = fmt.Errorf("%w: %v", zkbench.ErrPolicy, p.err)
	}
	s.count(p.paid, p.err)
	return p.paid, p.err
}

// count counts what became of a payment.
func (s *walletService) count(m *service.Movement, err error) {
	status := ""
	if err == nil {
		status = m.Status.String()
	}
	s.server.metrics.verdict(err, status)
}

// sent returns the message of a payment, or nil.
func sent(m *service.Movement) *tokenv1.Sent {
	if m == nil {
		return nil
	}
	return &tokenv1.Sent{Anchor: m.Anchor, Status: tokenv1.Status(m.Status), Number: m.Number}
}

// find returns the wallet's payment with an anchor or a key. If it is being made, it may have no anchor yet.
func (s *walletService) find(anchor []byte, key string) (*service.Movement, error) {
	if (len(anchor) > 0) == (key != "") {
		return nil, refused("a payment is named by an anchor or by a key")
	}
	if key != "" {
		if err := checkKey(key); err != nil {
			return nil, err
		}
		s.mu.Lock()
		_, paying := s.paying[key]
		s.mu.Unlock()
		m, err := s.Keyed(key)
		if m == nil && paying && err == nil {
			m = &service.Movement{Status: service.Pending}
		}
		return m, err
	}
	if len(anchor) > token.MaxAnchor {
		return nil, refused("an anchor of %d bytes; accepted: 1 to %d", len(anchor), token.MaxAnchor)
	}
	m, err := s.Movement(anchor)
	if m != nil && !m.Made && len(m.Spent) == 0 { // somebody's who pays to the wallet
		m = nil
	}
	return m, err
}

// made waits until no call makes the payment of a key.
func (s *walletService) made(ctx context.Context, key string) error {
	s.mu.Lock()
	p := s.paying[key]
	s.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *walletService) GetPayment(ctx context.Context, r *tokenv1.GetPaymentRequest) (*tokenv1.GetPaymentResponse, error) {
	answer := &tokenv1.GetPaymentResponse{}
	topic := keyTopic(r.GetKey())
	if len(r.GetAnchor()) > 0 {
		topic = anchorTopic(r.GetAnchor())
	}
	err := s.server.wait(ctx, s.watch, topic, r.GetWaitMs(), func(context.Context) (bool, error) {
		m, err := s.find(r.GetAnchor(), r.GetKey())
		answer.Payment = sent(m)
		return m == nil || m.Status != service.Pending, err
	})
	return answer, err
}

func (s *walletService) CancelPayment(ctx context.Context, r *tokenv1.CancelPaymentRequest) (*tokenv1.CancelPaymentResponse, error) {
	m, err := s.find(r.GetAnchor(), r.GetKey())
	if m != nil && len(m.Anchor) == 0 { // a call makes it now: it cannot be taken back before
		if err := s.made(ctx, r.GetKey()); err != nil {
			return nil, err
		}
		m, err = s.Keyed(r.GetKey())
	}
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("%w: the wallet has made no such payment", ledger.ErrNotFound)
	}
	defer s.watch.tell(keyTopic(r.GetKey()), anchorTopic(m.Anchor))
	cancelled, err, _ := s.cancels.Do(string(m.Anchor), func() (any, error) { return s.Cancel(context.WithoutCancel(ctx), m.Anchor) })
	if err != nil {
		return nil, err
	}
	return &tokenv1.CancelPaymentResponse{Payment: sent(cancelled.(*service.Movement))}, nil
}

func (s *walletService) Consolidate(ctx context.Context, r *tokenv1.ConsolidateRequest) (*tokenv1.ConsolidateResponse, error) {
	if err := s.mayBegin(); err != nil {
		return nil, err
	}
	select {
	case s.merging <- struct{}{}:
	default:
		return nil, busy("calls that merge tokens", 2, 1)
	}
	defer func() { <-s.merging }()
	m, err := s.Wallet.Consolidate(context.WithoutCancel(ctx), r.GetType())
	if s.count(m, err); err != nil {
		return nil, err
	}
	return &tokenv1.ConsolidateResponse{Payment: sent(m)}, nil
}

func (s *walletService) GetBalance(ctx context.Context, _ *tokenv1.GetBalanceRequest) (answer *tokenv1.GetBalanceResponse, err error) {
	err = s.server.limits.read(ctx, func() error { // all tokens are in memory meanwhile
		last, err := s.Followed()
		if err != nil {
			return err
		}
		free, held, pending, err := s.Balance()
		answer = &tokenv1.GetBalanceResponse{Free: amounts(free), Held: amounts(held), Pending: pending, Followed: last}
		return err
	})
	return answer, err
}

// amounts returns the messages of sums.
func amounts(totals []service.Total) (all []*tokenv1.Amount) {
	for _, t := range totals {
		all = append(all, &tokenv1.Amount{Type: text(t.Type), Sum: t.Sum.String(), Tokens: uint64(t.Tokens)})
	}
	return all
}

// text returns a text that others may have chosen in the form that messages have.
func text(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

func (s *walletService) ListHistory(ctx context.Context, r *tokenv1.ListHistoryRequest) (*tokenv1.ListHistoryResponse, error) {
	most := int(r.GetMost())
	switch {
	case most > maxMost:
		return nil, &zkbench.LimitError{What: "movements of a page", Estimate: int64(most), Max: maxMost}
	case most == 0:
		most = defaultMost
	}
	page := &tokenv1.ListHistoryResponse{}
	for m, err := range s.HistoryAfter(r.GetAfter()) {
		if err != nil {
			return nil, err
		}
		if len(page.Movements) == most {
			page.More = true
			break
		}
		page.Movements = append(page.Movements, movement(&m))
		if err := callOf(ctx).answers(proto.Size(page.Movements[len(page.Movements)-1])); err != nil {
			return nil, err
		}
	}
	return page, nil
}

// movement returns the message of a movement. It leaves out the blindings, which are secret.
func movement(m *service.Movement) *tokenv1.Movement {
	out := &tokenv1.Movement{
		Place: m.Place, Anchor: m.Anchor, Status: tokenv1.Status(m.Status), Number: m.Number, Made: m.Made,
		Spent: amounts(service.Totals(m.Spent)), Received: amounts(service.Totals(m.Received)),
	}
	if m.Status == service.Landed {
		out.Time = m.Time.UnixNano()
	}
	for _, p := range m.Paid {
		out.Outputs = append(out.Outputs, &tokenv1.Output{Type: text(p.Type), Value: p.Value, Owner: p.Owner})
	}
	return out
}

func (s *walletService) Sync(ctx context.Context, _ *tokenv1.SyncRequest) (*tokenv1.SyncResponse, error) {
	if err := s.Wallet.Sync(ctx); err != nil {
		return nil, err
	}
	last, err := s.Followed()
	return &tokenv1.SyncResponse{Followed: last}, err
}

func (s *walletService) MakeReceipt(ctx context.Context, r *tokenv1.MakeReceiptRequest) (*tokenv1.MakeReceiptResponse, error) {
	answer := &tokenv1.MakeReceiptResponse{}
	err := s.server.limits.read(ctx, func() (err error) {
		if answer.Receipt, err = s.Receipt(ctx, r.GetAnchor(), r.GetOutput()); err != nil {
			return err
		}
		return callOf(ctx).answers(len(answer.Receipt))
	})
	return answer, err
}

func (s *walletService) Check(ctx context.Context, r *tokenv1.CheckRequest) (answer *tokenv1.CheckResponse, err error) {
	ctx, stop := s.server.until(ctx)
	defer stop()
	select { // a check reads all tokens of the wallet and their records, or the whole log
	case s.checks <- struct{}{}:
		defer func() { <-s.checks }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	var findings []service.Finding
	if r.GetValidate() {
		if err = s.follower.now(ctx, nil); err == nil {
			findings, err = s.Wallet.Check(ctx, true)
		}
	} else {
		findings, err = s.checker.confirmed(ctx)
	}
	if err != nil {
		return nil, err
	}
	answer = new(tokenv1.CheckResponse)
	if answer.Followed, err = s.Followed(); err != nil {
		return nil, err
	}
	for _, f := range findings {
		answer.Findings = append(answer.Findings, &tokenv1.Finding{Kind: string(f.Kind), Token: f.Token, Anchor: f.Anchor, Number: f.Number})
	}
	return answer, nil
}
