package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Head implements ledger.Reader.
func (l *Ledger) Head(ctx context.Context) (signed []byte, err error) {
	return l.headAt(ctx, store.HeadCounts)
}

// Proposed implements ledger.Store.
func (l *Ledger) Proposed(ctx context.Context) (signed []byte, err error) {
	return l.headAt(ctx, store.HeadProposed)
}

// headAt returns the head under one of store.HeadKeys, or nil if there is none.
func (l *Ledger) headAt(ctx context.Context, key string) (signed []byte, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		_, stored, err := unsealHead(tx.Bucket([]byte(store.TableHeads)), key)
		signed = bytes.Clone(stored)
		return err
	})
	return signed, err
}

// unsealHead returns the head under one of store.HeadKeys with its number of leaves, or 0 and nil if there is none. The
// head is valid until the transaction ends.
func unsealHead(heads *bbolt.Bucket, key string) (leaves uint64, signed []byte, err error) {
	value := heads.Get([]byte(key))
	if value == nil {
		return 0, nil, nil
	}
	body, err := unseal(store.TableHeads, []byte(key), value, 8+1)
	if err != nil {
		return 0, nil, err
	}
	return binary.BigEndian.Uint64(body), body[8:], nil
}

// PutHead implements ledger.Store. It waits for a batch that is being written, and ignores the end of ctx
// after that.
func (l *Ledger) PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error {
	if err := store.CheckHead(leaves, signed); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err := l.file.Write(func(tx *bbolt.Tx) error {
		end := uint64(0)
		if key, _ := tx.Bucket([]byte(store.TableLog)).Cursor().Last(); key != nil {
			end = binary.BigEndian.Uint64(key)
		}
		if leaves > end+1 {
			return fmt.Errorf("%w: a head of %d leaves, the log has %d", ledger.ErrNoLeaf, leaves, end+1)
		}
		heads := tx.Bucket([]byte(store.TableHeads))
		for _, key := range store.HeadKeys(counts) {
			stored, _, err := unsealHead(heads, key)
			if err != nil {
				return err
			}
			if stored > leaves {
				continue
			}
			body := append(store.SeqKey(leaves), signed...)
			if err := heads.Put([]byte(key), boltfile.Seal(store.TableHeads, []byte(key), body)); err != nil {
				return err
			}
		}
		return nil
	})
	return withName(err)
}
