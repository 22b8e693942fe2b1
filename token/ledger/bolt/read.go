package bolt

import (
	"bytes"
	"context"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// A reader of the log takes this many bytes or records from the store at a
// time, whichever it has first.
const (
	chunkBytes   = 1 << 20
	chunkRecords = 256
)

// Token implements ledger.Ledger.
func (l *Ledger) Token(ctx context.Context, id token.ID) (found []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		s, err := tablesOf(tx).State(id)
		if err == nil {
			err = s.Unspent()
		}
		found = bytes.Clone(s.Token)
		return err
	})
	return found, err
}

// Digest implements ledger.Ledger.
func (l *Ledger) Digest(ctx context.Context, anchor []byte) (digest [32]byte, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return digest, false, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		a, ok, err := tablesOf(tx).Anchor(anchor)
		digest, found = a.Digest, ok
		return err
	})
	return digest, found, err
}

// Log implements ledger.Ledger.
func (l *Ledger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return store.Chunks(from, func(seq uint64) ([]ledger.Record, error) { return l.chunk(ctx, seq) })
}

// chunk returns the next records from seq, none at the end of the log.
func (l *Ledger) chunk(ctx context.Context, seq uint64) (records []ledger.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		c := tablesOf(tx).log.Cursor()
		size := 0
		for key, value := c.Seek(store.SeqKey(seq)); key != nil && size < chunkBytes && len(records) < chunkRecords; key, value = c.Next() {
			size += len(value)
			e, err := unsealEntry(seq, key, bytes.Clone(value))
			if err != nil {
				return err
			}
			records = append(records, ledger.Record{Seq: seq, Entry: e})
			seq++
		}
		return nil
	})
	return records, err
}
