package service_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/policy"
	"github.com/zkbench/zkbench/token/service"
)

// mixer is one goroutine of the mix.
type mixer struct {
	*mixed
	*rand.Rand
}

// do does an operation; one of eight is given up after a while, wherever it is.
func (m *mixer) do(operation func(*mixer, context.Context) error) error {
	patience := time.Hour
	if m.IntN(8) == 0 {
		patience = time.Duration(m.IntN(50)) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := operation(m, ctx)
	if ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, zkbench.ErrOutcomeUnknown)) {
		say("did", "giveup")
		return nil
	}
	return err
}

// somebody draws two parties.
func (m *mixer) somebody() (p, q *party) {
	order := m.Perm(len(m.wallets))
	return m.wallets[order[0]], m.wallets[order[1]]
}

// order returns an order of a type, which is drawn, with metadata that no other order has. If two payments have the
// same metadata, only one of them may ever be recorded.
func (m *mixer) order(payments ...service.Payment) service.Order {
	return service.Order{Type: mixTypes[m.IntN(2)], Payments: payments, Metadata: m.fresh(16)}
}

func (m *mixer) fresh(n int) (b []byte) {
	for len(b) < n {
		b = binary.BigEndian.AppendUint64(b, m.Uint64())
	}
	return b[:n]
}

// shared makes an address of 2 of Ann, Ben and Cid.
func (m *mixer) shared() (service.Address, error) {
	var of []service.Address
	for _, p := range m.wallets[:3] {
		a, err := p.Address(nil)
		if err != nil {
			return a, err
		}
		of = append(of, a)
	}
	return service.Shared(2, of...)
}

// operations are what the goroutines of a mix do, each as often as it stands here.
var operations = []struct {
	name   string
	weight int
	do     func(m *mixer, ctx context.Context) error
}{
	{"issue", 10, (*mixer).issues},
	{"transfer", 20, (*mixer).transfers},
	{"deal", 10, (*mixer).deals},
	{"sale", 4, (*mixer).sells},
	{"shared", 10, (*mixer).sharedPays},
	{"lock", 8, (*mixer).locks},
	{"unlock", 14, (*mixer).unlocks},
	{"redeem", 4, (*mixer).redeems},
	{"cancel", 6, (*mixer).cancels},
	{"consolidate", 6, (*mixer).consolidates},
	{"discard", 3, (*mixer).discards},
	{"tidy", 10, (*mixer).tidies},
	{"follow", 8, (*mixer).follows},
	{"update", 1, (*mixer).updates},
}

// mixKinds are what must have landed in a mix, or was done.
var mixKinds = []string{
	"issue", "transfer", "deal", "sale", "shared", "lock", "claim", "reclaim", "redeem", "cancel", "again", "consolidate", "resubmit", "update",
	"release", "discard", "compare", "giveup",
}

func (m *mixer) issues(ctx context.Context) error {
	o := m.order()
	for range 1 + m.IntN(3) {
		p, _ := m.somebody()
		to, err := p.Address(nil)
		if m.IntN(4) == 0 {
			to, err = m.shared()
		}
		if err != nil {
			return err
		}
		o.Payments = append(o.Payments, service.Payment{To: to, Value: 1 + m.Uint64N(200)})
	}
	sub, err := m.issuer.Issue(ctx, o)
	if err != nil {
		return err
	}
	if m.IntN(8) == 0 {
		return nil // lost
	}
	return m.deliver(ctx, "issue", sub)
}

// pays draws an order of a party's to another.
func (m *mixer) pays(p, q *party) (o service.Order, err error) {
	o = m.order()
	h, err := p.Holdings(o.Type)
	if err != nil {
		return o, err
	}
	for range 1 + m.IntN(2) {
		to, err := q.Address(nil)
		if err != nil {
			return o, err
		}
		o.Payments = append(o.Payments, service.Payment{To: to, Value: m.Uint64N(h.Sum.Uint64()/2 + 2)})
	}
	return o, nil
}

func (m *mixer) transfers(ctx context.Context) error {
	p, q := m.somebody()
	var orders []service.Order
	for range 1 + m.IntN(2) {
		o, err := m.pays(p, q)
		if err != nil {
			return err
		}
		orders = append(orders, o)
	}
	if m.IntN(4) == 0 {
		until := time.Now().Add(time.Duration(m.IntN(3)) * time.Second)
		for i := range orders {
			orders[i].Until = until
		}
	}
	sub, err := p.pay.Transfer(ctx, orders...)
	if err != nil {
		return err
	}
	if m.IntN(5) == 0 {
		return nil // lost
	}
	return m.deliver(ctx, "transfer", sub)
}

// deals has two parties exchange what one has of one type for what the other has of the other type.
func (m *mixer) deals(ctx context.Context) error {
	p, q := m.somebody()
	anchor := m.fresh(24)
	gives := [2]uint64{1 + m.Uint64N(40), 1 + m.Uint64N(40)}
	var parts []*service.Submission
	for i, pair := range [2][2]*party{{p, q}, {q, p}} {
		to, err := pair[1].Address(nil)
		if err != nil {
			return err
		}
		o := service.Order{Anchor: anchor, Type: mixTypes[i], Payments: []service.Payment{{To: to, Value: gives[i]}}, Metadata: m.fresh(16)}
		part, err := pair[0].pay.Propose(ctx, i, o)
		if err != nil && i == 1 {
			err = errors.Join(err, done("discard", p.Discard(ctx, anchor)))
		}
		if err != nil {
			return err
		}
		parts = append(parts, part)
	}
	sub, err := service.Join(parts...)
	if err != nil {
		return err
	}
	first := m.IntN(2)
	for n, i := range []int{first, 1 - first} {
		if m.IntN(8) == 0 {
			return nil // has second thoughts, or has gone
		}
		d := service.Deal{Gives: service.Amounts{mixTypes[i]: gives[i]}, Gets: service.Amounts{mixTypes[1-i]: gives[1-i]}}
		if err := []*party{p, q}[i].pay.Sign(ctx, sub, d); err != nil {
			return fmt.Errorf("signing a deal as party %d: %w", n, err)
		}
	}
	return m.deliver(ctx, "deal", sub)
}

// sells has the issuer issue for what is paid to Dora.
func (m *mixer) sells(ctx context.Context) error {
	buyer, treasury := m.wallets[m.IntN(3)], m.wallets[3]
	anchor, price, bought := m.fresh(24), 1+m.Uint64N(30), 1+m.Uint64N(60)
	to, err := buyer.Address(nil)
	if err != nil {
		return err
	}
	first, err := m.issuer.Propose(ctx, 0, service.Order{Anchor: anchor, Type: usd, Payments: []service.Payment{{To: to, Value: bought}}})
	if err != nil {
		return err
	}
	if to, err = treasury.Address(nil); err != nil {
		return err
	}
	second, err := buyer.pay.Propose(ctx, 1, service.Order{Anchor: anchor, Type: eur, Payments: []service.Payment{{To: to, Value: price}}})
	if err != nil {
		return errors.Join(err, done("discard", m.issued.Discard(ctx, anchor)))
	}
	sub, err := service.Join(first, second)
	if err != nil {
		return err
	}
	if err := m.issuer.Sign(ctx, sub, treasury.Wallet, service.Deal{Gives: service.Amounts{usd: bought}, Gets: service.Amounts{eur: price}}); err != nil {
		return fmt.Errorf("signing a sale: %w", err)
	}
	if err := buyer.pay.Sign(ctx, sub, service.Deal{Gives: service.Amounts{eur: price}, Gets: service.Amounts{usd: bought}}); err != nil {
		return fmt.Errorf("buying: %w", err)
	}
	return m.deliver(ctx, "sale", sub)
}

// sharedPays pays Dora, or nobody, out of a token of 2 of 3; the rest goes to an address on which the three agree.
func (m *mixer) sharedPays(ctx context.Context) error {
	order := m.Perm(3)
	p, q := m.wallets[order[0]], m.wallets[order[1]]
	var tokens []service.SharedToken
	for h, err := range p.Shared() {
		if err != nil {
			return err
		}
		tokens = append(tokens, h)
	}
	if len(tokens) == 0 {
		return nil
	}
	h := tokens[m.IntN(len(tokens))]
	agreed, err := m.shared()
	if err != nil {
		return err
	}
	var to service.Address
	if m.IntN(4) > 0 {
		if to, err = m.wallets[3].Address(nil); err != nil {
			return err
		}
	}
	pays := []service.Payment{{To: to, Value: m.Uint64N(h.Value + 1)}}
	sub, err := p.pay.Propose(ctx, 0, service.Order{Type: h.Type, Payments: pays, From: []token.ID{h.ID}, Change: &agreed, Metadata: m.fresh(16)})
	if err != nil {
		return err
	}
	d := service.Deal{Shared: service.SharedDeal{Spends: []token.ID{h.ID}, Change: []service.Address{agreed}, Pays: map[string][]service.Payment{h.Type: pays}}}
	for i, signer := range []*party{p, q} {
		if m.IntN(8) == 0 {
			return nil
		}
		if err := signer.pay.Sign(ctx, sub, d); err != nil {
			return fmt.Errorf("signing for a shared token as owner %d: %w", i, err)
		}
	}
	return m.deliver(ctx, "shared", sub)
}

func (m *mixer) locks(ctx context.Context) error {
	p, q := m.somebody()
	mine, err := p.Address(nil)
	if err != nil {
		return err
	}
	theirs, err := q.Address(nil)
	if err != nil {
		return err
	}
	deadline := time.Now().Unix() + 1 + m.Int64N(2)
	to, err := service.Locked(sha256.Sum256(m.preimage[m.IntN(len(m.preimage))]), uint64(deadline), mine, theirs)
	if err != nil {
		return err
	}
	sub, err := p.pay.Transfer(ctx, m.order(service.Payment{To: to, Value: 1 + m.Uint64N(30)}))
	if err != nil {
		return err
	}
	if err := m.deliver(ctx, "lock", sub); err != nil {
		return err
	}
	return errors.Join(p.Sync(ctx, m.store), q.Sync(ctx, m.store))
}

// unlocks claims or reclaims a token of a lock, as the time says.
func (m *mixer) unlocks(ctx context.Context) error {
	p, _ := m.somebody()
	for h, err := range p.Locked() {
		if err != nil {
			return err
		}
		kind := "reclaim"
		var sub *service.Submission
		if time.Now().Unix() < int64(h.Lock.Deadline()) {
			if kind = "claim"; m.IntN(8) > 0 {
				continue
			}
			sub, err = p.pay.Claim(ctx, h.ID, m.images[h.Lock.Image()])
		} else {
			sub, err = p.pay.Reclaim(ctx, h.ID)
		}
		if err != nil && refused(err) {
			continue // it is the other one's
		}
		if err != nil {
			return err
		}
		return m.deliver(ctx, kind, sub)
	}
	return nil
}

func (m *mixer) redeems(ctx context.Context) error {
	p, _ := m.somebody()
	sub, err := p.pay.Transfer(ctx, m.order(service.Payment{Value: 1 + m.Uint64N(50)}))
	if err != nil {
		return err
	}
	return m.deliver(ctx, "redeem", sub)
}

// cancels pays, takes it back while it may be under way, and pays again if that has landed: by the metadata, the payee is paid once.
func (m *mixer) cancels(ctx context.Context) error {
	p, q := m.somebody()
	o, err := m.pays(p, q)
	if err != nil {
		return err
	}
	sub, err := p.pay.Transfer(ctx, o)
	if err != nil {
		return err
	}
	back, err := p.pay.Cancel(ctx, sub.Request.Anchor)
	if err != nil {
		return done("cancel", err)
	}
	way := make(chan error, 1)
	if m.IntN(2) == 0 {
		go func() { way <- m.deliver(ctx, "transfer", sub) }()
	} else {
		way <- nil
	}
	err = m.deliver(ctx, "cancel", back)
	if other := <-way; err == nil && other != nil && !refused(other) {
		err = other
	}
	if err != nil {
		return err
	}
	if err := p.Sync(ctx, m.store); err != nil {
		return err
	}
	again, err := p.pay.Transfer(ctx, o)
	if err != nil {
		return err
	}
	return m.deliver(ctx, "again", again)
}

func (m *mixer) consolidates(ctx context.Context) error {
	p, _ := m.somebody()
	sub, err := p.pay.Consolidate(ctx, mixTypes[m.IntN(2)])
	if err != nil {
		return err
	}
	return m.deliver(ctx, "consolidate", sub)
}

func (m *mixer) discards(ctx context.Context) error {
	p, q := m.somebody()
	o, err := m.pays(p, q)
	if err != nil {
		return err
	}
	sub, err := p.pay.Transfer(ctx, o)
	if err != nil {
		return err
	}
	return done("discard", p.Discard(ctx, sub.Request.Anchor))
}

// tidies submits again, releases or cancels what waits in some vault.
func (m *mixer) tidies(ctx context.Context) error {
	n := m.IntN(len(m.wallets) + 1)
	v := m.vaults()[n]
	var waiting []service.PendingSubmission
	for k, err := range v.Submissions() {
		if err != nil {
			return err
		}
		waiting = append(waiting, k)
	}
	if len(waiting) == 0 {
		return nil
	}
	k := waiting[m.IntN(len(waiting))]
	switch what := m.IntN(5); {
	case what == 0:
		return done("release", v.Release(ctx, k.Request.Anchor))
	case what == 1 && n > 0:
		back, err := m.wallets[n-1].pay.Cancel(ctx, k.Request.Anchor)
		if err != nil {
			return done("cancel", err)
		}
		return m.deliver(ctx, "cancel", back)
	}
	err := m.deliver(ctx, "resubmit", &k.Submission)
	if errors.Is(err, errIncomplete) {
		return nil
	}
	return err
}

// follows has somebody follow the ledger, and compare the vault with it. What has changed since is found; what can never be is not.
func (m *mixer) follows(ctx context.Context) error {
	v := m.auditor.Vault()
	var err error
	switch n := m.IntN(len(m.wallets) + 2); {
	case n < len(m.wallets):
		v, err = m.wallets[n].Vault, m.wallets[n].Sync(ctx, m.store)
	case n == len(m.wallets):
		v, err = m.issued, m.issuer.Sync(ctx, m.store)
	default:
		err = m.reconcile(ctx)
	}
	if err != nil || m.IntN(8) > 0 {
		return err
	}
	findings, err := v.Compare(ctx, m.store)
	for _, f := range findings {
		if f.Kind != service.TokenSpent && f.Kind != service.RequestLanded {
			return fmt.Errorf("finding: %v", f)
		}
	}
	if err == nil {
		say("did", "compare")
	}
	return err
}

// updates changes the policy, which two of three administrators sign.
func (m *mixer) updates(ctx context.Context) error {
	current := m.validator.Policy()
	next := current.Clone()
	next.Limits.Metadata = 16 + m.IntN(100)
	u, err := policy.New(m.genesis.ID(), current, next)
	if err != nil {
		return err
	}
	for _, i := range m.Perm(3)[:2] {
		if err := u.Sign(current, m.admins[i]); err != nil {
			return err
		}
	}
	raw, err := u.Encode()
	if err != nil {
		return err
	}
	verdicts, err := m.land.Submit(ctx, [][]byte{raw})
	if err != nil {
		return err
	}
	v := verdicts[0]
	if _, raced := errors.AsType[*zkbench.CheckError](v.Err); raced {
		return nil // with another update
	}
	if v.Err == nil {
		say("landed", "update", fmt.Sprintf("%x", v.Anchor), fmt.Sprintf("%d.", v.Record.Seq))
	}
	return v.Err
}
