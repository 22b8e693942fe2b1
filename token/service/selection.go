package service

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/script"
)

// funds are tokens that a call has selected and that no other call can select.
type funds struct {
	tokens []tokenRecord
	sum    uint64
	shared bool   // some of them are owned together with others
	of     []byte // the anchor of the submission that reserves them and that is being cancelled
	// Set if the only token is in a hash time lock: the party that signs for it, and the witness.
	signer  identity.Identity
	witness script.Witness
}

// take selects tokens for an order, up to most of them, and reserves them in memory until endReservation. It
// returns ErrAnchorConflict if a submission has the order's anchor.
func (v *Vault) take(p *plan, most int) (f *funds, err error) {
	// The lock is held from before the view until the tokens are marked. So the next caller sees the mark, or a
	// view in which the tokens are reserved.
	v.mu.Lock()
	defer v.mu.Unlock()
	err = v.view(func(tx *bbolt.Tx) error {
		if err := unused(tx, p.Anchor); err != nil {
			return err
		}
		if p.From != nil {
			f, err = v.named(tx, p, most)
			return err
		}
		ids, err := v.choose(tx, p.Type, p.sum, most)
		if err != nil {
			return err
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

// named returns the tokens that an order names.
func (v *Vault) named(tx *bbolt.Tx, p *plan, most int) (*funds, error) {
	if n := len(p.From); n < 1 || n > most {
		return nil, tooMany("tokens that are named", n, most)
	}
	f := new(funds)
	for i, id := range p.From {
		h, err := getToken(tx, id)
		switch {
		case err != nil:
			return nil, err
		case h == nil || h.state != unspent || v.taken[string(id)]:
			return nil, deny("token %x is not free to be spent", []byte(id))
		case slices.ContainsFunc(p.From[:i], func(other token.ID) bool { return bytes.Equal(other, id) }):
			return nil, refuse("token %x is named twice", []byte(id))
		case h.Type != p.Type:
			return nil, refuse("token %x is of another type", []byte(id))
		case identity.Identity(h.Token.Owner).Type() == script.TypeHashLock:
			return nil, deny("token %x is locked: Claim and Reclaim spend it", []byte(id))
		}
		sum, carry := bits.Add64(f.sum, h.Value, 0)
		if carry != 0 {
			return nil, fmt.Errorf("%w: tokens worth 2^64 or more together", zkbench.ErrLimit)
		}
		f.tokens, f.sum, f.shared = append(f.tokens, *h), sum, f.shared || script.IsScript(h.Token.Owner)
	}
	if f.sum < p.sum {
		return nil, &FundsError{Have: f.sum, Want: p.sum}
	}
	return f, nil
}

// endReservation ends a reservation in memory. The tokens are then free, or reserved durably.
func (v *Vault) endReservation(f *funds) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for i := range f.tokens {
		delete(v.taken, string(f.tokens[i].ID))
	}
}

// choose returns tokens that suffice, as few as possible and no more than most. It takes the smallest token
// that suffices. If there is none, it takes the largest, and continues with the rest of the payment. So the
// change is less than the last token, unless nothing is to be paid. Each step is one look-up in an index.
// choose refuses tokens worth 2^64 or more together, because auditors do not add them up, even if other tokens
// would do.
func (v *Vault) choose(tx *bbolt.Tx, typ string, want uint64, most int) (ids []token.ID, err error) {
	w := v.walk(tx, typ)
	left := want
	for len(ids) < most {
		id, value, err := w.least(left)
		if err != nil {
			return nil, err
		}
		if id != nil {
			if _, carry := bits.Add64(want-left, value, 0); carry != 0 {
				return nil, fmt.Errorf("%w: the tokens that suffice are worth 2^64 or more together", zkbench.ErrLimit)
			}
			return append(ids, id), nil
		}
		if id, value, err = w.largest(); err != nil {
			return nil, err
		}
		switch {
		case id == nil && want == 0:
			return nil, deny("no token is free, and a payment of 0 needs one")
		case id == nil:
			return nil, &FundsError{Have: want - left, Want: want}
		}
		ids, left = append(ids, id), left-value
	}
	n := most
	for {
		id, value, err := w.largest()
		if err != nil {
			return nil, err
		}
		if n++; id == nil {
			return nil, &FundsError{Have: want - left, Want: want}
		}
		if value >= left {
			limit := &zkbench.LimitError{What: "inputs for this payment", Estimate: int64(n), Max: int64(most)}
			return nil, fmt.Errorf("%w; Consolidate merges the smallest", limit)
		}
		left -= value
	}
}

// walk goes through the free tokens of a type that no call has selected, the largest first.
type walk struct {
	v      *Vault
	c      *bbolt.Cursor
	prefix []byte // of the keys of the type
	below  []byte // the key of the last one, or a key above all
}

func (v *Vault) walk(tx *bbolt.Tx, typ string) *walk {
	prefix := typeKey(typ)
	above := append(bytes.Clone(prefix), bytes.Repeat([]byte{0xff}, 8+token.MaxID+1)...)
	return &walk{v, tx.Bucket([]byte(bucketFree)).Cursor(), prefix, above}
}

// find steps from a key and its record to a token that has not been returned. It returns nil if there is none.
func (w *walk) find(key, record []byte, step func() ([]byte, []byte)) (found []byte, value uint64, id token.ID, err error) {
	for ; key != nil && bytes.HasPrefix(key, w.prefix) && bytes.Compare(key, w.below) < 0; key, record = step() {
		if _, err := boltfile.Unseal(bucketFree, key, record, 0); err != nil {
			return nil, 0, nil, err
		}
		if _, value, id, err = parseFreeKey(key); err != nil {
			return nil, 0, nil, err
		}
		if !w.v.taken[string(id)] {
			return key, value, bytes.Clone(id), nil
		}
	}
	return nil, 0, nil, nil
}

// least returns the smallest token that is worth at least value.
func (w *walk) least(value uint64) (token.ID, uint64, error) {
	key, record := w.c.Seek(binary.BigEndian.AppendUint64(bytes.Clone(w.prefix), value))
	_, value, id, err := w.find(key, record, w.c.Next)
	return id, value, err
}

// largest returns the largest token that it has not returned yet.
func (w *walk) largest() (token.ID, uint64, error) {
	step := w.c.Prev
	if key, _ := w.c.Seek(w.below); key == nil {
		step = w.c.Last
	}
	key, record := step()
	key, value, id, err := w.find(key, record, w.c.Prev)
	if key != nil {
		w.below = bytes.Clone(key)
	}
	return id, value, err
}

// load reads tokens.
func load(tx *bbolt.Tx, ids []token.ID) (*funds, error) {
	f := new(funds)
	for _, id := range ids {
		h, err := getToken(tx, id)
		if err != nil {
			return nil, err
		}
		if h == nil || h.state != unspent {
			return nil, ledger.Corruptf("bucket "+bucketFree, "names a token that is not unspent")
		}
		f.tokens, f.sum = append(f.tokens, *h), f.sum+h.Value
	}
	return f, nil
}
