// Package ledger defines a ledger of tokens: the set of unspent tokens, the request digest recorded
// under each anchor (transaction id), and the log of all requests. The package does not check
// proofs. A validator accepts a request before it reaches the ledger.
//
// The package has three interfaces. An implementation of any of them may be reached over a network. A Store
// decides on batches of entries and writes them; package bolt implements it in a file. A Reader reads what is
// on a ledger. A Submitter takes requests and returns a verdict on each; package validator implements it.
// docs/ledger.md describes the format, what survives a crash or a corrupted file, and why no token is spent
// twice.
package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Limits of a ledger, besides token.MaxAnchor, token.MaxRequest and token.MaxID. A ledger refuses
// anything larger with a *zkbench.LimitError before it reads its store.
const (
	MaxToken      = 8 << 10  // bytes of one token
	MaxSpends     = 4096     // tokens that one entry spends
	MaxCreates    = 4096     // tokens that one entry creates
	MaxBatch      = 4096     // entries of one batch
	MaxBatchBytes = 64 << 20 // bytes of one batch, encoded
	MaxState      = 64 << 10 // bytes of State.Bytes
	MaxHead       = 64 << 10 // bytes of a signed head
	MaxHashes     = 1 << 10  // hashes of one call of Hashes; a proof needs less than 128
)

// Entry is a request that a validator has accepted, together with the tokens that it spends and
// creates.
type Entry struct {
	Anchor  []byte    // the transaction's id, 1 to token.MaxAnchor bytes
	Digest  [32]byte  // of the request; requests with equal digests are the same request
	Time    time.Time // of the block, not before the previous entry's; read back in UTC, without a monotonic reading
	Request []byte    // as validated, up to token.MaxRequest bytes, opaque
	Policy  uint64    // the version of the policy under which it was accepted
	Update  bool      // whether it is a policy update: the entries after it are under version Policy+1
	Spends  []token.ID
	Creates []Created

	// PolicyDigest is the digest of the policy that the entries after it are under: of the current one, or of the
	// one that the update makes current.
	PolicyDigest [transcript.StateLen]byte
}

// Created is a token that an entry creates. Token is its encoding, which Reader.Token returns: 1 to
// MaxToken opaque bytes. ID must be new: no token, spent or unspent, has ever had it.
type Created struct {
	ID    token.ID
	Token []byte
}

// Found is an unspent token, or the reason why there is none.
type Found struct {
	Token []byte
	Err   error
}

// Record is an entry in the log. Seq numbers the entries of a ledger from 1, without gaps. Commitment is that of
// the ledger's state after the entry (Edge.Commitment).
type Record struct {
	Seq uint64
	Entry
	Commitment [32]byte
}

// Reader reads a ledger. It is safe for concurrent use.
type Reader interface {
	// Genesis returns the genesis that the ledger was created with. Its ID is the ledger's id.
	Genesis() Genesis

	// Token returns the encoding of an unspent token. It returns zkbench.ErrSpent if the token is
	// spent, and ErrNotFound if the ledger never had a token with this id.
	Token(ctx context.Context, id token.ID) ([]byte, error)

	// Tokens looks up several tokens at once. It returns one answer for each id, all from the same
	// moment. The error of an answer is the one that Token would return.
	Tokens(ctx context.Context, ids []token.ID) ([]Found, error)

	// Record returns the record with the given anchor, and whether there is one.
	Record(ctx context.Context, anchor []byte) (Record, bool, error)

	// Log yields the records in order, starting with the given sequence number. It ends with an error, or
	// with the last record that is on the ledger when the iteration reaches that record. It holds no lock
	// between two records.
	Log(ctx context.Context, from uint64) iter.Seq2[Record, error]

	// Hashes returns hashes of nodes of the log's tree, in the order of the indexes. An index is one of
	// tlog.StoredHashIndex. Hashes returns ErrNoLeaf if the log does not yet have all leaves of a node, and a
	// *zkbench.LimitError for more than MaxHashes indexes. The
	// functions Inclusion and Consistency make proofs of them.
	Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error)

	// Head returns the newest signed head of the log that counts, as PutHead was told, or nil if there is none.
	// Package head opens it.
	Head(ctx context.Context) (signed []byte, err error)
}

// Store is a ledger that can be written. It is safe for concurrent use. An entry takes effect after all
// earlier entries of its batch, so it can spend tokens that they create.
//
// If the ledger already has an entry's anchor with the same digest, the entry is not applied again, and
// that is not an error. Every other entry that cannot be applied is rejected, with a *zkbench.CheckError
// whose Action is the entry's index in the batch. The checks run in this order:
//
//	Check      Index            Err
//	"anchor"   -1               zkbench.ErrAnchorConflict: the ledger has the anchor with another digest
//	"policy"   -1               *PolicyError: the entry's policy is not the current one, or its digest differs
//	"time"     -1               *TimeError: the entry's time is before the previous entry's (for the log's first entry: before the zero time)
//	"spend"    index in Spends  zkbench.ErrSpent, or ErrNotFound
//	"create"   index in Creates ErrExists: a token has or had this id
//
// If an entry exceeds a limit, the Check of its *zkbench.CheckError is a name in the first column or
// "request", and the Err has type *zkbench.LimitError. A store reads no clock.
type Store interface {
	Reader

	// State returns the state at the end of the log, including the bytes that callers of ApplyState
	// left, all from the same moment.
	State(ctx context.Context) (State, error)

	// Decide returns the errors that ApplyEach would return for the batch on the current ledger, and the state
	// that it would lead to: so the root of a batch is known before the batch is written. Decide writes nothing
	// and reserves nothing, so another batch may be applied before this one.
	Decide(ctx context.Context, batch []Entry) (Decision, error)

	// Apply applies the whole batch, or nothing if one entry is rejected; the error then names the
	// first rejected entry. When Apply returns nil, the batch is durable and every reader sees it.
	//
	// If the error is zkbench.ErrOutcomeUnknown, look up the anchors or apply the same batch again:
	// entries that are on the ledger already are not applied twice. Any other error means that
	// nothing was applied.
	//
	// If ctx ends before the store has begun to write the batch, the batch is withdrawn. Each store
	// documents what happens if ctx ends later. The caller may modify batch again when Apply
	// returns.
	Apply(ctx context.Context, batch []Entry) error

	// ApplyEach applies a batch for callers whose entries do not depend on each other. It leaves out the
	// rejected entries and applies the others as one batch. The result rejected has one error for each entry,
	// nil if the entry is on the ledger. If err is not nil, rejected is nil. The error err is as for Apply.
	ApplyEach(ctx context.Context, batch []Entry) (rejected []error, err error)

	// ApplyState applies a batch like Apply, and stores up to MaxState bytes for the caller, for example
	// the height of a consensus engine. The bytes replace State.Bytes in the transaction that writes the
	// batch, so both become durable together or not at all.
	//
	// The bytes are stored even if the batch is empty or already on the ledger, but not if it is
	// rejected. If state is nil, the stored bytes stay. Calls take effect one after the other, even
	// if they share a transaction, and the last call's bytes remain. Repeating a call after
	// zkbench.ErrOutcomeUnknown writes its bytes again.
	ApplyState(ctx context.Context, batch []Entry, state []byte) error

	// Proposed returns the newest signed head of the log that PutHead has stored, whether it counts or not, or nil
	// if there is none.
	Proposed(ctx context.Context) (signed []byte, err error)

	// PutHead stores a signed head of the log, durably. A store does not read heads: the caller says how many
	// leaves the log of this head has, and whether the head counts, that is, whether as many validators have signed
	// it as the policy asks.
	//
	// Head and Proposed then return it in place of one with as many leaves or fewer. They keep one that has more.
	// PutHead returns ErrNoLeaf if the log has fewer leaves, and a *zkbench.LimitError if the head is longer than
	// MaxHead.
	PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error

	// Close waits for running calls and releases the store. Later calls return an error that wraps
	// fs.ErrClosed.
	Close() error
}

// State describes a ledger at the end of its log.
type State struct {
	Last         uint64                    // sequence number of the last record; 0 if the log is empty
	Root         [32]byte                  // of the log's tree, which has Last+1 leaves
	Commitment   [32]byte                  // of the unspent tokens and everything else that decides on entries (Edge.Commitment)
	Policy       uint64                    // version of the current policy
	PolicyDigest [transcript.StateLen]byte // of the current policy
	Time         time.Time                 // of the last record; the zero time if the log is empty
	Bytes        []byte                    // from the last ApplyState with a state that is not nil; empty if there was none
}

// Decision is what a store would do with a batch.
type Decision struct {
	Rejected []error // one for each entry, nil if ApplyEach would apply it or the ledger has it
	After    State   // after the batch, without State.Bytes
}

// Submitter takes encoded requests and policy updates for a ledger. It decides on each separately,
// in the given order. It is safe for concurrent use.
type Submitter interface {
	// Submit returns one verdict for each request, in their order. If a request is already on the ledger,
	// its verdict has the record and no error. So a caller that lost an answer can submit the same request
	// again. If the ledger has the anchor with another digest, the verdict's error is
	// zkbench.ErrAnchorConflict. If err is not nil, there are no verdicts, and any of the requests may or
	// may not be on the ledger.
	Submit(ctx context.Context, requests [][]byte) ([]Verdict, error)
}

// Verdict is the outcome of a submitted request: either a Record or an Err. An Err that is not a
// *zkbench.CheckError does not mean that the request is invalid. After zkbench.ErrOutcomeUnknown
// the request may be on the ledger.
type Verdict struct {
	Anchor []byte  // nil if the request cannot be decoded
	Record *Record // nil if the request is not known to be on the ledger
	Err    error
}

var (
	// ErrNotFound is returned for an id that no token on the ledger ever had. It wraps
	// zkbench.ErrPolicy.
	ErrNotFound = fmt.Errorf("%w: token is not on the ledger", zkbench.ErrPolicy)
	// ErrExists is returned for a new token whose id another token has or had.
	ErrExists = errors.New("token is on the ledger already")
	// ErrNoLeaf is returned for a node of the log's tree that is not complete yet.
	ErrNoLeaf = errors.New("the log does not have all leaves of this node")
	// ErrLocked is returned when the store is open or locked elsewhere, for example by another process.
	// It wraps zkbench.ErrEnv.
	ErrLocked = fmt.Errorf("%w: ledger is open elsewhere", zkbench.ErrEnv)
	// ErrClosed is returned by calls after Close. It wraps fs.ErrClosed.
	ErrClosed = fmt.Errorf("ledger: %w", fs.ErrClosed)
)

// PolicyError reports that an entry was accepted under a policy that is not the ledger's current
// one. If the versions are equal, the entry has another digest of that version. The request must be validated
// again, under the current policy. PolicyError wraps zkbench.ErrPolicy.
type PolicyError struct{ Version, Current uint64 }

func (e *PolicyError) Error() string {
	if e.Version == e.Current {
		return fmt.Sprintf("%v: accepted under another policy %d than the current one", zkbench.ErrPolicy, e.Version)
	}
	return fmt.Sprintf("%v: accepted under policy %d, the current one is %d", zkbench.ErrPolicy, e.Version, e.Current)
}

func (e *PolicyError) Unwrap() error { return zkbench.ErrPolicy }

// TimeError reports that an entry's time is before the time of the previous entry. The request must
// be validated again, at time Last or later. TimeError wraps zkbench.ErrPolicy.
type TimeError struct{ Time, Last time.Time }

func (e *TimeError) Error() string {
	return fmt.Sprintf("%v: at %s, before the last entry, at %s", zkbench.ErrPolicy, e.Time.UTC().Format(time.RFC3339Nano), e.Last.Format(time.RFC3339Nano))
}

func (e *TimeError) Unwrap() error { return zkbench.ErrPolicy }

// AheadError reports that no time can be chosen for the next block. The block cannot be earlier than the
// last block, whose time is in the field Time. That time is ahead of the validator's own clock by more
// than Max. Either the validator's own clock is wrong, or another validator's clock was wrong.
// AheadError wraps zkbench.ErrEnv.
type AheadError struct {
	Time, Clock time.Time
	Max         time.Duration
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("%v: the last block is of %s, more than %v ahead of the clock, which says %s",
		zkbench.ErrEnv, e.Time.UTC().Format(time.RFC3339Nano), e.Max, e.Clock.UTC().Format(time.RFC3339Nano))
}

func (e *AheadError) Unwrap() error { return zkbench.ErrEnv }

// CorruptError reports where a store contradicts itself. It wraps zkbench.ErrMalformed.
type CorruptError struct {
	Place  string // for example "page 17" or "request 3: spend 1"
	Reason string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt ledger: %s: %s", e.Place, e.Reason)
}

func (e *CorruptError) Unwrap() error { return zkbench.ErrMalformed }

// Corruptf returns a CorruptError with the given Place. It makes the Reason from format and args
// like fmt.Sprintf.
func Corruptf(place, format string, args ...any) *CorruptError {
	return &CorruptError{Place: place, Reason: fmt.Sprintf(format, args...)}
}
