// Package ledger says what a ledger of tokens is: the unspent tokens, the
// digest of the request behind every anchor, and the log of all requests. It
// knows nothing of proofs: what it is given, a validator has accepted.
//
// Its interface has three parts, between which a network may stand. A Store decides
// on batches of entries and writes them; ledger/bolt is the embedded one. A Reader
// answers what is on a ledger. A Submitter takes requests and returns a verdict on
// each; package validator has one. docs/ledger.md states the format, what survives a
// crash or a corrupted file, and why no token is spent twice.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// Limits, in bytes and in items, beside token.MaxAnchor, token.MaxRequest and
// token.MaxID. A ledger refuses more with a LimitError before it looks at its store.
const (
	MaxToken      = 8 << 10
	MaxSpends     = 4096 // of one entry
	MaxCreates    = 4096 // of one entry
	MaxBatch      = 4096 // entries
	MaxBatchBytes = 64 << 20
	MaxState      = 64 << 10 // of State.Bytes
)

// Entry is a request that a validator has accepted, with what it does to the
// set of unspent tokens.
type Entry struct {
	Anchor  []byte    // the transaction's id, 1 to token.MaxAnchor bytes
	Digest  [32]byte  // of the request: two requests are the same if their digests are
	Time    time.Time // of the block, not before the last entry's; comes back in UTC, without a monotonic reading
	Request []byte    // as validated, up to token.MaxRequest bytes, opaque
	Policy  uint64    // the version of the policy under which it was accepted
	Update  bool      // whether it makes the next version, for entries after it
	Spends  []token.ID
	Creates []Created
}

// Created is a token that an entry adds, in the encoding that Reader.Token
// returns: 1 to MaxToken bytes, opaque. Its id is new: no token, spent or not,
// has had it.
type Created struct {
	ID    token.ID
	Token []byte
}

// Found is an unspent token, or why there is none.
type Found struct {
	Token []byte
	Err   error
}

// Record is an entry in the log. Seq counts the entries of a ledger from 1,
// without gaps.
type Record struct {
	Seq uint64
	Entry
}

// Reader answers what is on a ledger. It is safe for concurrent use.
type Reader interface {
	// Genesis returns what the ledger was created with, and so its ID.
	Genesis() Genesis

	// Token returns an unspent token. It returns zkbench.ErrSpent for a spent token,
	// and ErrNotFound for an id that the ledger never had.
	Token(ctx context.Context, id token.ID) ([]byte, error)

	// Tokens is Token for several ids in one question. Its answers are of one moment,
	// one for each id.
	Tokens(ctx context.Context, ids []token.ID) ([]Found, error)

	// Record returns the record of the entry with an anchor, and whether there is one.
	Record(ctx context.Context, anchor []byte) (Record, bool, error)

	// Log yields the records from sequence number from, in order, up to the
	// last at the time it gets there. After an error it stops. Between two
	// records no lock is held.
	Log(ctx context.Context, from uint64) iter.Seq2[Record, error]
}

// Store is a ledger that can be written. It is safe for concurrent use. An entry
// takes effect after all entries of its batch that stand before it, so it can spend
// what they create.
//
// An entry whose anchor the ledger has already with the same digest is not
// applied again and is no error. Every other entry is rejected, with a
// *zkbench.CheckError whose Action is its index in the batch:
//
//	Check      Index           Err
//	"anchor"   -1              zkbench.ErrAnchorConflict: the anchor stands for another digest
//	"policy"   -1              *PolicyError: it was accepted under another policy than the ledger then has
//	"time"     -1              *TimeError: it is before that of the last entry, or, of the first, before the zero time
//	"spend"    index in Spends zkbench.ErrSpent, or ErrNotFound
//	"create"   index in Creates ErrExists: the id is or was a token's
//
// or one of these checks or "request" with a *zkbench.LimitError. The checks are made in
// this order. A store asks no clock.
type Store interface {
	Reader

	// State returns what the ledger is at its end, and the bytes that a caller has left
	// there, all of one moment.
	State(ctx context.Context) (State, error)

	// Decide returns the errors that ApplyEach would return for the batch on the ledger
	// as it is now. It writes nothing and reserves nothing: another batch may come first.
	// If err is not nil there are no verdicts.
	Decide(ctx context.Context, batch []Entry) (rejected []error, err error)

	// Apply applies the whole batch, or nothing of it if one entry is rejected;
	// the error names the first. When it returns nil the batch is durable, and
	// every reader sees it. An error other than a rejection that is not a
	// zkbench.ErrOutcomeUnknown means that nothing was applied. After
	// zkbench.ErrOutcomeUnknown ask by anchor, or apply the same batch again:
	// what was applied already is not applied twice. A ctx that ends before the
	// store has begun with the batch withdraws it; what one does that ends later,
	// the store says. The batch is the caller's again when Apply returns.
	Apply(ctx context.Context, batch []Entry) error

	// ApplyEach is Apply for a service whose entries do not depend on each
	// other: it leaves the rejected ones out and applies the rest as one batch.
	// rejected has one error per entry, nil where the entry is on the ledger. It
	// is nil if err is not, which is then as Apply's.
	ApplyEach(ctx context.Context, batch []Entry) (rejected []error, err error)

	// ApplyState is Apply with bytes of the caller's, up to MaxState: for example the
	// height of a consensus engine. They replace State.Bytes in the transaction of the
	// batch, so the two are durable together or not at all. They do so also if the batch
	// is empty or on the ledger already, and not if the batch is rejected. A state of nil
	// leaves the bytes that are there. Calls take effect one after the other, also those
	// that share a transaction, and the bytes of the last stand: a call that is repeated
	// after zkbench.ErrOutcomeUnknown writes its bytes again.
	ApplyState(ctx context.Context, batch []Entry, state []byte) error

	// Close waits for what runs and releases the store. What is called after it
	// fails with fs.ErrClosed.
	Close() error
}

// State is what a ledger is at its end.
type State struct {
	Last   uint64    // sequence number of the last record, 0 of an empty log
	Hash   [32]byte  // the chain's, the ledger's id of an empty log
	Policy uint64    // the version that holds
	Time   time.Time // of the last record, the zero time of an empty log
	Bytes  []byte    // of the last ApplyState that had some; empty if none had
}

// Submitter takes encoded requests and updates of the policy for a ledger, each by
// itself, in their order. It is safe for concurrent use.
type Submitter interface {
	// Submit returns a verdict on each request, in their order. A request that is on the
	// ledger already gets its record and no error: a caller that has lost an answer
	// submits the same request again. A request whose anchor stands for another digest
	// is a zkbench.ErrAnchorConflict. If err is not nil there are no verdicts, and
	// nothing is known of any request.
	Submit(ctx context.Context, requests [][]byte) ([]Verdict, error)
}

// Verdict says what became of a request: it has a Record or an Err. An Err that is not
// a *zkbench.CheckError says nothing about the request; after a zkbench.ErrOutcomeUnknown
// it may be on the ledger.
type Verdict struct {
	Anchor []byte  // nil of a request that does not decode
	Record *Record // nil if the request is not known to be on the ledger
	Err    error
}

var (
	// ErrNotFound: an id that the ledger never had. It is a zkbench.ErrPolicy.
	ErrNotFound = fmt.Errorf("%w: token is not on the ledger", zkbench.ErrPolicy)
	// ErrExists: a new token under an id that a token has or had.
	ErrExists = errors.New("token is on the ledger already")
	// ErrLocked: a store that another ledger has open. It is a zkbench.ErrEnv.
	ErrLocked = fmt.Errorf("%w: ledger is open elsewhere", zkbench.ErrEnv)
	// ErrClosed: a call after Close. It is an fs.ErrClosed.
	ErrClosed = fmt.Errorf("ledger: %w", fs.ErrClosed)
)

// PolicyError says that an entry was accepted under another policy than the ledger's: whoever has validated it
// validates it again, under the policy that is current now. It is a zkbench.ErrPolicy.
type PolicyError struct{ Version, Current uint64 }

func (e *PolicyError) Error() string {
	return fmt.Sprintf("%v: accepted under policy %d, the current one is %d", zkbench.ErrPolicy, e.Version, e.Current)
}

func (e *PolicyError) Unwrap() error { return zkbench.ErrPolicy }

// TimeError says that an entry's time is before that of the last entry: whoever has validated it validates it again, at
// the time Last or a later one. It is a zkbench.ErrPolicy.
type TimeError struct{ Time, Last time.Time }

func (e *TimeError) Error() string {
	return fmt.Sprintf("%v: at %s, before the last entry, at %s", zkbench.ErrPolicy, e.Time.UTC().Format(time.RFC3339Nano), e.Last.Format(time.RFC3339Nano))
}

func (e *TimeError) Unwrap() error { return zkbench.ErrPolicy }

// AheadError says that no time can be chosen for a block: it cannot be before the last one, at Time, which is more than Max
// ahead of the clock of the validator that chooses. It is a zkbench.ErrEnv: either that clock is wrong, or another
// validator's was.
type AheadError struct {
	Time, Clock time.Time
	Max         time.Duration
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("%v: the last block is of %s, more than %v ahead of the clock, which says %s",
		zkbench.ErrEnv, e.Time.UTC().Format(time.RFC3339Nano), e.Max, e.Clock.UTC().Format(time.RFC3339Nano))
}

func (e *AheadError) Unwrap() error { return zkbench.ErrEnv }

// CorruptError says where a store contradicts itself. It is a
// zkbench.ErrMalformed.
type CorruptError struct {
	Place  string // for example "page 17" or "request 3: spend 1"
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt ledger: %s: %s", e.Place, e.Reason)
}

func (e *CorruptError) Unwrap() error { return zkbench.ErrMalformed }

// Corruptf returns a CorruptError.
func Corruptf(place, format string, args ...any) *CorruptError {
	return &CorruptError{Place: place, Reason: fmt.Sprintf(format, args...)}
}
