package service

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Reconcile reads the ledger's log from where the last Reconcile ended, and follows the policy updates in it.
// It finds out what became of the requests that the auditor has signed. Some are on the ledger. Others can
// never be recorded, because another request has their anchor or has spent a token that they spend. Reconcile
// passes the requests of both kinds to the method Settled of the auditor's Policy. The method Unlanded yields
// the signed requests whose outcome is still open. Reconcile returns the number of signed requests that it found on the ledger.
//
// Reconcile passes a record to the function stray if the auditor has not signed the record's request, or has
// signed a request with the same content and another witness. If every request needs this auditor, a stray
// record means that the vault was lost or that a validator cannot be trusted. Policy updates, and records that
// a fork has from its parent, are not stray. Records are checked as Wallet.Sync checks them, and validated if
// Vault.CheckRecords was called. Errors are as for Sync.
//
// The vault counts a record as seen only after stray and Settled have returned nil for it and for all records
// before it. If stray or Settled returns an error, or the process ends, the next Reconcile reports the record
// again. So a record may be reported twice, and is never lost. Policy updates after that record are not
// followed until Reconcile has got past the record. If stray is nil, Reconcile returns ErrParams when there is
// a stray record. The functions stray and Settled must not call Sync or Reconcile on the same vault.
func (s *AuditorService) Reconcile(ctx context.Context, l Ledger, stray func(ledger.Record) error) (landed uint64, err error) {
	v := s.vault
	v.following.Lock()
	defer v.following.Unlock()
	if stray == nil {
		stray = func(r ledger.Record) error {
			return refuse("request %d was not signed by this auditor, and Reconcile has no function to report it to", r.Seq)
		}
	}
	found := make(map[uint64]bool)
	_, err = v.read(ctx, l, reconciled, s.validator.PointLen(), func(ctx context.Context, some []*step) (int, func(*bbolt.Tx, int) error, error) {
		outcomes, told := make([]outcome, len(some)), make(map[string]bool)
		write := func(tx *bbolt.Tx, i int) error {
			err := outcomes[i].note(tx, some[i])
			if err == nil && outcomes[i].landed {
				found[some[i].Seq] = true
			}
			return err
		}
		for i, r := range some {
			if err := s.tell(ctx, r, &outcomes[i], told, stray); err != nil {
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

// outcome is what a record does to the requests that an auditor has signed.
type outcome struct {
	landed  bool                // the record is one of them
	refused map[string][32]byte // the digests of those that can never be recorded after it, by anchor
}

// tell finds out what a record does to signed requests, and reports it to the policy and to stray. told
// contains the anchors of requests that earlier records, which are not written yet, have refused.
func (s *AuditorService) tell(ctx context.Context, r *step, o *outcome, told map[string]bool, stray func(ledger.Record) error) error {
	var own *signed
	if err := s.vault.view(func(tx *bbolt.Tx) (err error) {
		if own, err = getSigned(tx, r.Anchor); err == nil {
			o.refused, err = refusedBy(tx, r)
		}
		return err
	}); err != nil {
		return err
	}
	switch {
	case own != nil && own.digest == r.Digest:
		if own.refused || told[string(r.Anchor)] {
			return ledger.Corruptf(named(r.Seq), "it can never be recorded after a request before it")
		}
		o.landed = true
		err := own.checkSame(r.Digest, r.parsed.Request)
		if errors.Is(err, zkbench.ErrAnchorConflict) { // other members have signed for its inputs than the auditor was shown
			err = stray(r.Record)
		}
		if err != nil {
			return err
		}
		if own.landed == 0 {
			if err := s.policy.Settled(ctx, r.Anchor, r.Digest, true); err != nil {
				return err
			}
		}
	case !r.Update && r.Seq > s.vault.genesis.Inherited(): // auditors do not sign updates, and what a parent accepted was signed for the parent
		if err := stray(r.Record); err != nil {
			return err
		}
	}
	for _, anchor := range slices.Sorted(maps.Keys(o.refused)) {
		if told[anchor] {
			continue
		}
		if err := s.policy.Settled(ctx, []byte(anchor), o.refused[anchor], false); err != nil {
			return err
		}
		told[anchor] = true
	}
	return nil
}

// refusedBy returns the signed requests that can never be recorded after a record, if that is not known yet.
// They are indexed by anchor and come without what was signed, because anyone who invents tokens can have any
// number of requests signed.
func refusedBy(tx *bbolt.Tx, r *step) (map[string][32]byte, error) {
	anchors := [][]byte{r.Anchor}
	for _, id := range r.Spends {
		more, err := spenders(tx, bucketAudited, id)
		if err != nil {
			return nil, err
		}
		anchors = append(anchors, more...)
	}
	refused := make(map[string][32]byte)
	for _, anchor := range anchors {
		one, err := getSigned(tx, anchor)
		if err != nil {
			return nil, err
		}
		if one != nil && one.open() && (one.digest != r.Digest || !bytes.Equal(anchor, r.Anchor)) {
			refused[string(anchor)] = one.digest
		}
	}
	return refused, nil
}

// note records what a record does to signed requests. It returns a *ledger.CorruptError if the log had the
// request before.
func (o *outcome) note(tx *bbolt.Tx, s *step) error {
	for anchor := range o.refused {
		one, err := getSigned(tx, []byte(anchor))
		if err != nil {
			return err
		}
		one.refused = true
		if err := putSigned(tx, []byte(anchor), one); err != nil {
			return err
		}
	}
	if !o.landed {
		return nil
	}
	one, err := getSigned(tx, s.Anchor)
	if err == nil && one.landed != 0 && one.landed != s.Seq {
		err = ledger.Corruptf(named(s.Seq), "it repeats request %d", one.landed)
	}
	if err != nil {
		return err
	}
	one.landed = s.Seq
	return putSigned(tx, s.Anchor, one)
}

// unland forgets what became of signed requests.
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
		one.landed, one.refused = 0, false
		if err := putSigned(tx, anchor, one); err != nil {
			return err
		}
	}
	return nil
}

// Unlanded yields the anchors of signed requests that Reconcile has not found on the ledger and that may still
// be recorded. After an error it stops.
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
			if one != nil && one.open() && !yield(anchor, nil) {
				return
			}
		}
	}
}
