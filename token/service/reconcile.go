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

// Reconcile follows the ledger's log from where it ended before, and the policy with it, and notes what has become of the requests that
// were signed: which have landed, and which never will, since another request has taken their anchor or a token that they spend. The auditor's
// Policy hears of both (Settled), and Unlanded yields the rest. A record that was not signed, or not as it is there or with that witness, goes to
// stray: if every request needs this auditor, either the vault has been lost or a validator is not to be
// trusted. A record that a fork has of its parent is no stray. Records are checked as by Wallet.Sync, and validated if
// Vault.CheckRecords says so; errors are Sync's.
//
// The vault counts a record as seen only after stray and Settled have returned nil for it and for all before it. If one of them returns an
// error, or the process ends, the next Reconcile tells it again: it may be told twice, and is never lost. Updates of the policy behind it are
// followed only then. If stray is nil, Reconcile returns ErrParams when there is something to tell. stray and Settled must not call Sync or
// Reconcile of the same vault.
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
	landed  bool                // it is one
	refused map[string][32]byte // the digests of those that can never land behind it, by anchor
}

// tell finds what a record does to signed requests, and tells the policy and stray of it. told has the anchors of requests that records before
// it, which are not written yet, have refused.
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
			return ledger.Corruptf(named(r.Seq), "it can never land behind a request before it")
		}
		o.landed = true
		err := own.again(r.Digest, r.parsed.Request)
		if errors.Is(err, zkbench.ErrAnchorConflict) { // others have signed for its inputs than the auditor was shown
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
	case !r.Update && r.Seq > s.vault.genesis.Inherited(): // updates no auditor signs, and what a parent accepted was signed for the parent
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

// refusedBy returns the signed requests that can never land behind a record, and of which that is not known yet: by anchor, without what was
// signed, since whoever makes up tokens can have any number of them signed.
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

// note notes what a record does to signed requests. It returns a *ledger.CorruptError if one has landed before.
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
		err = ledger.Corruptf(named(s.Seq), "it is request %d once more", one.landed)
	}
	if err != nil {
		return err
	}
	one.landed = s.Seq
	return putSigned(tx, s.Anchor, one)
}

// unland forgets what has become of signed requests.
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

// Unlanded yields the anchors of requests that were signed, that Reconcile has not found on the ledger, and that may land yet. After an
// error it stops.
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
