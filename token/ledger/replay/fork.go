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
// and the parent's records with the numbers 1 to last. The record with the number last must be the
// final record of a batch. Later policy updates of the parent have no effect in the fork.
//
// The fork does not get the bytes that callers of ApplyState left in the parent. If Fork fails or
// is killed after it has created the fork, the fork is incomplete and Open refuses it. Fork returns
// zkbench.ErrParams if the record with the number last is not the final record of a batch. It calls
// progress as Verify does.
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
		return ledger.Genesis{}, fmt.Errorf("%w: request %d is not the last of a batch; the closest one before it that is: %d", zkbench.ErrParams, last, near)
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
		return ledger.Genesis{}, fmt.Errorf("the fork is incomplete: %w", err)
	}
	return genesis, nil
}

// fill applies the parent's batches to the fork unchanged. ends are the numbers of their last
// requests.
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
