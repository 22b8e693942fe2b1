package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
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
		s, err := stateOf(tx, id)
		switch {
		case err != nil:
			return err
		case s.status == absent:
			return ledger.ErrNotFound
		case s.status == spent:
			return zkbench.ErrSpent
		}
		found = bytes.Clone(s.token)
		return nil
	})
	return found, err
}

func stateOf(tx *bbolt.Tx, id token.ID) (state, error) {
	return unsealState(id, tx.Bucket([]byte(bucketTokens)).Get(id), tx.Bucket([]byte(bucketSpent)).Get(id))
}

// Digest implements ledger.Ledger.
func (l *Ledger) Digest(ctx context.Context, anchor []byte) (digest [32]byte, found bool, err error) {
	if err := ctx.Err(); err != nil {
		return digest, false, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		value := tx.Bucket([]byte(bucketAnchors)).Get(anchor)
		if value == nil {
			return nil
		}
		a, err := unsealAnchored(anchor, value)
		digest, found = a.digest, err == nil
		return err
	})
	return digest, found, err
}

// Log implements ledger.Ledger.
func (l *Ledger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		next := max(from, 1)
		for {
			records, err := l.chunk(ctx, next)
			for _, r := range records {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(ledger.Record{}, err)
			}
			if err != nil || len(records) == 0 {
				return
			}
			next += uint64(len(records))
		}
	}
}

// chunk returns the next records from seq, none at the end of the log.
func (l *Ledger) chunk(ctx context.Context, seq uint64) (records []ledger.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket([]byte(bucketLog)).Cursor()
		size := 0
		for key, value := c.Seek(seqKey(seq)); key != nil && size < chunkBytes && len(records) < chunkRecords; key, value = c.Next() {
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

// unsealEntry decodes the log's record of sequence number seq; the entry's
// slices are parts of value.
func unsealEntry(seq uint64, key, value []byte) (ledger.Entry, error) {
	place := fmt.Sprintf("request %d", seq)
	if !bytes.Equal(key, seqKey(seq)) {
		return ledger.Entry{}, ledger.Corruptf(place, "missing from the log")
	}
	body, err := unseal(bucketLog, key, value, 1)
	if err != nil {
		return ledger.Entry{}, ledger.Corruptf(place, "%v", err)
	}
	e, err := ledger.DecodeEntry(body)
	if err != nil {
		return ledger.Entry{}, ledger.Corruptf(place, "%v", err)
	}
	return e, nil
}

// lastLink returns the last batch, zero on an empty ledger. It is the end of
// the log too.
func lastLink(tx *bbolt.Tx) (l link, err error) {
	if key, value := tx.Bucket([]byte(bucketChain)).Cursor().Last(); key != nil {
		if l, err = unsealLink(key, value); err != nil {
			return l, err
		}
	}
	end := uint64(0)
	if key, _ := tx.Bucket([]byte(bucketLog)).Cursor().Last(); len(key) == 8 {
		end = binary.BigEndian.Uint64(key)
	}
	if end != l.last {
		return l, ledger.Corruptf("log", "ends with request %d, its chain with %d", end, l.last)
	}
	return l, nil
}

// linkBefore returns the batch that ends before the entry first.
func linkBefore(tx *bbolt.Tx, first uint64) (link, error) {
	if first == 1 {
		return link{}, nil
	}
	key := seqKey(first - 1)
	value := tx.Bucket([]byte(bucketChain)).Get(key)
	if value == nil {
		return link{}, ledger.Corruptf(fmt.Sprintf("request %d", first), "no batch ends before it")
	}
	return unsealLink(key, value)
}

// checkLink recomputes a batch's hash from its entries, and gives each entry to
// visit first. What visit gets is valid until it returns.
func checkLink(tx *bbolt.Tx, prev [32]byte, l *link, visit func(seq uint64, e *ledger.Entry) error) error {
	h := ledger.NewLink(prev, l.first)
	c := tx.Bucket([]byte(bucketLog)).Cursor()
	key, value := c.Seek(seqKey(l.first))
	for seq := l.first; seq <= l.last; seq++ {
		e, err := unsealEntry(seq, key, value)
		if err != nil {
			return err
		}
		h.Add(value[:len(value)-sumLen])
		if visit != nil {
			if err := visit(seq, &e); err != nil {
				return err
			}
		}
		key, value = c.Next()
	}
	if h.Sum() != l.hash {
		return ledger.Corruptf(fmt.Sprintf("requests %d to %d", l.first, l.last), "not what the chain holds")
	}
	return nil
}
