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
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = l.view(func(tx *bbolt.Tx) error {
		key, value := tx.Bucket([]byte(store.TableHeads)).Cursor().Last()
		if key == nil {
			return nil
		}
		body, err := unseal(store.TableHeads, key, value, 1)
		signed = bytes.Clone(body)
		return err
	})
	return signed, err
}

// PutHead implements ledger.Store. It waits for a batch that is being written, and ignores the end of ctx
// after that.
func (l *Ledger) PutHead(ctx context.Context, leaves uint64, signed []byte) error {
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
		key := store.SeqKey(leaves)
		return tx.Bucket([]byte(store.TableHeads)).Put(key, boltfile.Seal(store.TableHeads, key, bytes.Clone(signed)))
	})
	return withName(err)
}
