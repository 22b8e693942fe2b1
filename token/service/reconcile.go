package service

import (
	"context"
	"encoding/binary"
	"errors"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/ledger"
)

// Log is what an auditor asks a ledger.Ledger.
type Log interface {
	// Genesis returns what the ledger was created with.
	Genesis() ledger.Genesis
	// Log yields the records from a sequence number on.
	Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error]
}

var _ Log = ledger.Ledger(nil)

// reconciledKey is where in bucketMeta the number of the last record stands that Reconcile has seen.
const reconciledKey = "reconciled"

// Reconcile goes through the ledger's log from where it ended before, and notes which of the requests that were
// signed have landed; Unlanded yields the others. A record that was not signed, or not as it is there, goes to
// stray: where every request needs this auditor, either the vault has been lost or a validator is not to be
// trusted. When ctx ends or stray returns an error, what was seen until then is noted.
func (s *AuditorService) Reconcile(ctx context.Context, l Log, stray func(ledger.Record) error) (landed uint64, err error) {
	v := s.vault
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return 0, err
	}
	var last uint64
	err = v.view(func(tx *bbolt.Tx) (err error) {
		last, err = reconciled(tx)
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
				switch is, err := landedAs(tx, &seen[i]); {
				case err != nil:
					return err
				case is:
					found++
				default:
					strays = append(strays, seen[i])
				}
			}
			end := binary.BigEndian.AppendUint64(nil, seen[len(seen)-1].Seq)
			return put(tx, bucketMeta, []byte(reconciledKey), end)
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
	for r, err := range l.Log(ctx, last+1) {
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

// landedAs notes that a record has landed, and tells whether it was signed.
func landedAs(tx *bbolt.Tx, r *ledger.Record) (bool, error) {
	one, err := getSigned(tx, r.Anchor)
	if err != nil || one == nil || one.digest != r.Digest {
		return false, err
	}
	one.landed = r.Seq
	return true, putSigned(tx, r.Anchor, one)
}

// reconciled is the number of the last record that Reconcile has seen.
func reconciled(tx *bbolt.Tx) (uint64, error) {
	body, err := get(tx, bucketMeta, []byte(reconciledKey))
	switch {
	case body == nil || err != nil:
		return 0, err
	case len(body) != 8:
		return 0, ledger.Corruptf("bucket "+bucketMeta, "%d bytes under %q, want 8", len(body), reconciledKey)
	}
	return binary.BigEndian.Uint64(body), nil
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
