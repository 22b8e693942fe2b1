package head

import (
	"cmp"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// Opened is a head that as many validators have signed as the policy asks.
type Opened struct {
	Head
	// Time is the time of the head in UTC: at least HeadThreshold validators say that the head was the log's
	// last one at that time or later. It is the HeadThreshold-th newest of their times.
	Time       time.Time
	Validators []Cosignature    // by validators of the policy, each once, newest first
	Others     []note.Signature // by keys that are no validator's; not verified
}

// Cosignature says that a validator's signature verified.
type Cosignature struct {
	Key  [ed25519.PublicKeySize]byte // the validator's HeadKey
	Time time.Time                   // in whole seconds, UTC
}

// ErrNoValidators is returned if the policy has no validators, so that no head can count. It wraps
// zkbench.ErrParams.
var ErrNoValidators = fmt.Errorf("%w: the policy has no validators, a policy for heads names at least one and how many must sign", zkbench.ErrParams)

// ErrNoHead is returned by those who need a signed head of a ledger that shows none. It wraps zkbench.ErrEnv.
var ErrNoHead = fmt.Errorf("%w: the ledger shows no signed head, and its policy names validators who sign heads", zkbench.ErrEnv)

// ThresholdError reports a head that too few validators have signed. It wraps zkbench.ErrSignature.
type ThresholdError struct {
	Signed, Want, Of int // validators who signed, who must sign, and who are in the policy
}

func (e *ThresholdError) Error() string {
	return fmt.Sprintf("%v: %d validators have signed the head, the policy asks for %d of %d", zkbench.ErrSignature, e.Signed, e.Want, e.Of)
}

func (e *ThresholdError) Unwrap() error { return zkbench.ErrSignature }

// Open parses a signed head of the ledger and verifies the signatures of the policy's validators. The policy must
// be the one that the caller believes to be current at the head's size.
//
// A validator counts once, with its first signature in the note. Signatures by other keys are neither verified nor
// counted. Open returns
//
//   - ErrNoValidators, or zkbench.ErrParams if the policy's head threshold is not 1 to all of its validators;
//   - a *zkbench.LimitError if signed is longer than MaxSigned, or if the policy has more than token.MaxValidators
//     validators, whose signatures may not fit into one head;
//   - a *zkbench.DecodeError if signed is not a signed note, or its text is not a head;
//   - zkbench.ErrSignature with a *note.InvalidSignatureError if the signature of a validator does not verify;
//   - a *LedgerError if the head is of another ledger;
//   - a *ThresholdError if too few validators have signed.
func Open(signed []byte, ledger token.LedgerID, p *token.Policy) (Opened, error) {
	if err := checkThreshold(p); err != nil {
		return Opened{}, err
	}
	n, h, err := openNote(signed, note.VerifierList(Validators(p)...))
	if err != nil {
		return Opened{}, err
	}
	if h.Ledger != ledger {
		return Opened{}, &LedgerError{Got: h.Ledger, Want: ledger}
	}
	if len(n.Sigs) < p.HeadThreshold {
		return Opened{}, &ThresholdError{Signed: len(n.Sigs), Want: p.HeadThreshold, Of: len(p.Validators)}
	}
	o := Opened{Head: h, Others: n.UnverifiedSigs}
	for _, s := range n.Sigs {
		c := Cosignature{Time: time.Unix(int64(timestampOf(s)), 0).UTC()} // at most maxTime, as it verified
		_, _ = hex.Decode(c.Key[:], []byte(strings.TrimPrefix(s.Name, validatorPrefix)))
		o.Validators = append(o.Validators, c)
	}
	slices.SortStableFunc(o.Validators, func(a, b Cosignature) int {
		return cmp.Or(b.Time.Compare(a.Time), slices.Compare(a.Key[:], b.Key[:]))
	})
	o.Time = o.Validators[p.HeadThreshold-1].Time
	return o, nil
}

// ParseSigned returns the head of a signed head without verifying any signature: what it says is not to be trusted.
// It returns a *zkbench.LimitError if signed is longer than MaxSigned, and a *zkbench.DecodeError if signed is not a
// signed note, or its text is not a head.
func ParseSigned(signed []byte) (Head, error) {
	_, h, err := openNote(signed, note.VerifierList())
	return h, err
}

// AgeError reports a head that is older than the caller allows. The log may have grown since, or somebody withholds
// its newest heads, or the clock is wrong. It wraps zkbench.ErrEnv.
type AgeError struct {
	Time, Clock time.Time     // of the head, and what the caller's clock says
	Max         time.Duration // the age that the caller allows
}

func (e *AgeError) Error() string {
	return fmt.Sprintf("%v: the newest head is of %s, the clock says %s, accepted are heads of the last %v",
		zkbench.ErrEnv, e.Time.UTC().Format(time.RFC3339), e.Clock.UTC().Format(time.RFC3339), e.Max)
}

func (e *AgeError) Unwrap() error { return zkbench.ErrEnv }

// CheckAge returns an *AgeError if the head's Time is more than maxAge before the time that the clock says.
func (o *Opened) CheckAge(clock time.Time, maxAge time.Duration) error {
	if clock.Sub(o.Time) > maxAge {
		return &AgeError{Time: o.Time, Clock: clock, Max: maxAge}
	}
	return nil
}

// checkThreshold checks that some set of signatures counts, and that the empty one does not.
func checkThreshold(p *token.Policy) error {
	switch n := len(p.Validators); {
	case n == 0:
		return ErrNoValidators
	case p.HeadThreshold < 1 || p.HeadThreshold > n:
		return fmt.Errorf("%w: head threshold %d, accepted are 1 to %d for %d validators", zkbench.ErrParams, p.HeadThreshold, n, n)
	case n > token.MaxValidators:
		return &zkbench.LimitError{What: "validators of the policy", Estimate: int64(n), Max: token.MaxValidators}
	}
	return nil
}

// openNote parses a signed head and verifies the signatures of known keys. There may be none.
func openNote(signed []byte, known note.Verifiers) (*note.Note, Head, error) {
	if len(signed) > MaxSigned {
		return nil, Head{}, &zkbench.LimitError{What: "bytes of signed head", Estimate: int64(len(signed)), Max: MaxSigned}
	}
	n, err := note.Open(signed, known)
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		n, err = unverified.Note, nil
	}
	if _, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return nil, Head{}, fmt.Errorf("%w: head: %w", zkbench.ErrSignature, err)
	}
	if err != nil {
		return nil, Head{}, &zkbench.DecodeError{Path: "head", Reason: fmt.Sprintf("%v, accepted: a signed note with 1 to %d signatures", err, MaxSignatures)}
	}
	h, err := Parse(n.Text)
	return n, h, err
}
