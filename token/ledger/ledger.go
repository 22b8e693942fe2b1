// Package ledger says what a ledger of tokens is: the unspent tokens, the
// digest of the request behind every anchor, and the log of all requests. It
// knows nothing of proofs: what it is given, a validator has accepted.
//
// A store implements Ledger; ledger/bolt is the embedded one. docs/ledger.md
// states the format, what survives a crash or a corrupted file, and why no
// token is spent twice.
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

// Created is a token that an entry adds, in the encoding that Ledger.Token
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

// Ledger is safe for concurrent use. An entry takes effect after all entries of
// its batch that stand before it, so it can spend what they create.
//
// An entry whose anchor the ledger has already with the same digest is not
// applied again and is no error. Every other entry is rejected, with a
// *zkbench.CheckError whose Action is its index in the batch:
//
//	Check      Index           Err
//	"anchor"   -1              zkbench.ErrAnchorConflict: the anchor stands for another digest
//	"spend"    index in Spends zkbench.ErrSpent, or ErrNotFound
//	"policy"   -1              *PolicyError: it was accepted under another policy than the ledger then has
//	"time"     -1              *TimeError: it is before that of the last entry, or, of the first, before the zero time
//	"create"   index in Creates ErrExists: the id is or was a token's
//
// or one of these checks or "request" with a *zkbench.LimitError.
type Ledger interface {
	// Genesis returns what the ledger was created with, and so its ID.
	Genesis() Genesis

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

	// Token returns an unspent token. The error is zkbench.ErrSpent for a spent
	// one and ErrNotFound for an id that the ledger never had.
	Token(ctx context.Context, id token.ID) ([]byte, error)

	// Tokens is Token of several, all of one moment, in one question: of each id what Token returns.
	Tokens(ctx context.Context, ids []token.ID) ([]Found, error)

	// Digest returns the digest that an anchor stands for, and whether it
	// stands for one.
	Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error)

	// Record returns the record of the entry with an anchor, and whether there is one.
	Record(ctx context.Context, anchor []byte) (Record, bool, error)

	// Log yields the records from sequence number from, in order, up to the
	// last at the time it gets there. After an error it stops. Between two
	// records no lock is held.
	Log(ctx context.Context, from uint64) iter.Seq2[Record, error]

	// Close waits for what runs and releases the store. What is called after it
	// fails with fs.ErrClosed.
	Close() error
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
