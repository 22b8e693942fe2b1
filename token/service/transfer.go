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

// TransferService pays out of a wallet. It is safe for concurrent use.
type TransferService struct {
	*system
	wallet *Wallet
}

// NewTransferService returns a service that proves with proofType (empty: the
// parameters' first). The error is an ErrParams.
func NewTransferService(params *token.PublicParams, proofType string, tuning token.Tuning, ex executor.Executor, w *Wallet) (*TransferService, error) {
	s, err := newSystem(params, proofType, tuning, ex, w.Vault)
	if err != nil {
		return nil, err
	}
	return &TransferService{s, w}, nil
}

// Transfer pays. It selects unspent tokens of the type, which no other call takes,
// makes the outputs, with change to a fresh address of the wallet where the tokens
// are worth more, proves, and signs for the owners. A payment to nobody redeems.
//
// When it returns nil, submission and reservation are durable. Until then, and after
// every error but ErrOutcomeUnknown, the tokens are free; after ErrOutcomeUnknown
// they may be reserved when the vault is opened again.
//
// Besides an order that is refused (ErrParams, ErrLimit, ErrMalformed), the error is a
// *FundsError, a *zkbench.LimitError where the funds suffice and would take more
// inputs than the parameters allow, an ErrLimit where the tokens that were selected are
// worth 2^64 or more together, an ErrPolicy where a payment of 0 finds no token to take,
// or ErrAnchorConflict for the anchor of another submission.
func (s *TransferService) Transfer(ctx context.Context, o Order) (*Submission, error) {
	p, err := s.plan(o)
	if err != nil {
		return nil, err
	}
	f, err := s.wallet.take(p.Anchor, p.Type, p.sum, s.rules().Limits.Inputs)
	if err != nil {
		return nil, err
	}
	defer s.wallet.endReservation(f)
	out, err := s.outputs(p, f)
	if err != nil {
		return nil, err
	}
	return s.submit(ctx, p, f, out)
}

// submit proves and signs a transfer, and makes it durable.
func (s *TransferService) submit(ctx context.Context, p *plan, f *funds, out *outputs) (*Submission, error) {
	sub, err := s.prove(ctx, p, f, out)
	if err != nil {
		return nil, err
	}
	if err := s.keep(ctx, p, f, sub); err != nil {
		return nil, err
	}
	return sub, nil
}

// outputs are where the tokens of a transfer go.
type outputs struct {
	tos    []Address
	values []uint64
}

// outputs places the change at random among the payments, so that its place says
// nothing.
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
		nonce, err := newNonce(p.rand)
		if err != nil {
			return nil, err
		}
		to, err := s.wallet.keys.address(s.rules(), nonce)
		if err != nil {
			return nil, err
		}
		change := int(at.Int64())
		out.tos, out.values = slices.Insert(out.tos, change, to), slices.Insert(out.values, change, rest)
	}
	if n, most := len(out.tos), s.rules().Limits.Outputs; n > most {
		return nil, tooMany("outputs with change", n, most)
	}
	if p.locks {
		return out, script.CheckShape(len(f.tokens), len(out.tos))
	}
	return out, nil
}

// prove makes the submission.
func (s *TransferService) prove(ctx context.Context, p *plan, f *funds, out *outputs) (*Submission, error) {
	owned := make([]action.Owned, len(f.tokens))
	for i := range f.tokens {
		h := &f.tokens[i]
		owned[i] = action.Owned{Input: action.Input{ID: h.ID, Token: h.Token}, Opening: h.Opening}
	}
	made := make([]action.Output, len(out.tos))
	for j := range made {
		made[j] = s.output(p.Anchor, j, &out.tos[j], out.values[j])
	}
	sender, err := action.NewSender(ctx, s.ex, s.pp, owned)
	if err != nil {
		return nil, err
	}
	signer, err := s.signer(f, 0)
	if err != nil {
		return nil, fmt.Errorf("input 0: %w", err)
	}
	secret, err := signerSecret(signer, p.rand)
	if err != nil {
		return nil, fmt.Errorf("input 0: %w", err)
	}
	draft, err := sender.Transfer(ctx, s.spec(p, made, secret))
	if err != nil {
		return nil, err
	}
	a := request.Action{Kind: token.Transfer, ProofType: s.pp.Config().ProofType, Spends: make([]request.Spend, len(owned))}
	sub, err := s.submission(ctx, p.Anchor, a, draft, out.tos)
	if err != nil {
		return nil, err
	}
	for i := range f.tokens {
		known, err := s.known(f, i)
		if err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
		sub.Information.Actions[0].Inputs = append(sub.Information.Actions[0].Inputs, audit.Item{Opening: f.tokens[i].Opening, Owners: known})
	}
	return sub, s.sign(p, f, sub.Request)
}

// known is what auditors want to see of who signs for an input.
func (s *TransferService) known(f *funds, i int) ([]audit.Owner, error) {
	signer, err := s.signer(f, i)
	if err != nil {
		return nil, err
	}
	o, err := s.wallet.keys.own(s.rules(), signer)
	return []audit.Owner{o}, err
}

// sign signs for the owners of the inputs, once for those that are one.
func (s *TransferService) sign(p *plan, f *funds, r *request.Request) error {
	message := s.toSign(r, request.Owner, 0)
	signatures := make(map[string][]byte, len(f.tokens))
	for i := range f.tokens {
		owner := string(f.tokens[i].Token.Owner)
		if signatures[owner] == nil {
			signer, err := s.signer(f, i)
			if err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
			if signatures[owner], err = signer.Sign(message, p.rand); err != nil {
				return fmt.Errorf("input %d: %w", i, err)
			}
		}
		r.Actions[0].Spends[i] = request.Spend{Unlock: f.witness, Signatures: [][]byte{signatures[owner]}}
	}
	return nil
}

// signer signs for a token's owner, or for whom its script names.
func (s *TransferService) signer(f *funds, i int) (identity.Signer, error) {
	owner := f.tokens[i].Token.Owner
	if f.signer != nil {
		owner = f.signer
	}
	signer, err := s.wallet.keys.signer(f.tokens[i].nonces[0])
	if err == nil && !bytes.Equal(signer.Identity(), owner) {
		err = ledger.Corruptf("bucket "+bucketTokens, "names another owner than its nonce does")
	}
	return signer, err
}

// keep makes the transfer durable, if its inputs are still unspent.
func (s *TransferService) keep(ctx context.Context, p *plan, f *funds, sub *Submission) error {
	ids := make([]token.ID, len(f.tokens))
	for i := range f.tokens {
		ids[i] = f.tokens[i].ID
	}
	k, err := newKept(sub, sub.Request.Digest(s.ledger), ids)
	if err != nil {
		return err
	}
	return s.wallet.update(ctx, func(tx *bbolt.Tx) error {
		if err := keepNew(tx, p.Anchor, k); err != nil {
			return err
		}
		for i, id := range ids {
			h, err := getToken(tx, id)
			if err != nil {
				return err
			}
			if h == nil || h.state != unspent {
				return fmt.Errorf("input %d: %w", i, zkbench.ErrSpent) // as Sync has learned meanwhile
			}
			h.state, h.anchor = reserved, p.Anchor
			if err := putToken(tx, h); err != nil {
				return err
			}
		}
		return nil
	})
}
