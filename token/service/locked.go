package service

import (
	"context"
	"iter"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/note"
	"github.com/zkbench/zkbench/token/script"
)

// HeldLocked is a token that a hash time lock owns, one of whose identities is the wallet's.
type HeldLocked struct {
	Held
	Lock *script.HashLock
}

// Locked yields the tokens of hash time locks that are on the ledger and that no submission holds, by id. After an error it
// stops.
func (v *Vault) Locked() iter.Seq2[HeldLocked, error] {
	return func(yield func(HeldLocked, error) bool) {
		for h, err := range v.ofScripts(script.TypeHashLock) {
			var out HeldLocked
			if err == nil {
				out.Held = h.held()
				out.Lock, err = script.ParseHashLock(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}

// ofScripts yields the tokens that scripts of a type own and that no submission holds, by id.
func (v *Vault) ofScripts(typ identity.Type) iter.Seq2[*held, error] {
	return func(yield func(*held, error) bool) {
		for id, err := range v.keys(bucketScripts, nil, nil) {
			var h *held
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

// Claim spends a token of a hash time lock to the recipient's address, which is the wallet's, with the preimage. A validator
// accepts that before the deadline, and the preimage is public when it has: who has none yet must not claim.
// What Transfer says of durability and errors holds; an id that is no token of a lock on the ledger, another
// preimage, and a recipient who is not the wallet are an ErrPolicy.
func (s *TransferService) Claim(ctx context.Context, id token.ID, preimage []byte) (*Submission, error) {
	return s.unlock(ctx, id, script.Unlock{Kind: script.Claim, Preimage: preimage})
}

// Reclaim spends a token of a hash time lock to the sender's address, which is the wallet's. A validator accepts that from the
// deadline on. Errors are as Claim's.
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

// takeLocked reserves a token of a lock in memory, as take does; its one nonce is that of the identity which signs.
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
		return nil, deny("token %x is none of a hash time lock that can be spent", []byte(id))
	}
	lock, err := script.ParseHashLock(h.Token.Owner)
	if err != nil {
		return nil, err
	}
	signer := lock.Sender()
	if u.Kind == script.Claim {
		if image, err := script.Image(u.Preimage); err != nil || image != lock.Image() {
			return nil, deny("the preimage is another image's")
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
			return &funds{tokens: []held{*h}, sum: h.Value, signer: signer}, nil
		}
	}
	return nil, deny("who may %s is no address of this wallet", u.Kind)
}
