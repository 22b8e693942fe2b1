package service

import (
	"bytes"
	"context"
	"errors"
	"math"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
)

// adopt makes the policy of parameters the vault's, and that of the updates which it has followed. An update that does not hold ends that, and keeps
// nobody from opening the vault: the next read of a log replaces it.
func (v *Vault) adopt(params *token.PublicParams) error {
	if err := policy.Check(&params.Policy); err != nil {
		return err
	}
	v.following.Lock()
	defer v.following.Unlock()
	v.first.Store(params.Policy.Clone())
	rules, _, err := v.kept(context.Background())
	if err == nil {
		v.current.Store(rules)
	}
	return err
}

// kept returns the policy at the end of the updates that the vault has kept, and why the next one does not hold, if there is one.
func (v *Vault) kept(ctx context.Context) (rules *token.Policy, wrong, err error) {
	rules, err = policy.Follow(ctx, updates{v, math.MaxUint64}, v.genesis, v.first.Load())
	_, failed := errors.AsType[*zkbench.CheckError](err)
	if failed || errors.Is(err, zkbench.ErrMalformed) || errors.Is(err, zkbench.ErrParams) {
		wrong, err = err, nil
	}
	return rules, wrong, err
}

// rules is the ledger's policy as far as the vault has followed it.
func (v *Vault) rules() *token.Policy { return v.current.Load() }

// nextPolicy returns the policy that an update in the log makes, nil if the vault has it. It returns a *ledger.CorruptError if the update
// does not verify, or is not the vault's.
func (v *Vault) nextPolicy(s *step) (*token.Policy, error) {
	u, rules := s.parsed.Update, v.rules()
	if u.Policy.Version > rules.Version {
		if err := u.Verify(v.genesis.ForRecord(s.Seq).ID(), rules); err != nil {
			return nil, ledger.Corruptf(named(s.Seq), "%v", err)
		}
		return u.Policy.Clone(), nil
	}
	// Another reader of the vault has followed it before.
	kept, found, err := updates{v, rules.Version}.Record(context.Background(), s.Anchor)
	if err == nil && !found {
		err = damaged(bucketPolicies, errors.New("lacks an update that the vault has followed"))
	}
	if err != nil {
		return nil, err
	}
	had, err := policy.Decode(kept.Request)
	if err != nil {
		return nil, damaged(bucketPolicies, err)
	}
	if digest, err := had.Digest(); err != nil || digest != s.Digest {
		return nil, ledger.Corruptf(named(s.Seq), "another update of policy %d than the vault has followed", s.Policy)
	}
	return nil, nil
}

// recoverPolicy has a ledger give again the updates up to a version that the vault has followed and does not have, or has wrong.
func (v *Vault) recoverPolicy(ctx context.Context, l Ledger, version uint64) error {
	for rules := v.rules(); rules.Version < version; rules = v.rules() {
		source := &last{Source: l}
		next, err := policy.Next(ctx, source, v.genesis, rules)
		if err == nil && next == nil {
			err = ledger.Corruptf("policy", "the ledger has no update of policy %d, and the vault has followed it to %d", rules.Version, version)
		}
		if err != nil {
			return err
		}
		if err := v.update(context.WithoutCancel(ctx), func(tx *bbolt.Tx) error {
			return put(tx, bucketPolicies, policy.Anchor(next.Version), source.record.Request)
		}); err != nil {
			return err
		}
		v.current.Store(next)
	}
	return nil
}

// last remembers the last record that a source has given.
type last struct {
	policy.Source
	record ledger.Record
}

// Record implements policy.Source.
func (l *last) Record(ctx context.Context, anchor []byte) (r ledger.Record, found bool, err error) {
	l.record, found, err = l.Source.Record(ctx, anchor)
	return l.record, found, err
}

// updates are those of the policy that a vault has kept, up to a version.
type updates struct {
	*Vault
	to uint64
}

// Record implements policy.Source.
func (u updates) Record(_ context.Context, anchor []byte) (r ledger.Record, found bool, err error) {
	if bytes.Compare(anchor, policy.Anchor(u.to)) > 0 { // anchors are in the order of versions
		return r, false, nil
	}
	err = u.view(func(tx *bbolt.Tx) (err error) {
		r.Request, err = get(tx, bucketPolicies, anchor)
		return err
	})
	if r.Request == nil || err != nil {
		return r, false, err
	}
	next, err := policy.Decode(r.Request)
	if err != nil {
		return r, false, err
	}
	r.Anchor, r.Update, r.Policy, r.Seq = anchor, true, next.Policy.Version-1, u.recordOf(next.Ledger)
	return r, true, nil
}

// recordOf returns the number of a record that was accepted on a ledger, which may be a parent of the vault's.
func (v *Vault) recordOf(id token.LedgerID) uint64 {
	seq := uint64(math.MaxUint64)
	for g, fork := v.genesis, true; fork && g.ID() != id; g, fork = g.Parent() {
		seq = g.Inherited()
	}
	return seq
}

// FollowAnew has the next Sync and the next Reconcile begin at the first record of the log, and forgets what the vault has learned from it. It is for a
// vault that a ledger has deceived, or that follows another log than it should. It keeps submissions with what they hold, what an auditor has signed, and
// what the history says of payments that the vault has made. Payments that had landed are pending until the log shows them again. Make the services of the vault
// again after it: they keep the policy that they have.
func (v *Vault) FollowAnew(ctx context.Context) error {
	v.following.Lock()
	defer v.following.Unlock()
	for _, who := range []reader{followed, reconciled} {
		if err := v.anew(ctx, who); err != nil {
			return err
		}
	}
	return nil
}

// anew is FollowAnew for one reader.
func (v *Vault) anew(ctx context.Context, who reader) error {
	if err := v.update(ctx, func(tx *bbolt.Tx) error {
		if err := empty(tx, bucketPolicies); err != nil {
			return err
		}
		return forget(tx, who)
	}); err != nil {
		return err
	}
	if first := v.first.Load(); first != nil {
		v.current.Store(first)
	}
	if v.checks != nil {
		v.checks.forget()
	}
	return nil
}

// forget removes what a reader has learned from the log, and its place.
func forget(tx *bbolt.Tx, who reader) error {
	for _, bucket := range []string{bucketUnspent, bucketAnchors} {
		c := tx.Bucket([]byte(bucket)).Cursor()
		prefix := who.key(nil)
		for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Seek(prefix) {
			if err := c.Delete(); err != nil {
				return err
			}
		}
	}
	if err := remove(tx, bucketMeta, []byte(who)); err != nil {
		return err
	}
	if who == reconciled {
		return unland(tx)
	}
	for _, bucket := range []string{bucketTokens, bucketFree, bucketScripts} {
		if err := empty(tx, bucket); err != nil {
			return err
		}
	}
	return forgetMoves(tx)
}
