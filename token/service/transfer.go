package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/script"
)

// TransferService pays from a wallet. It is safe for concurrent use.
type TransferService struct {
	*system
	wallet *Wallet
}

// Rules returns the ledger's policy as far as Sync has followed it. The caller must not modify it.
func (s *TransferService) Rules() *token.Policy { return s.rules() }

// NewTransferService returns a service that pays from w. The service makes proofs of the type proofType, or
// of the first range-proof system of the parameters if proofType is empty. NewTransferService returns
// ErrParams if the parameters have no such system, or if they are not those of the wallet's ledger.
func NewTransferService(params *token.PublicParams, proofType string, tuning token.Tuning, ex executor.Executor, w *Wallet) (*TransferService, error) {
	s, err := newSystem(params, proofType, tuning, ex, w.Vault)
	if err != nil {
		return nil, err
	}
	return &TransferService{s, w}, nil
}

// Transfer makes one request, with an action for each order. For each order it selects unspent tokens of the
// order's type, which no other call can then take, and makes the outputs. If the tokens are worth more than the
// payments, the change goes to a fresh address of the wallet. Transfer then makes the proofs and signs for the
// owners of the tokens. A payment to the zero Address redeems its value.
//
// When Transfer returns a nil error, the submission and its reservation of tokens are durable. Until then, and
// after every error except ErrOutcomeUnknown, the tokens are free. After ErrOutcomeUnknown they may be
// reserved when the vault is opened again.
//
// If an order is refused, Transfer returns ErrParams, ErrLimit or ErrMalformed. It returns a *FundsError if the
// tokens do not suffice. It returns a *zkbench.LimitError if they suffice but an action would need more inputs
// than the policy allows; Consolidate merges tokens, so that fewer are needed. It returns ErrLimit if the
// selected tokens are worth 2^64 or more together, and ErrPolicy if all payments are 0 and no token is free,
// because even then an action needs an input. It returns ErrAnchorConflict if another submission has the anchor
// of the orders.
func (s *TransferService) Transfer(ctx context.Context, orders ...Order) (*Submission, error) {
	parts, end, err := s.parts(0, orders)
	defer end()
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		if p.shared {
			return nil, deny("tokens that are owned together with others: Propose spends them")
		}
	}
	return s.submit(ctx, parts)
}

// part is one action of a transfer, before it is proved.
type part struct {
	*plan
	*funds
	*outputs
	place int // index of the action in the request
}

// parts plans the actions of orders and selects their tokens, which stay reserved in memory until end is
// called. first is the index of the first action in the request.
func (s *TransferService) parts(first int, orders []Order) (parts []*part, end func(), err error) {
	end = func() {
		for _, p := range parts {
			s.wallet.endReservation(p.funds)
		}
	}
	plans, err := s.plans(first, orders)
	if err != nil {
		return nil, end, err
	}
	for i, p := range plans {
		f, err := s.wallet.take(p, p.rules.Limits.Inputs)
		if err != nil {
			return parts, end, err
		}
		next := &part{plan: p, funds: f, place: first + i}
		parts = append(parts, next)
		if next.outputs, err = s.outputs(p, f); err != nil {
			return parts, end, err
		}
	}
	return parts, end, nil
}

// submit proves and signs a request of parts, and makes it durable.
func (s *TransferService) submit(ctx context.Context, parts []*part) (*Submission, error) {
	sub, err := s.prove(ctx, parts)
	if err != nil {
		return nil, err
	}
	if err := s.sign(parts, sub); err != nil {
		return nil, err
	}
	if err := s.keep(ctx, parts, sub, sub.Request.Digest(s.ledger)); err != nil {
		return nil, err // a submission that is not stored must not be sent
	}
	return sub, nil
}

// outputs are the addresses to which the tokens of a transfer go, with their values.
type outputs struct {
	tos    []Address
	values []uint64
}

// outputs puts the change at a random index among the payments, so that its index says nothing.
func (s *TransferService) outputs(p *plan, f *funds) (*outputs, error) {
	out := new(outputs)
	for i := range p.Payments {
		out.tos, out.values = append(out.tos, p.Payments[i].To), append(out.values, p.Payments[i].Value)
	}
	if rest := f.sum - p.sum; rest > 0 {
		at, err := rand.Int(p.rand, big.NewInt(int64(len(out.tos)+1)))
		if err != nil {
			return nil, fmt.Errorf("placing the change: %w", err)
		}
		to, err := s.change(p, f)
		if err != nil {
			return nil, err
		}
		change := int(at.Int64())
		out.tos, out.values = slices.Insert(out.tos, change, *to), slices.Insert(out.values, change, rest)
	}
	if n, most := len(out.tos), p.rules.Limits.Outputs; n > most {
		return nil, tooMany("outputs with change", n, most)
	}
	if err := p.allowed(out.tos); err != nil {
		return nil, err
	}
	if p.locks {
		return out, script.CheckShape(len(f.tokens), len(out.tos))
	}
	return out, nil
}

// change returns the address to which the rest of a transfer goes.
func (s *TransferService) change(p *plan, f *funds) (*Address, error) {
	if p.Change != nil {
		return p.Change, nil
	}
	if f.shared {
		return nil, refuse("tokens that are owned together need Order.Change: it says who gets the change")
	}
	nonce, err := newNonce(p.rand)
	if err != nil {
		return nil, err
	}
	to, err := s.wallet.keys.address(p.rules, nonce, nil)
	return &to, err
}

// prove returns the submission of parts, without signatures.
func (s *TransferService) prove(ctx context.Context, parts []*part) (*Submission, error) {
	sub := parts[0].submission()
	for _, p := range parts {
		owned := make([]action.Owned, len(p.tokens))
		for i := range p.tokens {
			h := &p.tokens[i]
			owned[i] = action.Owned{Input: action.Input{ID: h.ID, Token: h.Token}, Opening: h.Opening}
		}
		sender, err := action.NewSender(ctx, s.ex, s.pp, owned)
		if err != nil {
			return nil, err
		}
		draft, err := sender.Transfer(ctx, s.spec(p.plan, p.place, p.outputs, s.wallet.keys.secret[:]))
		if err != nil {
			return nil, err
		}
		a := request.Action{Kind: token.Transfer, Spends: make([]request.Spend, len(owned))}
		if a.Issuer, err = p.approver(p.tos); err != nil {
			return nil, err
		}
		for i := range a.Spends {
			a.Spends[i] = request.Spend{Unlock: p.witness.Unlock, Preimage: p.witness.Preimage}
		}
		known := audit.Action{}
		for i := range p.tokens {
			known.Inputs = append(known.Inputs, audit.Item{Opening: p.tokens[i].Opening})
		}
		if err := s.add(ctx, sub, a, draft, known, p.tos); err != nil {
			return nil, err
		}
	}
	return sub, nil
}

// approver returns the issuer that must approve outputs to these addresses, without its signature, or nil if
// none must.
func (p *plan) approver(tos []Address) (*request.Issuer, error) {
	redeems := slices.ContainsFunc(tos, func(to Address) bool { return len(to.Owner) == 0 })
	if !redeems || p.rules.Redeem != token.RedeemIssuer {
		if p.Issuer != nil {
			return nil, refuse("Order.Issuer names an issuer, but the policy requires no approval of this order")
		}
		return nil, nil
	}
	var may [][]byte
	for i := range p.rules.Issuers {
		issuer := &p.rules.Issuers[i]
		if issuer.MayIssue(p.Type) && (p.Issuer == nil || bytes.Equal(issuer.Identity, p.Issuer)) {
			may = append(may, issuer.Identity)
		}
	}
	if len(may) != 1 {
		return nil, refuse("%d issuers of the policy may approve this redemption, accepted is 1: Order.Issuer names it", len(may))
	}
	return &request.Issuer{Identity: may[0]}, nil
}

// sign signs for the owners of the inputs of all parts, once for each identity. It adds to the information for
// auditors who the owners are.
func (s *TransferService) sign(parts []*part, sub *Submission) error {
	signatures := make(map[string][]byte)
	for n, p := range parts {
		for i := range p.tokens {
			signer, id, err := s.signer(p.funds, i)
			if err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
			known, err := s.wallet.keys.auditOwner(p.rules, p.tokens[i].nonces[0], signer, p.tokens[i].proof)
			if err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
			if signatures[string(id)] == nil {
				if signatures[string(id)], err = s.system.sign(sub.Request, signer, request.Owner, 0, id, p.rand); err != nil {
					return fmt.Errorf("input %d: %w", i, err)
				}
			}
			sub.Request.Actions[n].Spends[i].Signatures = [][]byte{signatures[string(id)]}
			sub.Information.Actions[n].Inputs[i].Owners = []audit.Owner{known}
		}
	}
	return nil
}

// signer returns the signer for a token, and the identity for which it signs: the token's owner, or the party
// of its hash time lock.
func (s *TransferService) signer(f *funds, i int) (identity.Signer, identity.Identity, error) {
	id := identity.Identity(f.tokens[i].Token.Owner)
	if f.signer != nil {
		id = f.signer
	}
	signer, err := s.wallet.keys.signer(f.tokens[i].nonces[0])
	if err != nil {
		return nil, nil, err
	}
	if !s.wallet.keys.serves(signer, id) {
		return nil, nil, ledger.Corruptf("bucket "+bucketTokens, "a token's owner does not match its nonce")
	}
	return signer, id, nil
}

// keep makes a submission durable, if its inputs are still unspent.
func (s *TransferService) keep(ctx context.Context, parts []*part, sub *Submission, digest [32]byte) error {
	var ids []token.ID
	for _, p := range parts {
		for i := range p.tokens {
			ids = append(ids, p.tokens[i].ID)
		}
	}
	k, err := newPending(sub, digest, ids)
	if err != nil {
		return err
	}
	anchor := sub.Request.Anchor
	return s.wallet.update(ctx, func(tx *bbolt.Tx) error {
		if err := addPending(tx, anchor, k); err != nil {
			return err
		}
		for _, p := range parts {
			for i := range p.tokens {
				if err := reserve(tx, p.tokens[i].ID, anchor, p.of); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// reserve reserves a token for the submission with the given anchor. The token must be free, or reserved for
// the submission with the anchor from (nil: none).
func reserve(tx *bbolt.Tx, id token.ID, anchor, from []byte) error {
	h, err := getToken(tx, id)
	if err != nil {
		return err
	}
	if h == nil || h.state != unspent && (h.state != reserved || from == nil || !bytes.Equal(h.anchor, from)) {
		return fmt.Errorf("token %x: %w", []byte(id), zkbench.ErrSpent) // as Sync has learned meanwhile
	}
	h.state, h.anchor = reserved, anchor
	return putToken(tx, h)
}
