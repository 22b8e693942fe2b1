package replay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/internal/recheck"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/validator"
)

// identities is the number of parsed identities that a validator caches.
const identities = 4096

// validation validates every request of a log again. It rebuilds the ledger from the requests in a
// directory, to know which tokens are unspent at each request. Requests that a fork shares with its
// parent are validated for the parent.
type validation struct {
	*recheck.Checker
	params  *token.PublicParams
	genesis ledger.Genesis // of the log
	checks  *validator.Validator
	dir     string
	book    ledger.Store
}

// state is a ledger and a validator that follows its policy.
type state struct {
	ledger.Store
	validator *validator.Validator
}

// Apply implements recheck.State.
func (s state) Apply(ctx context.Context, entries []ledger.Entry) error {
	if err := s.Store.Apply(ctx, entries); err != nil {
		return err
	}
	return s.validator.Follow(ctx, s.Store)
}

// Digest implements recheck.State.
func (s state) Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error) {
	r, found, err := s.Record(ctx, anchor)
	return r.Digest, found, err
}

// newValidation makes the ledger in the directory dir, or in a temporary one if dir is empty.
func newValidation(ctx context.Context, params *token.PublicParams, genesis ledger.Genesis, dir string) (*validation, error) {
	v := &validation{params: params, genesis: genesis}
	if _, err := v.validator(1); err != nil { // so that bad parameters are found before anything is made
		return nil, err
	}
	var err error
	if dir == "" {
		v.dir, err = os.MkdirTemp("", "zkbench-replay-")
	} else {
		v.dir, err = dir, errors.Join(os.MkdirAll(dir, 0o700), clearCopy(dir))
	}
	if err != nil {
		return nil, err
	}
	if v.book, err = bolt.Create(filepath.Join(v.dir, FileName), genesis.Trunk()); err != nil {
		return nil, errors.Join(err, v.remove())
	}
	if err := v.startAt(ctx, 1); err != nil {
		return nil, errors.Join(err, v.close())
	}
	return v, nil
}

// validator returns a validator for the ledger that accepted record seq.
func (v *validation) validator(seq uint64) (*validator.Validator, error) {
	return validator.New(v.params, v.genesis.ForRecord(seq), executor.Pool(), token.Tuning{}, identities)
}

// startAt makes later records be validated for the ledger that accepted record seq.
func (v *validation) startAt(ctx context.Context, seq uint64) error {
	checks, err := v.validator(seq)
	if err != nil {
		return err
	}
	v.checks, v.Checker = checks, recheck.New(checks, state{v.book, checks})
	return checks.Follow(ctx, v.book)
}

// Add validates a record, possibly later and together with others.
func (v *validation) Add(ctx context.Context, r ledger.Record) error {
	if v.genesis.ForksAfter(r.Seq - 1) {
		if err := v.Flush(ctx); err != nil {
			return err
		}
		if err := v.startAt(ctx, r.Seq); err != nil {
			return err
		}
	}
	return v.Checker.Add(ctx, r)
}

func (v *validation) close() error { return errors.Join(v.book.Close(), v.remove()) }

// remove removes the copy, and its directory if nothing else is there.
func (v *validation) remove() error {
	err := clearCopy(v.dir)
	_ = os.Remove(v.dir)
	return err
}

// RemoveCopy removes what a Follower that was killed has left in its directory. The caller makes sure that no process uses it.
func RemoveCopy(dir string) error {
	return (&validation{dir: dir}).remove()
}

// clearCopy removes from a directory what a validation makes there. A process that was killed leaves it behind.
func clearCopy(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		unfinished, _ := filepath.Match(boltfile.Unfinished, e.Name()) // a good pattern
		if unfinished || e.Name() == FileName {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}
