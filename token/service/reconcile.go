package service

import (
	"bytes"
	"context"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/ledger"
)

// Reconcile follows the ledger's log from where it ended before, and the policy with it, and notes which of the requests that were
// signed have landed; Unlanded yields the others. A record that was not signed, or not as it is there, goes to
// stray: where every request needs this auditor, either the vault has been lost or a validator is not to be
// trusted. Records are checked as by Wallet.Sync, and validated if Vault.CheckRecords says so; errors are Sync's.
//
// The vault counts a record as seen only after stray has returned nil for it and for all before it. So what stray has not taken, because it returned an error or
// the process ended, is told again by the next Reconcile: a stray may be told twice, and is never lost. stray nil is an ErrParams if there is something to tell.
// Policy updates behind a stray that is not taken are not followed.
func (s *AuditorService) Reconcile(ctx context.Context, l Ledger, stray func(ledger.Record) error) (landed uint64, err error) {
	v := s.vault
	v.following.Lock()
	defer v.following.Unlock()
	if stray == nil {
		stray = func(r ledger.Record) error {
			return refuse("request %d was not signed by this auditor, and nobody is told", r.Seq)
		}
	}
	found := make(map[uint64]bool)
	_, err = v.read(ctx, l, reconciled, s.validator.PointLen(), func(_ context.Context, some []*step) (int, func(*bbolt.Tx, int) error, error) {
		signed := make([]bool, len(some))
		write := func(tx *bbolt.Tx, i int) error {
			if !signed[i] {
				return nil
			}
			err := noteLanded(tx, some[i])
			if err == nil {
				found[some[i].Seq] = true
			}
			return err
		}
		for i, r := range some {
			if signed[i], err = v.hasSigned(r); err == nil && !signed[i] && !r.Update { // which administrators sign, and no auditor
				err = stray(r.Record)
			}
			if err != nil {
				return i, write, err
			}
		}
		return len(some), write, nil
	})
	if adopted := s.adopt(context.WithoutCancel(ctx)); err == nil {
		err = adopted
	}
	return uint64(len(found)), err
}

// hasSigned tells whether the auditor has signed what a record says.
func (v *Vault) hasSigned(s *step) (bool, error) {
	one, err := lookUp(v, s.Anchor, getSigned)
	return one != nil && one.digest == s.Digest, err
}

// noteLanded notes that a signed request has landed. That it has before is a *ledger.CorruptError.
func noteLanded(tx *bbolt.Tx, s *step) error {
	one, err := getSigned(tx, s.Anchor)
	if err == nil && one.landed != 0 && one.landed != s.Seq {
		err = ledger.Corruptf(named(s.Seq), "it is request %d once more", one.landed)
	}
	if err != nil {
		return err
	}
	one.landed = s.Seq
	return putSigned(tx, s.Anchor, one)
}

// unland forgets which signed requests have landed.
func unland(tx *bbolt.Tx) error {
	var anchors [][]byte
	if err := tx.Bucket([]byte(bucketSigned)).ForEach(func(anchor, _ []byte) error {
		anchors = append(anchors, bytes.Clone(anchor))
		return nil
	}); err != nil {
		return err
	}
	for _, anchor := range anchors {
		one, err := getSigned(tx, anchor)
		if err != nil {
			return err
		}
		one.landed = 0
		if err := putSigned(tx, anchor, one); err != nil {
			return err
		}
	}
	return nil
}

// Unlanded yields the anchors of requests that were signed and that Reconcile has not found on the ledger. After an error
// it stops.
func (s *AuditorService) Unlanded() iter.Seq2[[]byte, error] {
	return func(yield func(anchor []byte, err error) bool) {
		for anchor, err := range s.vault.keys(bucketSigned, nil, nil) {
			var one *signed
			if err == nil {
				one, err = lookUp(s.vault, anchor, getSigned)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if one != nil && one.landed == 0 && !yield(anchor, nil) {
				return
			}
		}
	}
}
