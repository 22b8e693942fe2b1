package service

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sort"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/policy"
)

// newest is the newest head that a ledger shows, opened. If the ledger shows none yet, it is of size 0.
type newest struct {
	head.Opened
	signed []byte // nil: none
	policy uint64 // the version of the policy whose validators have signed
}

// needed returns head.ErrNoHead if the log has records and the ledger shows no head.
func (h *newest) needed() error {
	if h.signed == nil {
		return head.ErrNoHead
	}
	return nil
}

// RequireHead makes Sync and Reconcile return a *head.AgeError if the newest head that the ledger shows is more than
// maxAge old by this machine's clock. Then nothing of the log is counted. Validators sign the last head of a quiet
// ledger anew each minute, so a few minutes are a good choice for a program that is always online. If the policy
// has no validators, Sync and Reconcile then return head.ErrNoValidators. With a maxAge of 0 or less, heads of
// any age are accepted.
//
// The default accepts heads of any age: a wallet may follow a copy of the ledger, or be on a machine whose clock is
// wrong. Its tokens are right up to the head all the same. Only what happened later is missing.
func (v *Vault) RequireHead(maxAge time.Duration) {
	v.following.Lock()
	defer v.following.Unlock()
	v.maxAge = max(maxAge, 0)
}

// newestHead returns the head up to which records count. The policy rules is the one at the reader's position. If it
// has no validators, or if administrators have removed them since, the result is nil. The head must extend the last
// one that the reader has believed, and the log up to the position.
func (r *reading) newestHead(ctx context.Context, rules *token.Policy) (*newest, error) {
	if rules.HeadThreshold == 0 {
		return nil, r.withoutHead()
	}
	signed, err := r.ledger.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	var told head.Head
	if signed != nil {
		if told, err = head.ParseSigned(signed); err != nil {
			return nil, err
		}
	}
	last, signers, err := r.policiesOf(ctx, rules, told)
	if err != nil {
		return nil, err
	}
	kept, err := r.keptHead()
	position := r.end.Last() + 1
	if signed != nil && told.Size < position && (kept == nil || kept.Size < position) {
		// The position was reached while a policy had no validators. The head is one of earlier validators, and the
		// current ones have not signed yet.
		signed, kept = nil, nil
	}
	switch {
	case err != nil:
		return nil, err
	case last.HeadThreshold == 0:
		return nil, r.withoutHead()
	case signed == nil && (kept != nil || r.maxAge > 0):
		return nil, head.ErrNoHead
	case signed == nil:
		return new(newest), nil
	}
	h := &newest{signed: signed, policy: signers.Version}
	if h.Opened, err = head.Open(signed, r.genesis.ID(), signers); err != nil {
		return nil, err
	}
	if r.maxAge > 0 {
		if err := h.CheckAge(time.Now(), r.maxAge); err != nil {
			return nil, err
		}
	}
	return h, r.extends(ctx, h, kept)
}

// withoutHead refuses a policy without validators, if the vault requires heads.
func (v *Vault) withoutHead() error {
	if v.maxAge > 0 {
		return head.ErrNoValidators
	}
	return nil
}

// policiesOf asks the ledger for the updates that come after the given policy. Their administrators have signed
// them, so last, the policy after them, is not invented. The policy signers is the one in force at the size of the
// head: that of the last update which is proved to be a record under the head.
//
// The ledger may hide an update, or say that it comes after the head. Then the head must be signed by the
// validators of an older policy. They were in force up to the hidden update, and proved refuses the update if the
// log has it.
func (r *reading) policiesOf(ctx context.Context, rules *token.Policy, h head.Head) (last, signers *token.Policy, err error) {
	last, signers = rules, rules
	source, under := &lastRecord{Source: r.ledger}, true
	for {
		next, err := policy.Next(ctx, source, r.genesis, last)
		if err != nil || next == nil {
			return last, signers, err
		}
		last = next
		if under {
			if under, err = included(ctx, r.ledger, h, &source.record); err != nil {
				return nil, nil, err
			}
		}
		if under {
			signers = next
		}
	}
}

// included reports whether a ledger proves that a record is under a head.
func included(ctx context.Context, l ledger.HashReader, h head.Head, r *ledger.Record) (bool, error) {
	if r.Seq >= h.Size {
		return false, nil
	}
	proof, err := ledger.Inclusion(ctx, l, h.Size, r.Seq)
	if errors.Is(err, ledger.ErrNoLeaf) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("proof that request %d is in the log: %w", r.Seq, err)
	}
	return ledger.CheckInclusion(proof, h.Size, h.Root, r.Seq, r.Leaf()) == nil, nil
}

// extends checks that a head extends what the reader has believed. If two signed heads contradict each other, it
// stores both as evidence. An older head than the one kept contradicts it only if it was signed later.
func (r *reading) extends(ctx context.Context, h *newest, kept *keptHead) error {
	before := r.end.head(r.genesis)
	if kept == nil || kept.Size < before.Size { // the vault goes on without heads while there are no validators
		kept = nil
	} else {
		before = kept.Head
	}
	err := extends(ctx, r.ledger, h.Head, before)
	if is[*head.ExtendError](err) && kept != nil && (!errors.Is(err, head.ErrShorter) || h.Time.After(kept.time)) {
		return errors.Join(err, r.keepEvidence(ctx, &Evidence{Reason: err.Error(), Kept: kept.signed, Told: h.signed}))
	}
	return err
}

// extends checks that the log of a head begins with the log of an earlier one. It returns a *head.ExtendError if a
// ledger does not prove that.
func extends(ctx context.Context, l ledger.HashReader, h, before head.Head) error {
	var proof tlog.TreeProof
	if h.Size > before.Size {
		var err error
		proof, err = ledger.Consistency(ctx, l, before.Size, h.Size)
		if err != nil && !errors.Is(err, ledger.ErrNoLeaf) { // a ledger without the leaves of its head has no proof
			return fmt.Errorf("proof that the log of %d leaves extends that of %d: %w", h.Size, before.Size, err)
		}
	}
	return h.Extends(before, proof)
}

// proved returns how many of the records that were read are proved to be under the head, and why the next one is
// not.
func (r *reading) proved(ctx context.Context) (good int, err error) {
	some := r.some
	if r.head == nil {
		return len(some), nil
	}
	var hidden error
	if last := some[len(some)-1]; last.Update && last.parsed.Update.Policy.Version > r.head.policy {
		hidden = ledger.Corruptf(named(last.Seq), "it updates the policy, and the head %v is signed by the validators of policy %d", r.head, r.head.policy)
		some = some[:len(some)-1]
	}
	// The logs of a record that differs and of all later ones differ. So the last error is about the first of them.
	differs := func(i int) bool {
		failed := extends(ctx, r.ledger, r.head.Head, some[i].end.head(r.genesis))
		if failed != nil {
			err = failed
		}
		return failed != nil
	}
	if len(some) == 0 || !differs(len(some)-1) {
		return len(some), hidden
	}
	good = sort.Search(len(some)-1, differs)
	if bad := some[good]; is[*head.ExtendError](err) {
		err = ledger.Corruptf(named(bad.Seq), "leaf %x is not proved to be under the head %v", bad.end.leaf, r.head)
	}
	return good, err
}

// is reports whether an error has a type.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// complete returns a *ledger.CorruptError if the log ended before its head.
func (r *reading) complete() error {
	switch {
	case r.head == nil:
		return nil
	case r.end.Last()+1 < r.head.Size:
		return ledger.Corruptf("log", "ends after request %d, before the end of the head %v", r.end.Last(), r.head)
	}
	return nil
}

// keptHead is the last head that a reader has believed.
type keptHead struct {
	head.Head
	time   time.Time // Opened.Time
	signed []byte
}

// headKey is the key of the reader's last head in the bucket meta.
func (who reader) headKey() []byte { return []byte(string(who) + " head") }

// putHead stores the last head that a reader has believed: time(8), in Unix seconds, and the signed head as it was
// received.
func putHead(tx *bbolt.Tx, who reader, h *newest) error {
	return put(tx, bucketMeta, who.headKey(), append(binary.BigEndian.AppendUint64(nil, uint64(h.Time.Unix())), h.signed...))
}

// keptHead returns the last head that the reader has believed, or nil if there is none.
func (r *reading) keptHead() (*keptHead, error) {
	var body []byte
	if err := r.view(func(tx *bbolt.Tx) (err error) {
		body, err = get(tx, bucketMeta, r.who.headKey())
		return err
	}); body == nil || err != nil {
		return nil, err
	}
	f := wire.NewFields(body, "head", maxRecord)
	k := &keptHead{time: time.Unix(int64(f.Uint64("time")), 0)}
	k.signed = f.Bytes("signed", len(body)-f.Offset())
	err := f.End("end")
	if err == nil {
		k.Head, err = head.ParseSigned(k.signed)
	}
	return k, damaged(bucketMeta, err)
}
