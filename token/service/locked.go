package service

import (
	"context"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/script"
)

// ownOf returns what a wallet keeps of a delivery's owner: of its address, or of a script between two identities of which
// one is its address; nil where neither is.
func ownOf(tx *bbolt.Tx, d *Delivery) (*own, error) {
	if !script.IsScript(d.Token.Owner) {
		return getOwn(tx, d.Token.Owner)
	}
	lock, err := script.ParseHashLock(d.Token.Owner)
	if err != nil {
		return nil, err
	}
	if n := len(d.Audit); n != maxAudit {
		return nil, policy("audit information on %d identities of a script, accepted is %d", n, maxAudit)
	}
	for _, id := range []identity.Identity{lock.Sender(), lock.Recipient()} {
		if mine, err := getOwn(tx, id); mine != nil || err != nil {
			return &own{audit: d.Audit}, err
		}
	}
	return nil, nil
}

// HeldLocked is a token that a hash time lock owns, one of whose identities is the wallet's.
type HeldLocked struct {
	Held
	Lock *script.HashLock
}

// Locked yields the tokens of hash time locks that are on the ledger and that no submission holds, by id. After an error it
// stops.
func (v *Vault) Locked() iter.Seq2[HeldLocked, error] {
	return func(yield func(HeldLocked, error) bool) {
		for id, err := range v.keys(bucketLocked, nil, nil) {
			var h *held
			if err == nil {
				h, err = lookUp(v, token.ID(id), getToken)
			}
			if err == nil && (h == nil || h.state != unspent) {
				continue // settled meanwhile
			}
			var out HeldLocked
			if err == nil {
				out.Held = Held{ID: h.ID, Type: h.Opening.Type, Value: h.Opening.Value}
				out.Lock, err = script.ParseHashLock(h.Token.Owner)
			}
			if !yield(out, err) || err != nil {
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
	f, to, err := s.wallet.takeLocked(id, u)
	if err != nil {
		return nil, err
	}
	defer s.wallet.endReservation(f)
	f.witness = witness
	p, err := s.plan(Order{Type: f.tokens[0].Opening.Type, Payments: []Payment{{*to, f.sum}}})
	if err != nil {
		return nil, err
	}
	// All of it comes back: there is nobody to deliver to.
	out := &outputs{tos: []Address{*to}, values: []uint64{f.sum}, back: held{state: expected, own: own{f.tokens[0].key, to.Audit}}}
	return s.submit(ctx, p, f, out)
}

// takeLocked reserves a token of a lock in memory, as take does, and returns the address that it is spent to: that of
// the identity which signs.
func (v *Vault) takeLocked(id token.ID, u script.Unlock) (f *funds, to *Address, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.taken[string(id)] {
		return nil, nil, policy("token %x is being spent", []byte(id))
	}
	err = v.view(func(tx *bbolt.Tx) error {
		h, err := getToken(tx, id)
		if err != nil {
			return err
		}
		if h == nil || h.state != unspent || !script.IsScript(h.Token.Owner) {
			return policy("token %x is none of a script that can be spent", []byte(id))
		}
		lock, err := script.ParseHashLock(h.Token.Owner)
		if err != nil {
			return err
		}
		signer := lock.Sender()
		if u.Kind == script.Claim {
			if image, err := script.Image(u.Preimage); err != nil || image != lock.Image() {
				return policy("the preimage is another image's")
			}
			signer = lock.Recipient()
		}
		mine, err := getOwn(tx, signer)
		if err != nil {
			return err
		}
		if mine == nil {
			return policy("who may %s is no address of this wallet", u.Kind)
		}
		h.key, to = mine.key, &Address{Owner: signer, Audit: mine.audit}
		f = &funds{tokens: []held{*h}, sum: h.Opening.Value, signer: signer}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	v.taken[string(id)] = true
	return f, to, nil
}

// keepLocked notes what a transfer gives to a script of the wallet's, which is told of by nobody.
func keepLocked(tx *bbolt.Tx, d *Delivery) (key []byte, err error) {
	mine, err := ownOf(tx, d)
	if mine == nil || err != nil {
		return nil, err
	}
	h := &held{state: expected, own: *mine, Delivery: *d}
	return h.waitKey(), putToken(tx, h)
}
