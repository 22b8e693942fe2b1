package replay

import (
	"context"
	"errors"
	"fmt"
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
	for r, err := range parent.Log(ctx, 1) {
		if err != nil {
			return ledger.Genesis{}, err
		}
		if r.Seq > last {
			break
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

// fillBatch and fillBytes limit the batches that fill applies, whichever it reaches first.
const (
	fillBatch = 256
	fillBytes = 16 << 20
)

// fill applies the parent's records 1 to last to the fork.
func fill(ctx context.Context, parent, fork ledger.Store, last uint64) error {
	var batch []ledger.Entry
	size := 0
	apply := func() error {
		defer func() { batch, size = slices.Delete(batch, 0, len(batch)), 0 }()
		return fork.Apply(ctx, batch)
	}
	for r, err := range parent.Log(ctx, 1) {
		if err != nil {
			return err
		}
		if r.Seq > last {
			break
		}
		batch, size = append(batch, r.Entry), size+r.Size()
		if len(batch) == fillBatch || size >= fillBytes {
			if err := apply(); err != nil {
				return err
			}
		}
	}
	if err := apply(); err != nil {
		return err
	}
	s, err := fork.State(ctx)
	if err == nil && s.Last != last {
		err = ledger.Corruptf("log", "ends before request %d", last)
	}
	return err
}
