package service

import (
	"context"
	"errors"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/ledger"
)

// reconciledKey is where in bucketMeta the number of the last record stands that Reconcile has seen.
const reconciledKey = "reconciled"

// Reconcile follows the ledger's policy, and goes through its log from where it ended before, and notes which of the requests that were
// signed have landed; Unlanded yields the others. A record that was not signed, or not as it is there, goes to
// stray: where every request needs this auditor, either the vault has been lost or a validator is not to be
// trusted. When ctx ends or stray returns an error, what was seen until then is noted.
func (s *AuditorService) Reconcile(ctx context.Context, l Ledger, stray func(ledger.Record) error) (landed uint64, err error) {
	v := s.vault
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return 0, err
	}
	if err := s.follow(ctx, l); err != nil {
		return 0, err
	}
	var last place
	err = v.view(func(tx *bbolt.Tx) (err error) {
		last, err = placeOf(tx, reconciledKey)
		return err
	})
	if err != nil {
		return 0, err
	}
	var seen []ledger.Record
	note := func() error {
		if len(seen) == 0 {
			return nil
		}
		var found uint64
		var strays []ledger.Record
		err := v.update(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error {
			found, strays = 0, nil // it may run again
			for i := range seen {
				if seen[i].Update {
					continue // which administrators sign, and no auditor
				}
				switch is, err := landedAs(tx, &seen[i]); {
				case err != nil:
					return err
				case is:
					found++
				default:
					strays = append(strays, seen[i])
				}
			}
			end := &seen[len(seen)-1]
			return putPlace(tx, reconciledKey, place{end.Seq, end.Digest})
		})
		seen = seen[:0]
		if err != nil {
			return err
		}
		landed += found
		for _, r := range strays {
			if err := stray(r); err != nil {
				return err
			}
		}
		return nil
	}
	for r, err := range last.since(ctx, l) {
		if err == nil {
			seen = append(seen, r)
			if len(seen) == chunk {
				err = note()
			}
		}
		if err != nil {
			return landed, errors.Join(note(), err)
		}
	}
	return landed, note()
}

// follow adopts the updates of the ledger's policy.
func (s *AuditorService) follow(ctx context.Context, l Ledger) error {
	s.vault.following.Lock()
	defer s.vault.following.Unlock()
	if err := s.vault.followPolicy(ctx, l); err != nil {
		return err
	}
	return s.adopt(ctx)
}

// landedAs notes that a record has landed, and tells whether it was signed.
func landedAs(tx *bbolt.Tx, r *ledger.Record) (bool, error) {
	one, err := getSigned(tx, r.Anchor)
	if err != nil || one == nil || one.digest != r.Digest {
		return false, err
	}
	one.landed = r.Seq
	return true, putSigned(tx, r.Anchor, one)
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
