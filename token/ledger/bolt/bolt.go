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
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Ledger implements ledger.Store.
type Ledger struct {
	file    *boltfile.File
	queue   *store.Queue
	genesis ledger.Genesis
	tail    store.Batch // the last one, of who is the queue's writer

	snapshotTime time.Duration // store.SnapshotTime
}

var _ ledger.Store = (*Ledger)(nil)

// Create makes an empty ledger and opens it: of ledger.NewGenesis, or with the genesis of one that it repeats. A fork is to be
// given the batches of its parent first, as they are there: Open refuses it until it has them. The file appears complete or not
// at all; there must be none at path (fs.ErrExist), on a file system with hard
// links.
func Create(path string, genesis ledger.Genesis) (*Ledger, error) {
	if err := boltfile.Create(path, func(tx *bbolt.Tx) error { return initialize(tx, genesis) }); err != nil {
		return nil, err
	}
	return open(path, store.CheckTail)
}

// initialize makes an empty ledger.
func initialize(tx *bbolt.Tx, genesis ledger.Genesis) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	key := []byte(formatKey)
	meta := tx.Bucket([]byte(bucketMeta))
	return errors.Join(
		meta.Put(key, boltfile.Seal(bucketMeta, key, genesis.Append(binary.BigEndian.AppendUint32(nil, format)))),
		putState(meta, 0, nil),
	)
}

// Open opens a ledger that Create made. It changes nothing, and flushes what the
// system has not yet written to the disk. It checks the structure of the whole
// file, in a time that grows with the number of pages, and the last batch;
// Verify checks everything. The error is fs.ErrNotExist, ledger.ErrLocked, a
// *ledger.CorruptError, or a *zkbench.DecodeError for another version's file.
func Open(path string) (*Ledger, error) {
	return open(path, store.CheckOpened)
}

// open opens a ledger whose tables pass the check.
func open(path string, check func(context.Context, store.Snapshot) error) (*Ledger, error) {
	file, err := boltfile.Open(path, func(tx *bbolt.Tx) error {
		t, err := read(tx)
		if err != nil {
			return err
		}
		return check(context.Background(), t)
	})
	if err != nil {
		return nil, err
	}
	l := &Ledger{file: file, snapshotTime: store.SnapshotTime}
	l.queue = store.NewQueue(l.apply)
	err = l.view(func(tx *bbolt.Tx) error {
		t, err := read(tx)
		if err != nil {
			return err
		}
		l.genesis = t.genesis
		l.tail, err = t.Tail(context.Background())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// Genesis implements ledger.Store.
func (l *Ledger) Genesis() ledger.Genesis { return l.genesis }

// read is the tables of a file whose format is known.
func read(tx *bbolt.Tx) (*tables, error) {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		return nil, ledger.Corruptf("bucket meta", "missing: not a ledger")
	}
	key := []byte(formatKey)
	body, err := unseal(bucketMeta, key, b.Get(key), 4)
	if err != nil {
		return nil, err
	}
	if v := binary.BigEndian.Uint32(body); v != format {
		return nil, &zkbench.DecodeError{Path: "ledger format", Reason: fmt.Sprintf("version %d, only %d is known", v, format)}
	}
	genesis, err := ledger.DecodeGenesis(body[4:])
	if err != nil {
		return nil, err
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return nil, ledger.Corruptf("bucket "+name, "missing")
		}
	}
	t := tablesOf(tx, genesis)
	tail, err := t.Tail(context.Background())
	if err != nil {
		return nil, err
	}
	_, err = t.state(tail.Last)
	return t, err
}

// view runs a short read of what is durable.
func (l *Ledger) view(read func(*bbolt.Tx) error) error { return withName(l.file.View(read)) }

// Close implements ledger.Store.
func (l *Ledger) Close() error { return withName(l.file.Close()) }

// withName gives the error of a closed file the ledger's name.
func withName(err error) error {
	if errors.Is(err, fs.ErrClosed) {
		return ledger.ErrClosed
	}
	return err
}

// Apply implements ledger.Store.
func (l *Ledger) Apply(ctx context.Context, batch []ledger.Entry) error {
	return l.queue.Apply(ctx, batch)
}

// ApplyEach implements ledger.Store.
func (l *Ledger) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	return l.queue.ApplyEach(ctx, batch)
}

// ApplyState implements ledger.Store.
func (l *Ledger) ApplyState(ctx context.Context, batch []ledger.Entry, state []byte) error {
	return l.queue.ApplyState(ctx, batch, state)
}

// Decide implements ledger.Store.
func (l *Ledger) Decide(ctx context.Context, batch []ledger.Entry) (rejected []error, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := store.NewCall(ctx, batch, true)
	if err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		tail, err := t.Tail(ctx)
		if err == nil {
			rejected, err = store.Decide(t, l.genesis, tail, c)
		}
		return err
	})
	return rejected, err
}

// State implements ledger.Store.
func (l *Ledger) State(ctx context.Context) (s ledger.State, err error) {
	if err := ctx.Err(); err != nil {
		return s, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		tail, err := t.Tail(ctx)
		if err != nil {
			return err
		}
		data, err := t.state(tail.Last)
		if err == nil {
			s, err = tail.State(l.genesis, bytes.Clone(data))
		}
		return err
	})
	return s, err
}

// Tail returns the last batch that was applied, store.Genesis of an empty ledger.
func (l *Ledger) Tail(ctx context.Context) (tail store.Batch, err error) {
	err = l.view(func(tx *bbolt.Tx) (err error) {
		tail, err = tablesOf(tx, l.genesis).Tail(ctx)
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
		t := tablesOf(tx, l.genesis)
		g = store.NewGroup(t, l.genesis, l.tail)
		for _, c := range calls {
			if err := g.Decide(c); err != nil {
				return err
			}
		}
		if g.Empty() {
			return errNothing
		}
		return t.write(g, l.tail.Last)
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
