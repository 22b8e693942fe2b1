// Package bolt implements ledger.Store in one bbolt file, which one process can have open at a time. A batch
// is durable when Apply returns nil. After a crash at any point, the file can be opened. It then has the
// first n batches for some n, and every acknowledged batch is among them.
//
// Calls of Apply that arrive while a batch is being written share the next transaction. So many callers
// share one flush to the disk.
//
// docs/ledger.md says what a corrupted file can cause, and which properties of the disk the package relies
// on.
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
	edge    ledger.Edge // only the queue's writer uses it

	snapshotTime time.Duration // store.SnapshotTime
}

var _ ledger.Store = (*Ledger)(nil)

// Create creates an empty ledger at path and opens it. The parameter genesis is either a new one that
// ledger.NewGenesis returned, or, to rebuild an existing ledger, the genesis of that ledger. If the genesis
// is a fork's, the caller must first apply the parent's batches, unchanged; until then Open refuses the file.
//
// The file appears complete or not at all. Create returns fs.ErrExist if path exists. The file system must
// support hard links.
func Create(path string, genesis ledger.Genesis) (*Ledger, error) {
	if err := boltfile.Create(path, func(tx *bbolt.Tx) error { return initialize(tx, genesis) }); err != nil {
		return nil, err
	}
	return open(path, store.CheckEdge)
}

// initialize writes the buckets of an empty ledger.
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
		putEdge(meta, ledger.NewEdge(genesis)),
		putState(meta, 0, nil),
	)
}

// Open opens a ledger that Create created. It changes nothing in the file, but flushes to disk what the
// operating system has not written yet. It checks the end of the log and the structure of the whole file, in
// time proportional to the number of pages; Verify checks everything.
//
// Open returns fs.ErrNotExist, ledger.ErrLocked, a *ledger.CorruptError, or, if the file has
// another format version, a *zkbench.DecodeError.
func Open(path string) (*Ledger, error) {
	return open(path, store.CheckOpened)
}

// open opens a ledger if its tables pass the check.
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
		l.edge, err = t.Edge(context.Background())
		return err
	})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// Genesis implements ledger.Store.
func (l *Ledger) Genesis() ledger.Genesis { return l.genesis }

// read returns the tables of a file, after it has checked the format version and the state.
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
	edge, err := t.Edge(context.Background())
	if err != nil {
		return nil, err
	}
	_, err = t.state(edge.Last())
	return t, err
}

// view runs a short read of what is durable.
func (l *Ledger) view(read func(*bbolt.Tx) error) error { return withName(l.file.View(read)) }

// Close implements ledger.Store.
func (l *Ledger) Close() error { return withName(l.file.Close()) }

// withName replaces the error of a closed file by ledger.ErrClosed.
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
func (l *Ledger) Decide(ctx context.Context, batch []ledger.Entry) (d ledger.Decision, err error) {
	if err := ctx.Err(); err != nil {
		return d, err
	}
	c, err := store.NewCall(ctx, batch, true)
	if err != nil {
		return d, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		edge, err := t.Edge(ctx)
		if err == nil {
			d, err = store.Decide(t, l.genesis, edge, c)
		}
		return err
	})
	return d, err
}

// State implements ledger.Store.
func (l *Ledger) State(ctx context.Context) (s ledger.State, err error) {
	if err := ctx.Err(); err != nil {
		return s, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		edge, err := t.Edge(ctx)
		if err != nil {
			return err
		}
		data, err := t.state(edge.Last())
		s = edge.State(bytes.Clone(data))
		return err
	})
	return s, err
}

// errNothing ends a transaction that has nothing to write.
var errNothing = errors.New("nothing to write")

// apply decides on the calls and commits them in one transaction. A flush cannot be interrupted, so
// apply ignores the calls' contexts. Rejections are recorded in the calls; after an error the
// ledger writes nothing more. Only the queue's writer may call apply.
func (l *Ledger) apply(calls []*store.Call) error {
	var g *store.Group
	err := l.file.Write(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		g = store.NewGroup(t, l.genesis, l.edge)
		for _, c := range calls {
			if err := g.Decide(c); err != nil {
				return err
			}
		}
		if g.Empty() {
			return errNothing
		}
		return t.write(g, l.edge.Last())
	})
	switch {
	case err == nil:
		l.edge = g.Edge()
	case !errors.Is(err, errNothing):
		l.file.Stop(err)
		return withName(err)
	}
	return nil
}
