package bolt

import (
	"context"

	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Verify checks the whole ledger as it is when it begins: the structure of the
// file, the chain of the log from the first request, and that the buckets of
// tokens and anchors are what the log makes of them. The error is a
// *ledger.CorruptError that names the first place, or the context's.
//
// progress (nil: none) gets the number of requests checked, of total, after
// every batch. It must not call Close.
//
// Verify reads a snapshot, in memory that does not depend on the ledger's
// length. While it does, a batch for which the file must grow waits, and with
// it all readers.
func (l *Ledger) Verify(ctx context.Context, progress func(done, total uint64)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tx, err := l.file.Snapshot()
	if err != nil {
		return withName(err)
	}
	defer func() { _ = tx.Rollback() }() // of a read, which cannot fail
	if err := l.file.CheckPages(tx); err != nil {
		return err
	}
	if err := boltfile.Guard(func() error { return checkFormat(tx) }); err != nil {
		return err
	}
	t := tablesOf(tx)
	if err := store.Verify(ctx, t, progress); err != nil {
		return err
	}
	n, err := t.Count(ctx, bucketMeta)
	if err == nil && n != 1 {
		err = ledger.Corruptf(bucketMeta, "%d records, want 1", n)
	}
	return err
}
