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

// Cancel makes a request that spends a token of a submission which waits for the ledger back to the wallet. Once it is on the
// ledger, the submission can never land: what else it held is free again, and the history has it as cancelled. If the submission lands
// first, the request of Cancel can never land. So paying again after Cancel has landed does not pay twice, as it may after Release.
//
// Durability and errors are as of Transfer. Cancel returns an ErrParams for an anchor of no submission, and an ErrPolicy if
// no token of the submission is the wallet's alone and held by nothing else: a token owned with others is spent by Propose.
func (s *TransferService) Cancel(ctx context.Context, anchor []byte) (*Submission, error) {
	f, err := s.wallet.takeBack(anchor)
	if err != nil {
		return nil, err
	}
	return s.merge(ctx, f)
}

// Consolidate makes a request that merges the smallest tokens of a type into one of the wallet's: as many as the policy lets one
// action spend, and whose sum a token can have. Durability and errors are as of Transfer. Consolidate returns an ErrPolicy if there are
// fewer than two such tokens.
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

// takeBack reserves in memory a token that the submission of an anchor holds, or has released.
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
				f = &funds{tokens: []held{*h}, sum: h.Value, of: anchor}
				v.taken[string(id)] = true
				return nil
			}
		}
		return deny("the submission has no token that is the wallet's alone and that nothing else spends")
	})
	return f, err
}

// takeSmallest reserves in memory the smallest tokens of a type, at most so many and of a sum below 2^width.
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
