package service

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"
)

// Release frees the tokens that a submission holds, for a request that was lost. The vault goes on
// waiting for its anchor, so that a request that lands after all is noticed; whoever pays the same payees again may then have
// paid twice, since the second payment may take other tokens: Cancel prevents it. A request that nobody can have seen is for Discard. An issue holds nothing
// that could be freed. An anchor that no submission has is an ErrParams.
func (v *Vault) Release(ctx context.Context, anchor []byte) error {
	return v.update(ctx, func(tx *bbolt.Tx) error {
		k, err := waiting(tx, anchor)
		if err != nil {
			return err
		}
		k.released = true
		if err := free(tx, anchor, k); err != nil {
			return err
		}
		return putKept(tx, anchor, k)
	})
}

// Discard forgets submissions that have not left this process, and frees the tokens
// that they hold; all of them or none. The history keeps that they were cancelled. If one lands all the same, it is as if another wallet of the same keys had made it. An
// anchor that no submission has is an ErrParams.
func (v *Vault) Discard(ctx context.Context, anchors ...[]byte) error {
	return v.update(ctx, func(tx *bbolt.Tx) error {
		for _, anchor := range anchors {
			k, err := waiting(tx, anchor)
			if err != nil {
				return err
			}
			if err := abandon(tx, anchor, k, Cancelled); err != nil {
				return err
			}
		}
		return nil
	})
}

// waiting returns a submission.
func waiting(tx *bbolt.Tx, anchor []byte) (*kept, error) {
	k, err := getKept(tx, anchor)
	if err == nil && k == nil {
		err = refuse("no submission of this anchor waits for the ledger")
	}
	return k, err
}

// abandon forgets a submission that will never be on the ledger, and frees what it holds. The history keeps why.
func abandon(tx *bbolt.Tx, anchor []byte, k *kept, status Status) error {
	if err := free(tx, anchor, k); err != nil {
		return err
	}
	if err := noteStatus(tx, anchor, status); err != nil {
		return err
	}
	return dropKept(tx, anchor, k)
}

// free frees the tokens that a submission holds.
func free(tx *bbolt.Tx, anchor []byte, k *kept) error {
	for _, id := range k.inputs {
		h, err := getToken(tx, id)
		if err != nil {
			return err
		}
		if h == nil || h.state != reserved || !bytes.Equal(h.anchor, anchor) {
			continue
		}
		if err := regain(tx, h, anchor); err != nil {
			return err
		}
	}
	return nil
}
