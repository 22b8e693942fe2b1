package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"math/bits"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/script"
)

// Cancel makes a request that pays one token of a pending submission back to the wallet. If Cancel's request is
// recorded on the ledger first, the submission can never be recorded. The submission's other tokens are then
// free again, and the history lists the submission as cancelled. If the submission is recorded first, Cancel's
// request can never be recorded. So it is safe to pay again once Cancel's request is recorded. If you have
// called Release instead and pay again, the payees may be paid twice.
//
// Durability and errors are as for Transfer. Cancel returns ErrParams if no pending submission has the anchor.
// It returns ErrPolicy if the submission has no token that the wallet owns alone and that nothing else
// reserves. Use Propose to spend tokens that are owned together with others.
func (s *TransferService) Cancel(ctx context.Context, anchor []byte) (*Submission, error) {
	f, err := s.wallet.takeBack(anchor)
	if err != nil {
		return nil, err
	}
	return s.merge(ctx, f)
}

// Consolidate makes a request that merges the smallest tokens of a type into one token of the wallet. It merges
// as many tokens as one action may spend, and only as many as add up to a value that one token can have.
// Durability and errors are as for Transfer. Consolidate returns ErrPolicy if it finds fewer than two tokens to
// merge.
func (s *TransferService) Consolidate(ctx context.Context, typ string) (*Submission, error) {
	f, err := s.wallet.takeSmallest(typ, s.rules().Limits.Inputs, s.params.Bits)
	if err != nil {
		return nil, err
	}
	return s.merge(ctx, f)
}

// merge spends tokens of one type, which are reserved in memory, to a fresh address of the wallet.
func (s *TransferService) merge(ctx context.Context, f *funds) (*Submission, error) {
	defer s.wallet.endReservation(f)
	rules := s.rules()
	nonce, err := newNonce(rand.Reader)
	if err != nil {
		return nil, err
	}
	to, err := s.wallet.keys.address(rules, nonce, nil)
	if err != nil {
		return nil, err
	}
	p, err := s.plan(rules, Order{Type: f.tokens[0].Type, Payments: []Payment{{to, f.sum}}})
	if err != nil {
		return nil, err
	}
	if err := p.allowed([]Address{to}); err != nil {
		return nil, err
	}
	return s.submit(ctx, []*part{{plan: p, funds: f, outputs: &outputs{tos: []Address{to}, values: []uint64{f.sum}}}})
}

// takeBack reserves in memory a token that the submission with an anchor reserves, or has released.
func (v *Vault) takeBack(anchor []byte) (f *funds, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err = v.view(func(tx *bbolt.Tx) error {
		k, err := waiting(tx, anchor)
		if err != nil {
			return err
		}
		for _, id := range k.inputs {
			h, err := getToken(tx, id)
			switch {
			case err != nil:
				return err
			case h == nil || v.taken[string(id)] || script.IsScript(h.Token.Owner):
			case h.state == unspent, h.state == reserved && bytes.Equal(h.anchor, anchor):
				f = &funds{tokens: []tokenRecord{*h}, sum: h.Value, of: anchor}
				v.taken[string(id)] = true
				return nil
			}
		}
		return deny("the submission has no token that is the wallet's alone and that nothing else spends")
	})
	return f, err
}

// takeSmallest reserves in memory the smallest tokens of a type, up to most of them, with a sum below 2^width.
func (v *Vault) takeSmallest(typ string, most, width int) (f *funds, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	err = v.view(func(tx *bbolt.Tx) error {
		prefix := typeKey(typ)
		c := tx.Bucket([]byte(bucketFree)).Cursor()
		var ids []token.ID
		var sum uint64
		for key, record := c.Seek(prefix); bytes.HasPrefix(key, prefix) && len(ids) < most; key, record = c.Next() {
			if _, err := boltfile.Unseal(bucketFree, key, record, 0); err != nil {
				return err
			}
			_, value, id, err := parseFreeKey(key)
			if err != nil {
				return err
			}
			if v.taken[string(id)] {
				continue
			}
			next, carry := bits.Add64(sum, value, 0)
			if carry != 0 || bits.Len64(next) > width {
				break // the next ones are worth as much or more
			}
			ids, sum = append(ids, bytes.Clone(id)), next
		}
		if len(ids) < 2 {
			return deny("%d tokens of this type that one token could hold, accepted are 2 or more", len(ids))
		}
		f, err = load(tx, ids)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range f.tokens {
		v.taken[string(f.tokens[i].ID)] = true
	}
	return f, nil
}
