// Package replay verifies a stored ledger from its first request. It checks that the store does not
// contradict itself, and that a client reads the same log that the store verified. If the caller gives the
// public parameters, it also checks that every request was valid at its recorded time.
package replay

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/postgres"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Store is a ledger that can verify itself.
type Store interface {
	ledger.Store
	// VerifyTail checks the whole ledger and returns the last batch that it checked. After every batch it
	// calls progress with the number of requests checked so far and the total. The function progress may
	// read the log.
	VerifyTail(ctx context.Context, progress func(done, total uint64)) (store.Batch, error)
}

// FileName is the name of the ledger's file in a directory: if a path names a directory, the ledger is this
// file in it.
const FileName = "ledger.db"

// File is a ledger in a file. The file is locked while it is open, so it cannot change after it was
// verified.
type File struct{ *bolt.Ledger }

// VerifyTail implements Store.
func (f File) VerifyTail(ctx context.Context, progress func(done, total uint64)) (store.Batch, error) {
	if err := f.Verify(ctx, progress); err != nil {
		return store.Batch{}, err
	}
	return f.Tail(ctx)
}

// Open opens an existing ledger at path: a file, a directory that contains FileName, or the
// connection string of a database. Errors are those of bolt.Open and postgres.Open.
func Open(ctx context.Context, path string) (Store, error) {
	if IsDatabase(path) {
		return postgres.Open(ctx, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	l, err := bolt.Open(path)
	return File{l}, err
}

// Create creates an empty ledger. The parameter path says where, in one of the forms that Open
// accepts. Create returns fs.ErrExist if there is a ledger already.
func Create(ctx context.Context, path string, genesis ledger.Genesis) (Store, error) {
	if IsDatabase(path) {
		return postgres.Create(ctx, path, genesis)
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, FileName)
	}
	l, err := bolt.Create(path, genesis)
	return File{l}, err
}

// IsDatabase reports whether arg is meant as a connection string, possibly a damaged one: it contains
// "://", "=" or "@", and is not the name of an existing file.
func IsDatabase(arg string) bool {
	if !strings.Contains(arg, "://") && !strings.ContainsAny(arg, "=@") {
		return false
	}
	_, err := os.Stat(arg)
	return err != nil
}

// Verify makes the store verify itself. At the same time it reads the log as any client would, and counts and
// hashes it batch by batch. If the hash is not the one that the store verified, Verify returns an error,
// because clients read another log or a log that changes. If params is not nil, Verify also validates every
// request under these parameters.
//
// After every batch Verify calls progress, which may be nil, with the number of requests done so far and the
// total. It returns a *ledger.CorruptError if something contradicts itself.
func Verify(ctx context.Context, l Store, params *token.PublicParams, progress func(done, total uint64)) (*Report, error) {
	return verify(ctx, l, params, progress, func(uint64, [32]byte) {})
}

// verify does what Verify does. It also calls batch with the last request of every batch and the
// hash of the chain up to it.
func verify(ctx context.Context, l Store, params *token.PublicParams, progress func(done, total uint64), batch func(last uint64, hash [32]byte)) (_ *Report, err error) {
	ctx, stopVerify := context.WithCancel(ctx)
	defer stopVerify()
	next, stopLog := iter.Pull2(l.Log(ctx, 1))
	defer stopLog()
	t := &tally{Report: Report{Genesis: l.Genesis()}, tail: store.Genesis(l.Genesis()), next: next, visit: func(*ledger.Record) error { return nil }}
	t.sum()
	batch(0, t.Hash)
	finish := func() error { return nil }
	if params != nil {
		v, failed := newValidation(ctx, params, l.Genesis())
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, v.close()) }()
		t.Validated = true
		finish = func() error { return v.Flush(ctx) }
		t.visit = func(record *ledger.Record) error { return v.Add(ctx, *record) }
	}
	tail, err := l.VerifyTail(ctx, func(done, total uint64) {
		if progress != nil {
			progress(done, total)
		}
		if t.batch(done); t.err != nil {
			stopVerify()
			return
		}
		batch(t.Requests, t.Hash)
	})
	switch {
	case t.err != nil:
		return nil, t.err
	case err != nil:
		return nil, err
	case t.tail.Hash != tail.Hash || t.Requests != tail.Last:
		return nil, ledger.Corruptf("log", "clients read another log than the verified one")
	}
	return &t.Report, finish()
}

// Report summarizes a verified log.
type Report struct {
	Genesis           ledger.Genesis
	Requests, Batches uint64
	Created, Spent    uint64 // tokens
	First, Last       time.Time
	Policy            uint64 // version of the current policy at the end of the log
	Hash              [32]byte
	Validated         bool // whether every request was validated under the parameters
}

// String returns one line that says what was verified and what was not.
func (r *Report) String() string {
	valid := ", no proof, signature or policy checked"
	if r.Validated {
		valid = ", each valid under the parameters"
	}
	policy := ""
	if r.Policy > 0 {
		policy = fmt.Sprintf("; policy %d", r.Policy)
	}
	fork := ""
	if parent, ok := r.Genesis.Parent(); ok {
		fork = fmt.Sprintf(", a fork of %x after request %d", parent.ID(), r.Genesis.Inherited())
	}
	times := ""
	if r.Requests > 0 {
		times = fmt.Sprintf("; times, by the operator: %s to %s", r.First.Format(time.RFC3339), r.Last.Format(time.RFC3339))
	}
	return fmt.Sprintf("ok: %d requests in %d batches%s; %d tokens: %d unspent, %d spent%s%s; ledger %x%s, last hash %s",
		r.Requests, r.Batches, valid, r.Created, r.Created-r.Spent, r.Spent, policy, times, r.Genesis.ID(), fork, hex.EncodeToString(r.Hash[:]))
}

// tally counts a log up to some batch.
type tally struct {
	Report
	tail  store.Batch // the last batch, as far as it is known
	next  func() (ledger.Record, error, bool)
	visit func(r *ledger.Record) error // gets every record
	err   error
}

// batch adds the batch that ends with request last.
func (t *tally) batch(last uint64) {
	first := t.Requests + 1
	link := store.NewLink(t.Hash, first)
	for t.err == nil && t.Requests < last {
		r, err, ok := t.next()
		switch {
		case err != nil:
			t.err = err
		case !ok || r.Seq != t.Requests+1:
			t.err = ledger.Corruptf(fmt.Sprintf("request %d", t.Requests+1), "missing from the log that clients read")
		default:
			link.Add(r.Append(nil))
			t.request(&r)
			t.err = t.visit(&r)
		}
	}
	t.Batches++
	t.tail = store.Batch{First: first, Last: t.Requests, Hash: link.Sum()}
	t.sum()
}

// sum stores the hash of the chain so far.
func (t *tally) sum() {
	hash, err := t.tail.Next(t.Genesis)
	if t.Hash = hash; t.err == nil {
		t.err = err
	}
}

func (t *tally) request(r *ledger.Record) {
	if t.Requests == 0 {
		t.First = r.Time
	}
	t.Last = r.Time
	t.Requests++
	t.Policy = store.PolicyAfter(&r.Entry)
	t.Created += uint64(len(r.Creates))
	t.Spent += uint64(len(r.Spends))
}
