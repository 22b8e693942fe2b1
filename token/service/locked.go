package service

import (
	"context"
	"iter"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
)

// LockedToken is a token that a hash time lock owns. The wallet is the sender or the recipient of
// the lock.
type LockedToken struct {
	UnspentToken
	Lock *script.HashLock
}

// Locked yields the tokens of hash time locks that are on the ledger and that no pending submission reserves,
// in the order of their ids. After an error it stops.
func (v *Vault) Locked() iter.Seq2[LockedToken, error] {
	return func(yield func(LockedToken, error) bool) {
		for h, err := range v.scriptTokens(script.TypeHashLock) {
			var out LockedToken
			if err == nil {
				out.UnspentToken = h.unspentToken()
				out.Lock, err = script.ParseHashLock(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// scriptTokens yields the tokens that scripts of a type own and that no submission reserves, in the order of
// their ids.
func (v *Vault) scriptTokens(typ identity.Type) iter.Seq2[*tokenRecord, error] {
	return func(yield func(*tokenRecord, error) bool) {
		for id, err := range v.keys(bucketScripts, nil, nil) {
			var h *tokenRecord
			if err == nil {
				h, err = lookUp(v, token.ID(id), getToken)
			}
			if err == nil && (h == nil || h.state != unspent || identity.Identity(h.Token.Owner).Type() != typ) {
				continue // another script's, or settled meanwhile
			}
			if !yield(h, err) {
				return
			}
		}
	}
}

// Claim makes a request that pays the token of a hash time lock to its recipient, which must be this wallet.
// The request contains the preimage. A validator accepts the request only before the deadline. Everyone who
// sees the request learns the preimage, even if the request comes too late to be accepted. So claim early.
//
// Durability and errors are as for Transfer. Claim returns ErrPolicy if id is not a token of a hash time lock
// that can be spent, if the preimage does not match, or if the wallet is not the recipient.
func (s *TransferService) Claim(ctx context.Context, id token.ID, preimage []byte) (*Submission, error) {
	return s.unlock(ctx, id, script.Unlock{Kind: script.Claim, Preimage: preimage})
}

// Reclaim makes a request that pays the token of a hash time lock back to its sender, which must be this
// wallet. A validator accepts the request from the deadline on. Errors are as for Claim.
func (s *TransferService) Reclaim(ctx context.Context, id token.ID) (*Submission, error) {
	return s.unlock(ctx, id, script.Unlock{Kind: script.Reclaim})
}

func (s *TransferService) unlock(ctx context.Context, id token.ID, u script.Unlock) (*Submission, error) {
	witness, err := u.Encode()
	if err != nil {
		return nil, err
	}
	f, err := s.wallet.takeLocked(id, u)
	if err != nil {
		return nil, err
	}
	defer s.wallet.endReservation(f)
	f.witness = script.Witness{Unlock: witness, Preimage: u.Preimage}
	rules := s.rules()
	to, err := s.wallet.keys.address(rules, f.tokens[0].nonces[0], f.signer)
	if err != nil {
		return nil, err
	}
	p, err := s.plan(rules, Order{Type: f.tokens[0].Type, Payments: []Payment{{to, f.sum}}})
	if err != nil {
		return nil, err
	}
	return s.submit(ctx, []*part{{plan: p, funds: f, outputs: &outputs{tos: []Address{to}, values: []uint64{f.sum}}}})
}

// takeLocked reserves the token of a lock in memory, as take does. Its only nonce becomes that of the identity
// which signs.
func (w *Wallet) takeLocked(id token.ID, u script.Unlock) (f *funds, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.taken[string(id)] {
		return nil, deny("token %x is being spent", []byte(id))
	}
	h, err := lookUp(w.Vault, id, getToken)
	if err != nil {
		return nil, err
	}
	if h == nil || h.state != unspent || identity.Identity(h.Token.Owner).Type() != script.TypeHashLock {
		return nil, deny("token %x is not a spendable token of a hash time lock", []byte(id))
	}
	lock, err := script.ParseHashLock(h.Token.Owner)
	if err != nil {
		return nil, err
	}
	signer := lock.Sender()
	if u.Kind == script.Claim {
		if image, err := script.Image(u.Preimage); err != nil || image != lock.Image() {
			return nil, deny("the preimage does not match the lock's image")
		}
		signer = lock.Recipient()
	}
	for _, nonce := range h.nonces {
		mine, err := w.keys.signer(nonce)
		if err != nil {
			return nil, err
		}
		if w.keys.serves(mine, signer) {
			h.nonces = []note.Nonce{nonce}
			w.taken[string(id)] = true
			return &funds{tokens: []tokenRecord{*h}, sum: h.Value, signer: signer}, nil
		}
	}
	return nil, deny("only another wallet may %s this token", u.Kind)
}
