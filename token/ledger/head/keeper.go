package head

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/policy"
)

// How a Keeper signs if its fields do not say it.
const (
	DefaultInterval = 50 * time.Millisecond
	DefaultAgain    = time.Minute
	defaultWait     = 10 // Intervals
)

// MaxClockStep is how far a Keeper's clock may go forward between two calls of Sign.
const MaxClockStep = time.Hour

// Keeper signs heads of a ledger with one validator's key, and stores them on the ledger. It signs what is durable,
// beside the answers to those who pay: no request waits for a head.
//
// A head counts when as many validators have signed it as the policy asks (Open). Until then it is a proposal, which
// ledger.Store.Proposed returns and ledger.Reader.Head does not. A Keeper adds its signature to a proposal that lacks
// it. It proposes a newer head when the last one counts, or when that has got no new signature for the time Wait. So
// heads count even if the log grows all the time, and validators that are out of reach delay the next proposal only for
// that time.
//
// Two Keepers that add their signatures at the same moment may lose one of the two for one Interval. A Keeper signs
// nothing while the policy does not name its key.
//
// A Keeper is not safe for concurrent use.
type Keeper struct {
	Store    ledger.Store
	Signer   *Signer
	Policy   *token.Policy    // of the ledger, current or earlier, for example that of its public parameters; Sign follows its updates
	Interval time.Duration    // between two calls of Sign; 0: DefaultInterval
	Again    time.Duration    // after which the last head is signed anew on a ledger that does not grow; 0: DefaultAgain
	Wait     time.Duration    // for signatures of other validators; several times the longest of their Intervals; 0: 10 times Interval
	Clock    func() time.Time // nil: time.Now

	clock   time.Time // what Clock said last
	signed  time.Time // when Sign has last stored a head
	current *token.Policy
	since   uint64 // number of the record that made current the policy; 0: it is the first one
	awaited struct {
		Head
		validators int
		from       time.Time
	}
}

// ClockError reports that a Keeper's clock was set forward by more than MaxClockStep. A validator's signature is never
// older than the one before it. So after a signature in the future, the validator could not say for a long time how
// old its heads are, and nothing but a new key would help. ClockError wraps zkbench.ErrEnv.
type ClockError struct{ Last, Clock time.Time } // what the clock said before, and what it says now

func (e *ClockError) Error() string {
	return fmt.Sprintf("%v: the clock went from %s to %s, accepted is up to %v between two heads; if it is right now, start the validator again",
		zkbench.ErrEnv, e.Last.UTC().Format(time.RFC3339), e.Clock.UTC().Format(time.RFC3339), MaxClockStep)
}

func (e *ClockError) Unwrap() error { return zkbench.ErrEnv }

// Run calls Sign at intervals, until ctx ends or Sign fails, and returns the cause. It returns zkbench.ErrEnv if the
// store was not reached, and can be called again. An error that wraps ErrStopped, ledger.ErrRolledBack, a
// *ClockError or a *ledger.ReplacedError wraps zkbench.ErrEnv too. These say that the Signer has stopped, that the
// ledger went back or that the clock was set. They must be looked at, as all other errors must.
func (k *Keeper) Run(ctx context.Context) error {
	ticks := time.NewTicker(k.interval())
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

func (k *Keeper) interval() time.Duration {
	if k.Interval > 0 {
		return k.Interval
	}
	return DefaultInterval
}

// Sign signs and stores a head if one is due: the proposed head of other validators, a head of the whole log if it has
// grown, or the last head anew. It reports whether one was due. It says to the store whether the head counts.
//
// The errors are those of the store, of Signer.Sign and of policy.Next; a *Contradiction if validators have signed a
// stored head that is not one of the ledger's log; ledger.ErrRolledBack if the ledger lacks an update of the policy
// that it had; and a *ClockError until the clock is right again.
//
// A stored head that no validator of the policy has signed, or that is damaged, is passed over: a new one takes its
// place. So nobody but a validator can stop the Keeper by storing a head.
func (k *Keeper) Sign(ctx context.Context) (due bool, err error) {
	now, err := k.now()
	if err != nil {
		return false, err
	}
	counted, err := k.Store.Head(ctx)
	if err != nil {
		return false, err
	}
	proposed, err := k.Store.Proposed(ctx)
	if err != nil {
		return false, err
	}
	state, err := k.Store.State(ctx) // after the heads, so that it has all their leaves
	if err != nil {
		return false, err
	}
	own, signed := Head{Ledger: k.Store.Genesis().ID(), Size: state.Last + 1, Root: state.Root}, k.Signer.lastHead()
	if own.Size < signed.Size {
		return false, &ExtendError{Kept: signed, Told: own, Err: ErrShorter}
	}
	if err := k.follow(ctx, state.Policy); err != nil {
		return false, err
	}
	if !slices.ContainsFunc(k.current.Validators, func(v token.Validator) bool { return v.HeadKey == k.Signer.key.key }) {
		return false, nil
	}
	last := k.read(proposed)
	if err := k.compare(ctx, last, own); err != nil {
		return false, err
	}
	if !bytes.Equal(counted, proposed) {
		if err := k.compare(ctx, k.read(counted), own); err != nil {
			return false, err
		}
	}
	next := own
	switch {
	case last.validators == 0 || last.Size <= k.since: // passed over, or for the validators of an earlier policy to sign
	case !last.mine && signed.Size <= last.Size && (last.Head != signed || last.Head == own || k.waits(last, now)):
		next = last.Head // if the signature was taken away again, only as long as a newer head waits
	case last.Head == own && now.Sub(k.signed) < cmp.Or(max(k.Again, 0), DefaultAgain) && (!last.counts || bytes.Equal(counted, proposed)):
		return false, nil
	case last.Head != own && k.waits(last, now):
		return false, nil
	}
	err = k.store(ctx, next, last, now)
	return err == nil, err
}

// now returns what the clock says, or a *ClockError.
func (k *Keeper) now() (time.Time, error) {
	now := time.Now()
	if k.Clock != nil {
		now = k.Clock()
	}
	wall := now.Round(0) // the monotonic clock does not show that the other one was set
	if !k.clock.IsZero() && wall.Sub(k.clock) > MaxClockStep {
		return now, &ClockError{Last: k.clock, Clock: wall}
	}
	if wall.After(k.clock) {
		k.clock = wall
	}
	return now, nil
}

// follow makes the policy of a version the current one, and finds the record that made it so.
func (k *Keeper) follow(ctx context.Context, version uint64) error {
	if k.current != nil && k.current.Version == version {
		return nil
	}
	p := cmp.Or(k.current, k.Policy)
	if p.Version > version {
		return fmt.Errorf("%w: its policy is of version %d, and was of version %d", ledger.ErrRolledBack, version, p.Version)
	}
	for p.Version < version {
		next, err := policy.Next(ctx, k.Store, k.Store.Genesis(), p)
		if err != nil {
			return err
		}
		if next == nil {
			return ledger.Corruptf("policy", "of version %d, and the update to version %d is not there", version, p.Version+1)
		}
		p = next
	}
	since := uint64(0)
	if version > 0 {
		update, found, err := k.Store.Record(ctx, policy.Anchor(version))
		if err != nil {
			return err
		}
		if !found {
			return ledger.Corruptf("policy", "of version %d, and the update to it is not there", version)
		}
		since = update.Seq
	}
	k.current, k.since = p, since
	return nil
}

// stored is a stored head as a Keeper reads it. The zero value is one that a Keeper passes over.
type stored struct {
	Head
	signed     []byte
	validators int  // of the current policy, who have signed it
	mine       bool // the Signer's key is among them
	counts     bool // under the current policy
}

// read parses a stored head. It returns the zero value if no validator has signed it, or if a validator's signature
// does not verify.
func (k *Keeper) read(signed []byte) stored {
	n, h, err := openNote(signed, note.VerifierList(Validators(k.current)...))
	if err != nil || len(n.Sigs) == 0 || h.Ledger != k.Store.Genesis().ID() {
		return stored{}
	}
	key := k.Signer.key
	return stored{
		Head: h, signed: signed, validators: len(n.Sigs), counts: len(n.Sigs) >= k.current.HeadThreshold,
		mine: slices.ContainsFunc(n.Sigs, func(s note.Signature) bool { return s.Name == key.name && s.Hash == key.id }),
	}
}

// compare returns a *Contradiction if a stored head is not one of the log whose last head is own.
func (k *Keeper) compare(ctx context.Context, h stored, own Head) error {
	if h.validators == 0 {
		return nil
	}
	at, signed := own, k.Signer.lastHead()
	if h.Size < own.Size {
		if at = signed; at != h.Head { // which own is proved to extend
			var err error
			if at, err = k.at(ctx, h.Size); err != nil {
				return err
			}
		}
	}
	err := at.Extends(h.Head, nil)
	if err == nil {
		return nil
	}
	told := []byte(at.Checkpoint())
	if at == signed {
		told = k.Signer.Last()
	}
	return &Contradiction{Kept: h.signed, Told: told, Err: err}
}

// waits reports whether a newer head waits for signatures of the proposed one. The time begins anew with a larger head,
// and with each signature of the same head, which has no more of them than the policy has validators. So the wait ends,
// even if validators are out of reach, if one takes signatures away again, or if somebody stores older heads in turn.
func (k *Keeper) waits(proposed stored, now time.Time) bool {
	if proposed.counts {
		return false
	}
	if a := &k.awaited; a.Size < proposed.Size || a.Head == proposed.Head && a.validators < proposed.validators {
		a.Head, a.validators, a.from = proposed.Head, proposed.validators, now
	}
	return now.Sub(k.awaited.from) < cmp.Or(max(k.Wait, 0), defaultWait*k.interval())
}

// store signs the head next, adds the signatures of the proposed one if it is the same, and stores it.
func (k *Keeper) store(ctx context.Context, next Head, proposed stored, now time.Time) error {
	signed, err := k.Signer.Sign(ctx, next, now, func(ctx context.Context, from, to uint64) (tlog.TreeProof, error) {
		return ledger.Consistency(ctx, k.Store, from, to)
	})
	if err != nil {
		return err
	}
	if next == proposed.Head {
		if signed, err = k.merge(proposed.signed, signed); err != nil {
			return err
		}
	}
	_, err = Open(signed, next.Ledger, k.current)
	counts := err == nil
	if _, few := errors.AsType[*ThresholdError](err); err != nil && !few {
		return err
	}
	if err := k.Store.PutHead(ctx, next.Size, signed, counts); err != nil {
		return err
	}
	k.signed = now
	return nil
}

// merge adds a signature to those of the stored head. If there is no room for all, those of keys that are no
// validator's are left out.
func (k *Keeper) merge(last, signed []byte) ([]byte, error) {
	known := note.VerifierList(Validators(k.current)...)
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
