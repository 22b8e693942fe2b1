package service

import (
	"bytes"
	"context"

	"go.etcd.io/bbolt"
)

// Release frees the tokens that a pending submission reserves. Use it if the request was lost. The vault still
// waits for the request, and so notices if the request is recorded on the ledger after all. If you pay the same
// payees again after Release, they may be paid twice, because the second payment may spend other tokens; Cancel
// prevents this. If nobody else can have seen the request, use Discard. An issue reserves no tokens, so Release
// frees none. Release returns ErrParams if no pending submission has the anchor.
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
		return putPending(tx, anchor, k)
	})
}

// Discard removes the submissions with the given anchors and frees the tokens that they reserve. It removes
// either all of these submissions or none. Call it only for requests that nobody else can have seen. The
// history lists the submissions as cancelled. If the request of a discarded submission is recorded on the
// ledger after all, the wallet treats it as one made by another wallet with the same keys. Discard returns
// ErrParams if no pending submission has one of the anchors.
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

// waiting returns the pending submission with an anchor, or ErrParams if there is none.
func waiting(tx *bbolt.Tx, anchor []byte) (*pendingRecord, error) {
	k, err := getPending(tx, anchor)
	if err == nil && k == nil {
		err = refuse("no submission of this anchor waits for the ledger")
	}
	return k, err
}

// abandon removes a submission that will never be on the ledger, and frees the tokens that it reserves. The
// history stores why.
func abandon(tx *bbolt.Tx, anchor []byte, k *pendingRecord, status Status) error {
	if err := free(tx, anchor, k); err != nil {
		return err
	}
	if err := noteStatus(tx, anchor, status); err != nil {
		return err
	}
	return removePending(tx, anchor, k)
}

// free frees the tokens that a submission reserves.
func free(tx *bbolt.Tx, anchor []byte, k *pendingRecord) error {
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
