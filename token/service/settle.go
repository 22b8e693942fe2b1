package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Ledger is what a vault asks a ledger.Ledger, or whoever speaks for one. Its answers
// are linearizable: each is true at a moment between question and answer, so what one
// answer says, all later ones know. A copy that lags behind gives wrong answers that
// nobody can tell from right ones: one that says of both an anchor and its outputs that
// they are not there, and of an input that it is spent, makes Sync forget the change of
// a submission that has landed.
type Ledger interface {
	// Genesis returns what the ledger was created with.
	Genesis() ledger.Genesis
	// Token returns an unspent token, or zkbench.ErrSpent or ledger.ErrNotFound.
	Token(ctx context.Context, id token.ID) ([]byte, error)
	// Digest returns the digest of the request that an anchor stands for, if it does.
	Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error)
}

var _ Ledger = ledger.Ledger(nil)

// change is what an answer of the ledger does to a vault; nil: nothing. Between answer
// and change the vault is used: a change looks anew at what it finds there.
type change func(*bbolt.Tx) error

// Sync settles what waits for the ledger. A submission that the ledger has is landed:
// its inputs are gone. One whose anchor the ledger has for another request, or one of
// whose inputs is spent while the ledger, asked after that, has neither its anchor nor
// anything that it makes, can never land: it is dropped, and what it held is free again.
// Of the tokens that are expected under an id, the one that the ledger has is counted,
// and the others are dropped; all are where it is spent. Of tokens that a script owns it is asked whether the
// other one has spent them.
//
// Another ledger than the vault's is an ErrParams.
//
// It asks about what waits and nothing else, so it takes no longer on a long ledger.
// What goes wrong with one question keeps it from no other; the errors are joined. When
// ctx ends, what was answered until then is written, its cause is returned, and the next
// Sync goes on from there.
func (v *Vault) Sync(ctx context.Context, l Ledger) error {
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return err
	}
	err := v.settle(ctx, bucketOpen, func(anchor []byte) (change, error) {
		do, err := v.landed(ctx, l, anchor)
		return do, atKey("submission", anchor, err)
	})
	if ctx.Err() != nil {
		return err
	}
	err = errors.Join(err, v.settle(ctx, bucketLocked, func(key []byte) (change, error) {
		do, err := v.stillThere(ctx, l, token.ID(key))
		return do, atKey("token", key, err)
	}))
	if ctx.Err() != nil {
		return err
	}
	var last token.ID // the keys of one id stand together
	return errors.Join(err, v.settle(ctx, bucketWaiting, func(key []byte) (change, error) {
		id, err := parseWaitKey(key)
		if err != nil || bytes.Equal(id, last) {
			return nil, err
		}
		last = id
		do, err := v.arrived(ctx, l, id)
		return do, atKey("token", id, err)
	}))
}

// Recheck is Sync, and asks about every unspent token too: for a vault that was
// restored from a copy, whose tokens may have been spent since.
func (v *Vault) Recheck(ctx context.Context, l Ledger) error {
	if err := sameLedger(v.genesis, l.Genesis()); err != nil {
		return err
	}
	err := v.Sync(ctx, l)
	if ctx.Err() != nil {
		return err
	}
	return errors.Join(err, v.settle(ctx, bucketFree, func(key []byte) (change, error) {
		_, _, id, err := parseFreeKey(key)
		if err != nil {
			return nil, err
		}
		do, err := v.stillThere(ctx, l, id)
		return do, atKey("token", id, err)
	}))
}

// atKey says what a question was about: ids and anchors are no secrets.
func atKey(what string, id []byte, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %x: %w", what, id, err)
}

// settle asks about every key of a bucket, first those behind the key at which it ran
// out of time before, and writes the changes of so many at once.
func (v *Vault) settle(ctx context.Context, bucket string, ask func(key []byte) (change, error)) error {
	start := v.moveStart(bucket, nil)
	var failed failures
	var changes []change
	part := func(from, to []byte) (ended bool) {
		for key, err := range v.keys(bucket, from, to) {
			var do change
			if err == nil && ctx.Err() == nil {
				do, err = ask(key)
			}
			if ctx.Err() != nil && do == nil { // an error is that of the context too
				failed.add(context.Cause(ctx))
				v.moveStart(bucket, key)
				return true
			}
			failed.add(err)
			if do != nil {
				changes = append(changes, do)
			}
			if len(changes) == chunk {
				v.write(ctx, changes, &failed)
				changes = nil
			}
		}
		return false
	}
	if !part(start, nil) && start != nil {
		part(nil, start)
	}
	v.write(ctx, changes, &failed)
	return failed.join()
}

// moveStart notes where the next pass over a bucket begins, and returns where this one does.
func (v *Vault) moveStart(bucket string, key []byte) (before []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before = v.next[bucket]
	v.next[bucket] = key
	return before
}

// write writes changes in one transaction, whatever becomes of ctx, or each in its own
// if one fails, so that it takes no other with it.
func (v *Vault) write(ctx context.Context, changes []change, failed *failures) {
	if len(changes) == 0 {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err := v.update(ctx, func(tx *bbolt.Tx) error {
		for _, do := range changes {
			if err := do(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil || len(changes) == 1 || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		failed.add(err)
		return
	}
	for _, do := range changes {
		failed.add(v.update(ctx, do))
	}
}

// failures are errors of which the first few are kept: a ledger that cannot be reached
// fails every question.
type failures struct {
	first []error
	more  int
}

const mostFailures = 16

func (f *failures) add(err error) {
	switch {
	case err == nil:
	case len(f.first) < mostFailures:
		f.first = append(f.first, err)
	default:
		f.more++
	}
}

func (f *failures) join() error {
	if f.more > 0 {
		return errors.Join(append(f.first, fmt.Errorf("and %d errors more", f.more))...)
	}
	return errors.Join(f.first...)
}

// arrived asks the ledger for the tokens that are expected under an id. An id is given
// once: what the ledger has under it, or has had, is so for good, and decides about
// whatever the vault has there when it is written.
func (v *Vault) arrived(ctx context.Context, l Ledger, id token.ID) (change, error) {
	stored, err := l.Token(ctx, id)
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		return nil, nil
	case errors.Is(err, zkbench.ErrSpent):
		stored = nil
	case err != nil:
		return nil, err
	}
	return func(tx *bbolt.Tx) error { return decide(tx, id, stored) }, nil
}

// decide settles the tokens that are expected under an id of which the ledger has a
// token, or had one (nil).
func decide(tx *bbolt.Tx, id token.ID, stored []byte) error {
	all, err := candidates(tx, id)
	if err != nil {
		return err
	}
	for _, h := range all {
		if err := remove(tx, bucketWaiting, h.waitKey()); err != nil {
			return err
		}
		same, err := h.matches(stored)
		if err != nil {
			return err
		}
		if !same {
			continue
		}
		switch known, err := getToken(tx, id); {
		case err != nil:
			return err
		case known == nil:
			h.state = unspent
			if err := putToken(tx, h); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches reports whether a token is the one that a ledger stores.
func (h *held) matches(stored []byte) (bool, error) {
	mine, err := h.Token.Encode()
	return err == nil && bytes.Equal(mine, stored), err
}

// stillThere asks the ledger for a token that is unspent.
func (v *Vault) stillThere(ctx context.Context, l Ledger, id token.ID) (change, error) {
	stored, err := l.Token(ctx, id)
	next := gone
	switch {
	case errors.Is(err, ledger.ErrNotFound):
		next = expected
	case errors.Is(err, zkbench.ErrSpent):
	case err != nil:
		return nil, err
	}
	// judge changes nothing of a token that is there, or is no longer unspent.
	judge := func(tx *bbolt.Tx) (h *held, err error) {
		if h, err = getToken(tx, id); err != nil || h == nil || h.state != unspent {
			return nil, err
		}
		if same, err := h.matches(stored); same || err != nil {
			return nil, err
		}
		return h, nil
	}
	var h *held
	if err := v.view(func(tx *bbolt.Tx) (err error) {
		h, err = judge(tx)
		return err
	}); h == nil || err != nil {
		return nil, err
	}
	return func(tx *bbolt.Tx) error {
		h, err := judge(tx)
		if h == nil || err != nil {
			return err
		}
		return h.become(tx, next)
	}, nil
}

// landed asks the ledger for a submission.
func (v *Vault) landed(ctx context.Context, l Ledger, anchor []byte) (change, error) {
	k, err := lookUp(v, anchor, getKept)
	if k == nil || err != nil {
		return nil, err
	}
	digest, found, err := l.Digest(ctx, anchor)
	if err != nil {
		return nil, err
	}
	if found && digest == k.digest {
		return func(tx *bbolt.Tx) error { return land(tx, anchor, k.digest) }, nil
	}
	states := make([]state, len(k.inputs)) // 0: spent
	spent := false
	for i, id := range k.inputs {
		if states[i], err = ask(ctx, l, id); err != nil {
			return nil, err
		}
		spent = spent || states[i] == 0
	}
	if !found {
		if !spent {
			return nil, nil // it may still land
		}
		// It may have landed since the ledger was asked; not since an input was found spent.
		if digest, found, err = l.Digest(ctx, anchor); err != nil {
			return nil, err
		}
		if found && digest == k.digest {
			return func(tx *bbolt.Tx) error { return land(tx, anchor, k.digest) }, nil
		}
	}
	if !found {
		if err := k.absent(ctx, l); err != nil {
			return nil, err
		}
	}
	return func(tx *bbolt.Tx) error { return abandon(tx, anchor, k.digest, states) }, nil
}

// ask asks the ledger for an input.
func ask(ctx context.Context, l Ledger, id token.ID) (state, error) {
	switch _, err := l.Token(ctx, id); {
	case err == nil:
		return unspent, nil
	case errors.Is(err, zkbench.ErrSpent):
		return 0, nil
	case errors.Is(err, ledger.ErrNotFound):
		return expected, nil
	default:
		return 0, err
	}
}

// absent is an ErrEnv if the ledger has, or had, what the submission makes, although it
// does not have its anchor: the one answer is older than the other, and money would be
// lost by believing it.
func (k *kept) absent(ctx context.Context, l Ledger) error {
	ids, err := k.outputs()
	if err != nil {
		return err
	}
	for _, id := range ids {
		switch there, err := ask(ctx, l, id); {
		case err != nil:
			return err
		case there != expected:
			return fmt.Errorf("%w: the ledger has the output %x and not its anchor: it does not answer from one state", zkbench.ErrEnv, id)
		}
	}
	return nil
}
