package bolt

import (
	"bytes"
	"cmp"
	"context"
	"iter"

	"go.etcd.io/bbolt"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// A reader of the log takes up to this many bytes or records from the store at
// once, whichever limit it reaches first.
const (
	chunkBytes   = 1 << 20
	chunkRecords = 256
)

// Token implements ledger.Reader.
func (l *Ledger) Token(ctx context.Context, id token.ID) ([]byte, error) {
	found, err := l.Tokens(ctx, []token.ID{id})
	if err != nil {
		return nil, err
	}
	return found[0].Token, found[0].Err
}

// Tokens implements ledger.Reader.
func (l *Ledger) Tokens(ctx context.Context, ids []token.ID) ([]ledger.Found, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	found := make([]ledger.Found, len(ids))
	err := l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		for i, id := range ids {
			s, err := t.State(id)
			if err == nil {
				err = s.Unspent()
			}
			found[i] = ledger.Found{Token: bytes.Clone(s.Token), Err: err}
		}
		return nil
	})
	return found, err
}

// Record implements ledger.Reader.
func (l *Ledger) Record(ctx context.Context, anchor []byte) (r ledger.Record, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return r, false, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		t := tablesOf(tx, l.genesis)
		at, known, err := t.Anchor(anchor)
		if err != nil || !known {
			return err
		}
		var logged *store.Logged
		key := store.SeqKey(at.Seq)
		if value := t.log.Get(key); value != nil {
			if logged, err = unsealLogged(at.Seq, key, bytes.Clone(value)); err != nil {
				return err
			}
		}
		r, err = store.RecordOf(anchor, at, logged)
		found = err == nil
		return err
	})
	return r, found, err
}

// Log implements ledger.Reader.
func (l *Ledger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return store.Chunks(from, func(seq uint64) ([]ledger.Record, error) { return l.chunk(ctx, seq) })
}

// chunk returns the next records from seq, or none at the end of the log.
func (l *Ledger) chunk(ctx context.Context, seq uint64) (records []ledger.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		c := tablesOf(tx, l.genesis).log.Cursor()
		size := 0
		for key, value := c.Seek(store.SeqKey(seq)); key != nil && size < chunkBytes && len(records) < chunkRecords; key, value = c.Next() {
			size += len(value)
			l, err := unsealLogged(seq, key, bytes.Clone(value))
			if err != nil {
				return err
			}
			records = append(records, l.Record(seq))
			seq++
		}
		return nil
	})
	return records, err
}

// Hashes implements ledger.Reader.
func (l *Ledger) Hashes(ctx context.Context, indexes []int64) (hashes []tlog.Hash, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) (err error) {
		hashes, err = tablesOf(tx, l.genesis).Hashes(ctx, indexes)
		return err
	})
	return hashes, err
}

// Verify checks the whole ledger, including batches that are applied while it runs. It checks the structure
// of the file, the tree of the log from the first request, and that the buckets of tokens and anchors, and the
// edge, are exactly what the log implies. It returns the edge, a *ledger.CorruptError that names the first
// contradiction, or the error of ctx.
//
// Verify calls progress after every 256 requests and at the end, with the number of requests checked so far and the
// total. It may make several of these calls one right after the other. The function progress may be nil, and must
// not call Close.
//
// Verify reads one snapshot after the other and keeps each open for store.SnapshotTime. No snapshot is open
// while progress runs. Two snapshots may stay open for longer. The first snapshot stays open until the
// structure is checked. The last one stays open while Verify counts the records. If the log grows faster than
// Verify can read it, the last one also stays open until Verify has read it to its end. A batch that needs a
// larger file waits until the open snapshot ends, and all readers wait with the batch. Memory does not depend
// on the length of the log.
func (l *Ledger) Verify(ctx context.Context, progress func(done, total uint64)) (edge ledger.Edge, err error) {
	if err := ctx.Err(); err != nil {
		return edge, err
	}
	s := &snapshot{l: l, turns: store.NewTurns(l.snapshotTime, progress)}
	if err := s.open(); err != nil {
		return edge, err
	}
	err = l.file.CheckPages(s.tx)
	if err == nil {
		edge, err = store.Verify(ctx, s, s.turns.Passed)
	}
	if err == nil {
		err = s.meta(ctx)
	}
	s.close()
	return edge, cmp.Or(err, s.turns.Tell(ctx))
}

// snapshot is a ledger at one moment, as Verify reads it.
type snapshot struct {
	*tables
	l     *Ledger
	turns store.Turns
}

var _ store.Snapshot = (*snapshot)(nil)

func (s *snapshot) open() error {
	s.turns.Open()
	tx, err := s.l.file.Snapshot()
	if err != nil {
		return withName(err)
	}
	err = boltfile.Guard(func() (err error) {
		s.tables, err = read(tx)
		return err
	})
	if err != nil {
		s.tables = nil
		_ = tx.Rollback() // of a read, which cannot fail
	}
	return err
}

func (s *snapshot) close() {
	if s.tables != nil {
		_ = s.tx.Rollback() // of a read, which cannot fail
	}
}

// Renew implements store.Snapshot.
func (s *snapshot) Renew(ctx context.Context, left uint64) (bool, error) {
	if !s.turns.Due(left) {
		return false, nil
	}
	s.close()
	s.tables = nil
	if err := s.turns.Tell(ctx); err != nil {
		return false, err
	}
	return true, s.open()
}

// meta checks how many records the bucket meta has.
func (s *snapshot) meta(ctx context.Context) error {
	n, err := s.Count(ctx, bucketMeta)
	if err == nil && n != metaKeys {
		err = ledger.Corruptf(bucketMeta, "%d records, want %d", n, metaKeys)
	}
	return err
}
