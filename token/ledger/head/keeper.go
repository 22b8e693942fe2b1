package head

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// How often a Keeper signs if its fields do not say it.
const (
	DefaultInterval = 50 * time.Millisecond
	DefaultAgain    = time.Minute
)

// Keeper signs heads of a ledger with one validator's key, and stores them on the ledger. It signs what is durable,
// beside the answers to those who pay: no request waits for a head.
//
// If the ledger's last head lacks the validator's signature, because another validator has made it, the Keeper adds
// its own. Two that add theirs at the same moment may lose one of the signatures for one Interval. A head counts
// only when as many validators have signed as the policy asks (Open).
//
// A Keeper is not safe for concurrent use.
type Keeper struct {
	Store    ledger.Store
	Signer   *Signer
	Policy   func() *token.Policy // the current one, whose validators' signatures are verified before they are stored
	Interval time.Duration        // between two heads; 0: DefaultInterval
	Again    time.Duration        // after which the last head is signed anew on a ledger that does not grow; 0: DefaultAgain
	Clock    func() time.Time     // nil: time.Now

	signed time.Time // when Sign has last stored a head
}

// Run calls Sign at intervals, until ctx ends or Sign fails, and returns the cause. It returns zkbench.ErrEnv if the
// store was not reached, and can be called again. An error that wraps ErrStopped, ledger.ErrRolledBack or a
// *ledger.ReplacedError wraps zkbench.ErrEnv too. These say that the Signer has stopped or that the ledger went back,
// as all other errors do, and must be looked at.
func (k *Keeper) Run(ctx context.Context) error {
	interval := k.Interval
	if interval <= 0 {
		interval = DefaultInterval
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		if _, err := k.Sign(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticks.C:
		}
	}
}

// Sign signs and stores a head if one is due: the last head of other validators, a head of the whole log if it has
// grown, or the last head anew. It reports whether one was due. The errors are those of the store and of Signer.Sign,
// and a *Contradiction if validators have signed a stored head that is not one of the ledger's log.
//
// A stored head that no validator of the policy has signed, or that is damaged, is passed over: a new one takes its
// place. So nobody but a validator can stop the Keeper by storing a head.
func (k *Keeper) Sign(ctx context.Context) (due bool, err error) {
	now, again := time.Now, k.Again
	if k.Clock != nil {
		now = k.Clock
	}
	if again <= 0 {
		again = DefaultAgain
	}
	last, err := k.Store.Head(ctx)
	if err != nil {
		return false, err
	}
	h, mine, counts := k.read(last)
	state, err := k.Store.State(ctx)
	if err != nil {
		return false, err
	}
	own := Head{Ledger: k.Store.Genesis().ID(), Size: state.Last + 1, Root: state.Root}
	if signed := k.Signer.lastHead(); own.Size < signed.Size {
		return false, &ExtendError{Kept: signed, Told: own, Err: ErrShorter}
	}
	if counts {
		if err := k.compare(ctx, last, h, own); err != nil {
			return false, err
		}
		switch {
		case mine && own == h && now().Sub(k.signed) < again:
			return false, nil
		case !mine && k.Signer.lastHead().Size <= h.Size:
			own = h
		}
	}
	signed, err := k.Signer.Sign(ctx, own, now(), func(ctx context.Context, from, to uint64) (tlog.TreeProof, error) {
		return ledger.Consistency(ctx, k.Store, from, to)
	})
	if err == nil && counts && own == h {
		signed, err = k.merge(last, signed)
	}
	if err == nil {
		err = k.Store.PutHead(ctx, own.Size, signed)
	}
	if err != nil {
		return false, err
	}
	k.signed = now()
	return true, nil
}

// read parses a stored head. It reports whether the Signer's key has signed it, and whether a validator has: if
// not, or if a validator's signature does not verify, the head does not count.
func (k *Keeper) read(signed []byte) (h Head, mine, counts bool) {
	n, h, err := openNote(signed, note.VerifierList(Validators(k.Policy())...))
	if err != nil || len(n.Sigs) == 0 || h.Ledger != k.Store.Genesis().ID() {
		return Head{}, false, false
	}
	key := k.Signer.key
	return h, slices.ContainsFunc(n.Sigs, func(s note.Signature) bool { return s.Name == key.name && s.Hash == key.id }), true
}

// compare returns a *Contradiction if the stored head h is not one of the log whose last head is own.
func (k *Keeper) compare(ctx context.Context, last []byte, h, own Head) error {
	at := own
	if h.Size < own.Size {
		if at = k.Signer.lastHead(); at != h { // which own is proved to extend
			var err error
			if at, err = k.at(ctx, h.Size); err != nil {
				return err
			}
		}
	}
	if err := at.Extends(h, nil); err != nil {
		return &Contradiction{Kept: last, Told: []byte(at.Checkpoint()), Err: err}
	}
	return nil
}

// merge adds a signature to those of the stored head. If there is no room for all, those of keys that are no
// validator's are left out.
func (k *Keeper) merge(last, signed []byte) ([]byte, error) {
	known := note.VerifierList(Validators(k.Policy())...)
	merged, err := Merge(known, last, signed)
	if !errors.Is(err, zkbench.ErrLimit) {
		return merged, err
	}
	n, _, err := openNote(last, known)
	if err != nil {
		return nil, err
	}
	if last, err = note.Sign(&note.Note{Text: n.Text, Sigs: n.Sigs}); err != nil {
		return nil, err
	}
	return Merge(known, last, signed)
}

// at returns the head of the log when it had size leaves.
func (k *Keeper) at(ctx context.Context, size uint64) (Head, error) {
	root, err := tlog.TreeHash(int64(size), tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) { return k.Store.Hashes(ctx, indexes) }))
	return Head{Ledger: k.Store.Genesis().ID(), Size: size, Root: root}, err
}
