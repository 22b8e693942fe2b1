package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Fork verifies a ledger, and makes a fork of it where Open finds it: a ledger with an id of its own
// that has the parent's records up to last, which must be the end of a batch; an update of the parent behind it counts for nothing
// there. It returns the fork's genesis.
//
// The bytes that callers of ApplyState have left stay with the parent. If Fork fails or is killed after it has made
// the fork, what is there is not complete, and Open refuses it. Fork returns zkbench.ErrParams if last is no end of a batch.
func Fork(ctx context.Context, parent Store, path string, last uint64, progress func(done, total uint64)) (genesis ledger.Genesis, err error) {
	ends := []uint64{}
	var hash [32]byte
	_, err = verify(ctx, parent, nil, progress, func(end uint64, after [32]byte) {
		if end <= last {
			ends, hash = append(ends, end), after
		}
	})
	if err != nil {
		return ledger.Genesis{}, err
	}
	if near := ends[len(ends)-1]; near != last {
		return ledger.Genesis{}, fmt.Errorf("%w: request %d is not the last of a batch; the last one before it that is: %d", zkbench.ErrParams, last, near)
	}
	if genesis, err = parent.Genesis().Fork(last, hash); err != nil {
		return ledger.Genesis{}, err
	}
	fork, err := Create(ctx, path, genesis)
	if err != nil {
		return ledger.Genesis{}, err
	}
	defer func() { err = errors.Join(err, fork.Close()) }()
	if err := fill(ctx, parent, fork, ends[1:]); err != nil {
		return ledger.Genesis{}, fmt.Errorf("the fork is not complete: %w", err)
	}
	return genesis, nil
}

// fill applies the batches of a ledger's parent to it, as they are there: these end with the requests of the numbers.
func fill(ctx context.Context, parent, fork ledger.Store, ends []uint64) error {
	var batch []ledger.Entry
	for r, err := range parent.Log(ctx, 1) {
		if err != nil {
			return err
		}
		if len(ends) == 0 {
			break
		}
		batch = append(batch, r.Entry)
		if r.Seq < ends[0] {
			continue
		}
		if err := fork.Apply(ctx, batch); err != nil {
			return err
		}
		batch, ends = slices.Delete(batch, 0, len(batch)), ends[1:]
	}
	if len(ends) > 0 {
		return ledger.Corruptf("log", "ends before request %d", ends[0])
	}
	return nil
}
