package token

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// TransferServiceTransfer returns the workload that pays with a payer's service. The time
// includes the service's write to the disk.
func TransferServiceTransfer() workload.Def {
	return defineService("TransferServiceTransfer", "a transfer by the service", "pay with the transfer service: selection of tokens, openings, change, proof, owners' signatures, audit information, durable submission, encoding",
		token.Transfer, func(s *services) (workload.Instance, error) { return newPaying(s, false) })
}

// TransferServiceRedeem returns a workload like TransferServiceTransfer, but the first payment of each transfer
// redeems tokens: it has no recipient. The name contains Transfer because the same service makes redemptions, which
// are transfers too.
func TransferServiceRedeem() workload.Def {
	def := defineService("TransferServiceRedeem", "a redemption by the service", "same as transfer-service-transfer, but one payment redeems tokens",
		token.Transfer, func(s *services) (workload.Instance, error) { return newPaying(s, true) })
	def.Alias = "redeem"
	return def
}

// paying pays from a wallet in which all tokens have the same value. So an order always
// takes as many inputs as the case asks for, whichever tokens are free.
type paying struct {
	*services
	service *service.TransferService
	wallet  *service.Wallet
	held    held
	redeem  bool
	value   uint64 // of each token

	mu     sync.RWMutex
	stock  view
	log    issues // of what creates the stock
	issues int    // number of times that fill has added tokens
}

// spare is the number of operations in flight for which a wallet has tokens from the start.
const spare = 8

func newPaying(s *services, redeem bool) (*paying, error) {
	most := ^uint64(0) >> (64 - s.bits)
	n := uint64(s.in)
	p := &paying{services: s, log: newIssues(s.genesis), redeem: redeem, value: max(most/n, 1), stock: make(view)}
	if parts := evenly(p.value*n, s.out); parts[0] > most {
		return nil, &argument.ValueError{
			Field: "num-inputs", Value: fmt.Sprint(s.in),
			Accepted: fmt.Sprintf("up to %d for %d outputs of %d bits", most*uint64(s.out), s.out, s.bits),
		}
	}
	vault, err := s.vault("wallet")
	if err != nil {
		return nil, err
	}
	p.held.vault = vault
	keys, err := s.keys("payer")
	if err != nil {
		return nil, err
	}
	if p.wallet, err = service.NewWallet(s.params, vault, keys); err != nil {
		return nil, err
	}
	if p.service, err = service.NewTransferService(s.params, s.proofType, token.Tuning{}, s.ex, p.wallet); err != nil {
		return nil, err
	}
	return p, p.fill(context.Background(), 0, turn+spare)
}

// fill gives the wallet tokens for a number of further operations. seen is the value of
// issues that the caller has read. If issues has changed since, fill does nothing.
func (p *paying) fill(ctx context.Context, seen, operations int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.issues != seen {
		return nil
	}
	p.issues++
	for left := operations * p.in; left > 0; {
		n := min(left, token.MaxTokens)
		e, err := p.issue(ctx, uint64(len(p.log.log)+1), n)
		if err != nil {
			return err
		}
		for _, c := range e.Creates {
			p.stock[string(c.ID)] = c.Token
		}
		p.log.append(e)
		left -= n
	}
	return p.wallet.Sync(ctx, p.log)
}

// issue returns an entry for the log that gives the wallet n tokens. A validator would not accept its request, which
// has only what a wallet reads.
func (p *paying) issue(ctx context.Context, seq uint64, n int) (*ledger.Entry, error) {
	anchor := binary.BigEndian.AppendUint64(nil, seq)
	outputs := make([]action.Output, n)
	payees := make([]note.Payee, n)
	for i := range outputs {
		to, err := p.wallet.Address(nil)
		if err != nil {
			return nil, err
		}
		outputs[i], payees[i] = action.Output{Owner: to.Owner, Value: p.value}, to.Members[0].Payee
	}
	d, err := action.NewIssue(ctx, p.ex, p.pp, tokenType, action.Spec{Outputs: outputs, Anchor: request.ActionAnchor(p.genesis.ID(), anchor, 0)})
	if err != nil {
		return nil, err
	}
	made := &action.Action{Outputs: d.Outputs, Notes: make([][]byte, n)}
	for i := range outputs {
		place := note.Place{Ledger: p.genesis.ID(), ID: request.OutputID(anchor, 0, i), Owner: outputs[i].Owner}
		if made.Notes[i], err = note.Seal(place, payees[i:i+1], d.Openings[i]); err != nil {
			return nil, err
		}
	}
	raw, err := made.Encode(nil)
	if err != nil {
		return nil, err
	}
	r := &request.Request{Anchor: anchor, Actions: []request.Action{{Kind: token.Issue, ProofType: p.proofType, Raw: raw}}}
	if raw, err = r.Encode(); err != nil {
		return nil, err
	}
	parsed, err := entry.Parse(p.genesis.ID(), p.pp.PointLen(), raw)
	if err != nil {
		return nil, err
	}
	return &parsed.Entry, nil
}

// issues is a service.Ledger that has only a log.
type issues struct {
	genesis ledger.Genesis
	edge    ledger.Edge
	log     []ledger.Record
}

func newIssues(genesis ledger.Genesis) issues {
	return issues{genesis: genesis, edge: ledger.NewEdge(genesis)}
}

// append appends a record under the first policy.
func (l *issues) append(e *ledger.Entry) {
	_, e.PolicyDigest = l.edge.Policy()
	commitment, _ := l.edge.Append(e, e.Append(nil))
	l.log = append(l.log, ledger.Record{Seq: l.edge.Last(), Entry: *e, Commitment: commitment})
}

// Genesis implements service.Ledger.
func (l issues) Genesis() ledger.Genesis { return l.genesis }

// Log implements service.Ledger.
func (l issues) Log(_ context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		for _, r := range l.log[from-1:] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Record implements service.Ledger. It finds no request, as if none had been committed.
func (issues) Record(context.Context, []byte) (ledger.Record, bool, error) {
	return ledger.Record{}, false, nil
}

// Head implements service.Ledger. The policy has no validators.
func (issues) Head(context.Context) ([]byte, error) { return nil, nil }

// Hashes implements service.Ledger. Nobody asks for a proof.
func (issues) Hashes(context.Context, []int64) ([]tlog.Hash, error) { return nil, ledger.ErrNoLeaf }

// Input returns an order that takes as many tokens as the case has inputs: fewer tokens do not
// cover its total. It leaves change if the case has several outputs and a token is worth more than 1.
func (p *paying) Input(_ context.Context, seq uint64) (any, error) {
	total, parts := p.value*uint64(p.in), p.out
	if p.out > 1 && p.value > 1 {
		change, _ := bits.Mul64(binary.BigEndian.Uint64(p.corpus("change", seq).bytes(8)), p.value-1)
		total, parts = total-1-change, parts-1
	}
	pays, err := p.payments(seq, evenly(total, parts))
	o := &service.Order{Type: tokenType, Payments: pays}
	if err == nil && p.redeem {
		pays[0].To, o.Metadata = service.Address{}, []byte(anchorOf(seq)) // metadata says what the tokens are redeemed for
	}
	return o, err
}

// Run makes the payments. If the wallet lacks tokens, because more operations are in flight
// than at any time before, Run issues more to it.
func (p *paying) Run(ctx context.Context, input any) ([]byte, error) {
	for {
		p.mu.RLock()
		seen := p.issues
		p.mu.RUnlock()
		sub, err := p.service.Transfer(ctx, *input.(*service.Order))
		if _, short := errors.AsType[*service.FundsError](err); short {
			if err := p.fill(ctx, seen, spare); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		return p.held.keep(ctx, sub)
	}
}

func (p *paying) Check(ctx context.Context, _ any, output []byte) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	report, err := p.accept(ctx, p.stock, output)
	if err != nil {
		return err
	}
	redeemed := 0
	for _, out := range report.Actions[0].Outputs {
		if len(out.Owners) == 0 {
			redeemed++
		}
	}
	if in, out := len(report.Actions[0].Inputs), len(report.Actions[0].Outputs); in != p.in || out != p.out || (redeemed == 1) != p.redeem {
		return fmt.Errorf("%d inputs and %d outputs, %d of them redeemed; want %d and %d, redeemed: %v", in, out, redeemed, p.in, p.out, p.redeem)
	}
	return nil
}

// evenly divides a total into n parts that differ by at most one.
func evenly(total uint64, n int) []uint64 {
	parts := make([]uint64, n)
	for i := range parts {
		parts[i] = total / uint64(n)
		if uint64(i) < total%uint64(n) {
			parts[i]++
		}
	}
	return parts
}
