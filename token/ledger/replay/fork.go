package replay

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Fork verifies the parent ledger and creates a fork of it. The parameter path says where, in one
// of the forms that Open accepts. Fork returns the fork's genesis. The fork has an id of its own
// and the parent's records with the numbers 1 to last. Later policy updates of the parent have no effect in the
// fork.
//
// The fork does not get the bytes that callers of ApplyState left in the parent. If Fork fails or
// is killed after it has created the fork, the fork is incomplete and Open refuses it. Fork returns
// zkbench.ErrParams if the parent has no record with the number last. It calls progress as Verify does.
func Fork(ctx context.Context, parent Store, path string, last uint64, progress func(done, total uint64)) (genesis ledger.Genesis, err error) {
	report, err := Verify(ctx, parent, nil, progress)
	if err != nil {
		return ledger.Genesis{}, err
	}
	if end := report.Edge.Last(); last > end {
		return ledger.Genesis{}, fmt.Errorf("%w: no request %d: accepted are 0 to %d, the last of the ledger", zkbench.ErrParams, last, end)
	}
	edge := ledger.NewEdge(report.Genesis)
	for r, err := range UpTo(last, parent.Log(ctx, 1)) {
		if err != nil {
			return ledger.Genesis{}, err
		}
		edge.Append(&r.Entry, r.Append(nil))
	}
	version, _ := edge.Policy()
	if genesis, err = parent.Genesis().Fork(last, version, edge.Root()); err != nil {
		return ledger.Genesis{}, err
	}
	fork, err := Create(ctx, path, genesis)
	if err != nil {
		return ledger.Genesis{}, err
	}
	defer func() { err = errors.Join(err, fork.Close()) }()
	if err := fill(ctx, parent, fork, last); err != nil {
		return ledger.Genesis{}, fmt.Errorf("the fork is incomplete: %w", err)
	}
	return genesis, nil
}

// fill applies the parent's records 1 to last to the fork.
func fill(ctx context.Context, parent, fork ledger.Store, last uint64) error {
	if err := Fill(ctx, fork, UpTo(last, parent.Log(ctx, 1))); err != nil {
		return err
	}
	s, err := fork.State(ctx)
	if err == nil && s.Last != last {
		err = ledger.Corruptf("log", "ends before request %d", last)
	}
	return err
}

// UpTo yields those of the records that have numbers up to last, and errors.
func UpTo(last uint64, records iter.Seq2[ledger.Record, error]) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		if last == 0 {
			return
		}
		for r, err := range records {
			if r.Seq > last || !yield(r, err) || r.Seq == last {
				return
			}
		}
	}
}

// fillBatch and fillBytes limit the batches that Fill applies, whichever it reaches first. Large ones are faster: the keys of
// a batch are random, so a small batch writes nearly as many pages of a file.
const (
	fillBatch = ledger.MaxBatch
	fillBytes = 16 << 20
)

// Fill applies records to a store, in their order. It stops at the first error of records, and returns it. It
// returns a *ledger.CorruptError if the store rejects a record.
func Fill(ctx context.Context, to ledger.Store, records iter.Seq2[ledger.Record, error]) error {
	var batch []ledger.Entry
	first, size := uint64(0), 0
	apply := func() error {
		err := to.Apply(ctx, batch)
		if rejected, ok := errors.AsType[*zkbench.CheckError](err); ok {
			err = ledger.Corruptf(fmt.Sprintf("request %d", first+uint64(rejected.Action)), "%s %d: %v", rejected.Check, rejected.Index, rejected.Err)
		}
		batch, size = slices.Delete(batch, 0, len(batch)), 0
		return err
	}
	for r, err := range records {
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			first = r.Seq
		}
		batch, size = append(batch, r.Entry), size+r.Size()
		if len(batch) == fillBatch || size >= fillBytes {
			if err := apply(); err != nil {
				return err
			}
		}
	}
	return apply()
}
