package replay

import (
	"context"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/head"
)

// Follower validates the requests of a ledger as its log grows. It applies them to a ledger of its own, so that it need
// not believe the other one about its state. A Follower is not safe for concurrent use.
type Follower struct {
	v      *validation
	ledger ledger.Store
}

// Follow returns a Follower of the ledger l under public parameters, after a first call of Advance. The caller trusts
// the head: requests under it are not validated. With the head of the genesis, whose size is 1, all are.
//
// The Follower's ledger is a file in the directory dir, which Follow makes. Close removes the file, and the directory if
// it has no other. What a process that was killed has left there, the next call of Follow removes, or RemoveCopy. The
// caller makes sure that no other process uses the directory. If dir is empty, a temporary directory is used, which a
// killed process leaves behind.
//
// Follow returns the errors of Advance, and a *head.LedgerError or a *head.ExtendError if the head is not one of the
// ledger's log. It calls progress, which may be nil, with the number of requests done so far and the total.
func Follow(ctx context.Context, l ledger.Store, params *token.PublicParams, trusted head.Head, dir string, progress func(done, total uint64)) (*Follower, error) {
	v, err := newValidation(ctx, params, l.Genesis(), dir)
	if err != nil {
		return nil, err
	}
	f := &Follower{v, l}
	if err = f.trust(ctx, trusted); err == nil {
		_, err = f.advance(ctx, progress)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// trust applies the requests under a head that is trusted.
func (f *Follower) trust(ctx context.Context, trusted head.Head) error {
	if err := Fill(ctx, f.v.book, UpTo(trusted.Size-1, f.ledger.Log(ctx, 1))); err != nil {
		return err
	}
	end, err := f.end(ctx)
	if err == nil {
		err = end.Extends(trusted, nil)
	}
	if err != nil {
		return err
	}
	return f.v.startAt(ctx, trusted.Size)
}

// end returns the head of what was applied so far.
func (f *Follower) end(ctx context.Context) (head.Head, error) {
	s, err := f.v.book.State(ctx)
	return f.headOf(&s), err
}

func (f *Follower) headOf(s *ledger.State) head.Head {
	return head.Head{Ledger: f.v.genesis.ID(), Size: s.Last + 1, Root: s.Root}
}

// Advance validates the requests that the ledger has by now and had not at the last call, and returns the state of the
// copy after them. It returns a *ledger.CorruptError if a request is not valid, or if the copy has not the root and the
// policy that the ledger tells, and a *head.ExtendError if the ledger went back. After an error the Follower must not be used again.
func (f *Follower) Advance(ctx context.Context) (ledger.State, error) { return f.advance(ctx, nil) }

func (f *Follower) advance(ctx context.Context, progress func(done, total uint64)) (ledger.State, error) {
	to, err := f.ledger.State(ctx)
	if err != nil {
		return to, err
	}
	before, err := f.end(ctx)
	if err != nil {
		return to, err
	}
	if told := f.headOf(&to); told.Size <= before.Size {
		if err := told.Extends(before, nil); err != nil {
			return to, err
		}
	}
	for r, err := range UpTo(to.Last, f.ledger.Log(ctx, before.Size)) {
		if err == nil {
			err = f.v.Add(ctx, r)
		}
		if err != nil {
			return to, err
		}
		if progress != nil {
			progress(r.Seq, to.Last)
		}
	}
	if err := f.v.Flush(ctx); err != nil {
		return to, err
	}
	own, err := f.v.book.State(ctx)
	switch {
	case err != nil:
	case f.headOf(&own) != f.headOf(&to):
		err = ledger.Corruptf("log", "has root %x after request %d, and the ledger tells root %x after request %d", own.Root, own.Last, to.Root, to.Last)
	case own.Policy != to.Policy || own.PolicyDigest != to.PolicyDigest:
		err = ledger.Corruptf("policy", "is of version %d with digest %x, and the ledger tells version %d with digest %x", own.Policy, own.PolicyDigest, to.Policy, to.PolicyDigest)
	}
	return own, err
}

// Store returns the followed ledger for a head.Keeper: State calls Advance, so that what is signed is what was
// validated. Hashes and Record read the Follower's copy. Nodes of the tree that the ledger stores beside its requests are
// not believed: they could be those of another log.
func (f *Follower) Store() ledger.Store { return &vouched{f.ledger, f} }

type vouched struct {
	ledger.Store
	f *Follower
}

func (v *vouched) State(ctx context.Context) (ledger.State, error) { return v.f.Advance(ctx) }

func (v *vouched) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return v.f.v.book.Hashes(ctx, indexes)
}

func (v *vouched) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	return v.f.v.book.Record(ctx, anchor)
}

// Policy returns the policy after the last request that was validated.
func (f *Follower) Policy() *token.Policy { return f.v.checks.Policy() }

// Close removes the directory with the Follower's ledger. The ledger that is followed stays open.
func (f *Follower) Close() error { return f.v.close() }
