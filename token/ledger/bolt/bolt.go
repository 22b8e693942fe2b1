// Package bolt is the embedded ledger, one bbolt file. A batch is durable when
// Apply returns nil; after a crash at any point the file opens to the state
// after some prefix of the batches, all acknowledged ones among them.
//
// Calls of Apply that come while another is being written share its successor's
// transaction, so many callers share one flush to the disk.
//
// What a corrupted file can and cannot do, and what the disk is trusted with:
// docs/ledger.md.
package bolt

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Ledger implements ledger.Ledger.
type Ledger struct {
	file  *boltfile.File
	queue *store.Queue
	tail  store.Batch // the last one, of who is the queue's writer
}

var _ ledger.Ledger = (*Ledger)(nil)

// Create makes an empty ledger and opens it. The file appears complete or not
// at all; there must be none at path (fs.ErrExist), on a file system with hard
// links.
func Create(path string) (*Ledger, error) {
	if err := boltfile.Create(path, initialize); err != nil {
		return nil, err
	}
	return Open(path)
}

// initialize makes an empty ledger.
func initialize(tx *bbolt.Tx) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	key := []byte(formatKey)
	return tx.Bucket([]byte(bucketMeta)).Put(key, boltfile.Seal(bucketMeta, key, binary.BigEndian.AppendUint32(nil, format)))
}

// Open opens a ledger that Create made. It changes nothing, and flushes what the
// system has not yet written to the disk. It checks the structure of the whole
// file, in a time that grows with the number of pages, and the last batch;
// Verify checks everything. The error is fs.ErrNotExist, ledger.ErrLocked, a
// *ledger.CorruptError, or a *zkbench.DecodeError for another version's file.
func Open(path string) (*Ledger, error) {
	file, err := boltfile.Open(path, func(tx *bbolt.Tx) error {
		if err := checkFormat(tx); err != nil {
			return err
		}
		return store.CheckTail(context.Background(), tablesOf(tx))
	})
	if err != nil {
		return nil, err
	}
	l := &Ledger{file: file}
	l.queue = store.NewQueue(l.apply)
	err = l.view(func(tx *bbolt.Tx) (err error) {
		l.tail, err = tablesOf(tx).Tail(context.Background())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

func checkFormat(tx *bbolt.Tx) error {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		return ledger.Corruptf("bucket meta", "missing: not a ledger")
	}
	key := []byte(formatKey)
	body, err := unseal(bucketMeta, key, b.Get(key), 4)
	if err != nil {
		return err
	}
	if v := binary.BigEndian.Uint32(body); v != format || len(body) != 4 {
		return &zkbench.DecodeError{Path: "ledger format", Reason: fmt.Sprintf("version %d, only %d is known", v, format)}
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return ledger.Corruptf("bucket "+name, "missing")
		}
	}
	return nil
}

// view runs a short read of what is durable.
func (l *Ledger) view(read func(*bbolt.Tx) error) error { return withName(l.file.View(read)) }

// Close implements ledger.Ledger.
func (l *Ledger) Close() error { return withName(l.file.Close()) }

// withName gives the error of a closed file the ledger's name.
func withName(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return ledger.ErrClosed
	}
	return err
}

// Apply implements ledger.Ledger.
func (l *Ledger) Apply(ctx context.Context, batch []ledger.Entry) error {
	return l.queue.Apply(ctx, batch)
}

// ApplyEach implements ledger.Ledger.
func (l *Ledger) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	return l.queue.ApplyEach(ctx, batch)
}

// Tail returns the last batch that was applied, zero on an empty ledger.
func (l *Ledger) Tail(ctx context.Context) (tail store.Batch, err error) {
	err = l.view(func(tx *bbolt.Tx) (err error) {
		tail, err = tablesOf(tx).Tail(ctx)
		return err
	})
	return tail, err
}

// errNothing ends a transaction in which nothing is to be written.
var errNothing = errors.New("nothing to write")

// apply decides on the calls and commits them in one transaction. A flush cannot be
// called back, so it does not look at their contexts. Rejections are the calls'; an
// error is a reason to write nothing more. The caller is the writer.
func (l *Ledger) apply(calls []*store.Call) error {
	var g *store.Group
	err := l.file.Write(func(tx *bbolt.Tx) error {
		t := tablesOf(tx)
		g = store.NewGroup(t, l.tail)
		for _, c := range calls {
			if err := g.Decide(c); err != nil {
				return err
			}
		}
		if len(g.Batches) == 0 {
			return errNothing
		}
		return t.write(g)
	})
	switch {
	case err == nil:
		l.tail = g.Tail()
	case !errors.Is(err, errNothing):
		l.file.Stop(err)
		return withName(err)
	}
	return nil
}
