package replay

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/recheck"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/validator"
)

// identities are kept parsed.
const identities = 4096

// validation validates every request of a log again. The ledger as the requests have left it is
// built beside, in a temporary directory.
type validation struct {
	*recheck.Checker
	dir   string
	state state
}

// state is a ledger whose policy a validator follows.
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

func newValidation(params *token.PublicParams, genesis ledger.Genesis) (*validation, error) {
	checks, err := validator.New(params, genesis, executor.Pool(), token.Tuning{}, identities)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "zkbench-replay-")
	if err != nil {
		return nil, err
	}
	book, err := bolt.Create(filepath.Join(dir, FileName), genesis)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	s := state{book, checks}
	return &validation{Checker: recheck.New(checks, s), dir: dir, state: s}, nil
}

func (v *validation) close() error { return errors.Join(v.state.Close(), os.RemoveAll(v.dir)) }
