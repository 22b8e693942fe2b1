package service

import (
	"bytes"
	"context"
	"slices"

	"go.etcd.io/bbolt"
)

// land settles the submission of a digest that is on the ledger.
func land(tx *bbolt.Tx, anchor []byte, digest [32]byte) error {
	k, err := getKept(tx, anchor)
	if err != nil || k == nil || k.digest != digest { // settled, and the anchor used again
		return err
	}
	for _, id := range k.inputs { // free, or another submission's, if this one was released
		if err := dropToken(tx, id); err != nil {
			return err
		}
	}
	if k.flags&flagDelivered != 0 || len(k.deliveries) == 0 {
		return dropKept(tx, anchor)
	}
	k.flags |= flagLanded
	return putKept(tx, anchor, k)
}

// abandon settles the submission of a digest that will never be on the ledger. Its
// inputs that it still holds take the states given, one for each; so does one that was
// released and is spent.
func abandon(tx *bbolt.Tx, anchor []byte, digest [32]byte, states []state) error {
	k, err := getKept(tx, anchor)
	if err != nil || k == nil || k.digest != digest { // settled, and the anchor used again
		return err
	}
	for i, id := range k.inputs {
		h, err := getToken(tx, id)
		if err != nil {
			return err
		}
		if h == nil || h.state == reserved && !bytes.Equal(h.anchor, anchor) || h.state != reserved && states[i] != 0 {
			continue
		}
		if err := h.become(tx, states[i]); err != nil {
			return err
		}
	}
	if len(k.change) > 0 {
		if err := remove(tx, bucketWaiting, k.change); err != nil {
			return err
		}
	}
	return dropKept(tx, anchor)
}

// Release frees the tokens that a submission holds, for a request that was lost. Its
// change stays expected and the vault goes on asking for its anchor, so that a request
// that lands after all is noticed; whoever pays the same payees again may then have
// paid twice. A request that nobody can have seen is for Discard. An issue holds nothing
// that could be freed.
func (v *Vault) Release(ctx context.Context, anchor []byte) error {
	return v.update(ctx, func(tx *bbolt.Tx) error {
		k, err := pending(tx, anchor)
		if err != nil {
			return err
		}
		for _, id := range k.inputs {
			h, err := getToken(tx, id)
			if err != nil {
				return err
			}
			if h == nil || h.state != reserved || !bytes.Equal(h.anchor, anchor) {
				continue
			}
			if err := h.become(tx, unspent); err != nil {
				return err
			}
		}
		k.flags |= flagReleased
		return putKept(tx, anchor, k)
	})
}

// Discard forgets submissions that have not left this process, and frees the tokens
// that they hold; all of them or none. If one lands all the same, its change and its
// deliveries are lost. One that Sync has found on the ledger is an ErrPolicy.
func (v *Vault) Discard(ctx context.Context, anchors ...[]byte) error {
	return v.update(ctx, func(tx *bbolt.Tx) error {
		for _, anchor := range anchors {
			k, err := pending(tx, anchor)
			if err != nil {
				return err
			}
			if err := abandon(tx, anchor, k.digest, slices.Repeat([]state{unspent}, len(k.inputs))); err != nil {
				return err
			}
		}
		return nil
	})
}

// Delivered says that the payees of submissions have their deliveries: the vault need
// not keep them. What waits for the ledger goes on waiting: a submission is forgotten
// when it has landed and is delivered, whichever comes first.
func (v *Vault) Delivered(ctx context.Context, anchors ...[]byte) error {
	return v.update(ctx, func(tx *bbolt.Tx) error {
		for _, anchor := range anchors {
			k, err := getKept(tx, anchor)
			if err != nil {
				return err
			}
			if k == nil {
				continue // said before
			}
			if k.flags&flagLanded != 0 {
				err = dropKept(tx, anchor)
			} else {
				k.flags |= flagDelivered
				err = putKept(tx, anchor, k)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// pending returns a submission that is not known to have landed.
func pending(tx *bbolt.Tx, anchor []byte) (*kept, error) {
	k, err := getKept(tx, anchor)
	switch {
	case err != nil:
		return nil, err
	case k == nil:
		return nil, refuse("no submission of this anchor")
	case k.flags&flagLanded != 0:
		return nil, policy("the submission is on the ledger")
	}
	return k, nil
}
