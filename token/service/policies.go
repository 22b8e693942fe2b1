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

// adopt sets the vault's policy: that of the parameters, changed by the updates that the vault has stored. It
// stops before an update that is not valid. Such an update does not prevent opening the vault, because the next
// read of a log replaces it.
func (v *Vault) adopt(params *token.PublicParams) error {
	if err := policy.Check(&params.Policy); err != nil {
		return err
	}
	v.following.Lock()
	defer v.following.Unlock()
	v.first.Store(params.Policy.Clone())
	rules, _, err := v.storedPolicy(context.Background())
	if err == nil {
		v.current.Store(rules)
	}
	return err
}

// storedPolicy returns the policy after the updates that the vault has stored. If one of them is not valid, it
// stops there, and wrong says why.
func (v *Vault) storedPolicy(ctx context.Context) (rules *token.Policy, wrong, err error) {
	rules, err = policy.Follow(ctx, updates{v, math.MaxUint64}, v.genesis, v.first.Load())
	_, failed := errors.AsType[*zkbench.CheckError](err)
	if failed || errors.Is(err, zkbench.ErrMalformed) || errors.Is(err, zkbench.ErrParams) {
		wrong, err = err, nil
	}
	return rules, wrong, err
}

// rules returns the ledger's policy as far as the vault has followed it.
func (v *Vault) rules() *token.Policy { return v.current.Load() }

// policyAt returns the policy of a version that the vault has followed.
func (v *Vault) policyAt(ctx context.Context, version uint64) (*token.Policy, error) {
	if rules := v.rules(); rules.Version == version {
		return rules, nil
	}
	return policy.Follow(ctx, updates{v, version}, v.genesis, v.first.Load())
}

// nextPolicy returns the policy that an update in the log makes, or nil if the vault has it already. It returns
// a *ledger.CorruptError if the update does not verify, or differs from the vault's.
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

// recoverPolicy asks a ledger again for the updates that the vault has followed, up to a version, and that are
// now missing or wrong.
func (v *Vault) recoverPolicy(ctx context.Context, l Ledger, version uint64) error {
	for rules := v.rules(); rules.Version < version; rules = v.rules() {
		source := &lastRecord{Source: l}
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

// lastRecord remembers the last record that a source returned.
type lastRecord struct {
	policy.Source
	record ledger.Record
}

// Record implements policy.Source.
func (l *lastRecord) Record(ctx context.Context, anchor []byte) (r ledger.Record, found bool, err error) {
	l.record, found, err = l.Source.Record(ctx, anchor)
	return l.record, found, err
}

// updates are the policy updates that a vault has stored, up to a version.
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
	r.Anchor, r.Update, r.Policy = anchor, true, next.Policy.Version-1
	return r, true, nil
}

// FollowAnew makes the next Sync and the next Reconcile begin at the first record of the log. It removes what
// the vault has learned from the log. Use it if a ledger has deceived the vault, or if the vault follows the
// wrong log.
//
// FollowAnew keeps pending submissions with the tokens that they reserve, what an auditor has signed, and the
// history of the vault's own payments. Payments that were recorded on the ledger become pending until Sync
// finds them in the log again. After FollowAnew, create new services for the vault, because the old ones still
// have the policy that they had reached.
func (v *Vault) FollowAnew(ctx context.Context) error {
	v.following.Lock()
	defer v.following.Unlock()
	for _, who := range []reader{followed, reconciled} {
		if err := v.restart(ctx, who); err != nil {
			return err
		}
	}
	return nil
}

// restart does what FollowAnew does, for one reader.
func (v *Vault) restart(ctx context.Context, who reader) error {
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

// forget removes what a reader has learned from the log, and its position.
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
	for _, key := range [][]byte{[]byte(who), who.headKey()} {
		if err := remove(tx, bucketMeta, key); err != nil {
			return err
		}
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
