// Package replay verifies a stored ledger from its first request. It checks that the store does not
// contradict itself, and that a client reads the same log that the store verified. If the caller gives the
// public parameters, it also checks that every request was valid at its recorded time.
package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/postgres"
)

// Store is a ledger that can verify itself.
type Store interface {
	ledger.Store
	// Verify checks the whole ledger and returns the edge of the log that it checked. From time to time, and at the
	// end, it calls progress with the number of requests checked so far and the total. The function progress may
	// read the log.
	Verify(ctx context.Context, progress func(done, total uint64)) (ledger.Edge, error)
}

// FileName is the name of the ledger's file in a directory: if a path names a directory, the ledger is this
// file in it.
const FileName = "ledger.db"

// Open opens an existing ledger at path: a file, a directory that contains FileName, or the
// connection string of a database. Errors are those of bolt.Open and postgres.Open.
func Open(ctx context.Context, path string) (Store, error) {
	if IsDatabase(path) {
		return postgres.Open(ctx, path)
	}
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	return bolt.Open(FilePath(path))
}

// FilePath returns the path of the ledger's file: path, or FileName in it if it is a directory.
func FilePath(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return filepath.Join(path, FileName)
	}
	return path
}

// Create creates an empty ledger. The parameter path says where, in one of the forms that Open
// accepts. Create returns fs.ErrExist if there is a ledger already.
func Create(ctx context.Context, path string, genesis ledger.Genesis) (Store, error) {
	if IsDatabase(path) {
		return postgres.Create(ctx, path, genesis)
	}
	return bolt.Create(FilePath(path), genesis)
}

// IsDatabase reports whether arg is meant as a connection string, possibly a damaged one: postgres.IsURL says so, and
// there is no file of that name.
func IsDatabase(arg string) bool {
	if !postgres.IsURL(arg) {
		return false
	}
	_, err := os.Stat(arg)
	return err != nil
}

// Verify makes the store verify itself. At the same time it reads the log as any client would, and computes the
// edge of that log. If it is not the one that the store verified, Verify returns an error, because clients read
// another log or a log that changes. If params is not nil, Verify also validates every request under these
// parameters.
//
// From time to time, and at the end, Verify calls progress, which may be nil, with the number of requests done so far
// and the total. It returns a *ledger.CorruptError if something contradicts itself.
func Verify(ctx context.Context, l Store, params *token.PublicParams, progress func(done, total uint64)) (_ *Report, err error) {
	ctx, stopVerify := context.WithCancel(ctx)
	defer stopVerify()
	next, stopLog := iter.Pull2(l.Log(ctx, 1))
	defer stopLog()
	t := &tally{Report: Report{Genesis: l.Genesis(), Edge: ledger.NewEdge(l.Genesis())}, next: next, visit: func(*ledger.Record) error { return nil }}
	finish := func() error { return nil }
	if params != nil {
		v, failed := newValidation(ctx, params, l.Genesis(), "")
		if failed != nil {
			return nil, failed
		}
		defer func() { err = errors.Join(err, v.close()) }()
		t.Validated = true
		finish = func() error { return v.Flush(ctx) }
		t.visit = func(record *ledger.Record) error { return v.Add(ctx, *record) }
	}
	edge, err := l.Verify(ctx, func(done, total uint64) {
		if progress != nil {
			progress(done, total)
		}
		if t.to(done); t.err != nil {
			stopVerify()
		}
	})
	switch {
	case t.err != nil:
		return nil, t.err
	case err != nil:
		return nil, err
	case t.Edge != edge:
		return nil, ledger.Corruptf("log", "clients read another log than the verified one")
	}
	return &t.Report, finish()
}

// Report summarizes a verified log.
type Report struct {
	Genesis        ledger.Genesis
	Edge           ledger.Edge
	Created, Spent uint64    // tokens
	First          time.Time // of the first request
	Validated      bool      // whether every request was validated under the parameters
}

// String returns one line that says what was verified and what was not.
func (r *Report) String() string {
	valid := ", no proof, signature or policy checked"
	if r.Validated {
		valid = ", each valid under the parameters"
	}
	policy := ""
	if version, _ := r.Edge.Policy(); version > 0 {
		policy = fmt.Sprintf("; policy %d", version)
	}
	fork := ""
	if parent, ok := r.Genesis.Parent(); ok {
		fork = fmt.Sprintf(", a fork of %x after request %d", parent.ID(), r.Genesis.Inherited())
	}
	times := ""
	if r.Edge.Last() > 0 {
		times = fmt.Sprintf("; times, by the operator: %s to %s", r.First.Format(time.RFC3339), r.Edge.Time().Format(time.RFC3339))
	}
	return fmt.Sprintf("ok: %d requests%s; %d tokens: %d unspent, %d spent%s%s; ledger %x%s, root %v",
		r.Edge.Last(), valid, r.Created, r.Created-r.Spent, r.Spent, policy, times, r.Genesis.ID(), fork, r.Edge.Root())
}

// tally counts a log up to some record.
type tally struct {
	Report
	next  func() (ledger.Record, error, bool)
	visit func(r *ledger.Record) error // gets every record
	err   error
}

// to reads the log up to record last.
func (t *tally) to(last uint64) {
	for t.err == nil && t.Edge.Last() < last {
		seq := t.Edge.Last() + 1
		r, err, ok := t.next()
		switch {
		case err != nil:
			t.err = err
		case !ok || r.Seq != seq:
			t.err = ledger.Corruptf(fmt.Sprintf("request %d", seq), "missing from the log that clients read")
		default:
			t.request(&r)
			t.err = t.visit(&r)
		}
	}
}

func (t *tally) request(r *ledger.Record) {
	if r.Seq == 1 {
		t.First = r.Time
	}
	t.Edge.Append(&r.Entry, r.Append(nil))
	t.Created += uint64(len(r.Creates))
	t.Spent += uint64(len(r.Spends))
}
