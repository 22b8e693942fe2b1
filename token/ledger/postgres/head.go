package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

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
	err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var leaves int64
		var crc int32
		err := conn.QueryRow(ctx, l.sql.getHead, key).Scan(&leaves, &signed, &crc)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err == nil && crc != signedSum(key, uint64(leaves), signed):
			return wrongSum("heads " + key)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return signed, nil
}

// PutHead implements ledger.Store. It does not wait for the writers' lock. If ctx ends, the head may be stored
// or not.
func (l *Ledger) PutHead(ctx context.Context, leaves uint64, signed []byte, counts bool) error {
	if err := store.CheckHead(leaves, signed); err != nil {
		return err
	}
	keys := store.HeadKeys(counts)
	sums := make([]int32, len(keys))
	for i, key := range keys {
		sums[i] = signedSum(key, leaves, signed)
	}
	var there bool // the log has the leaves
	err := l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, l.sql.putHead, int64(leaves), signed, keys, sums).Scan(&there)
	})
	if err == nil && !there {
		err = fmt.Errorf("%w: a head of %d leaves", ledger.ErrNoLeaf, leaves)
	}
	return err
}

// signedSum returns the checksum of a row of the table heads.
func signedSum(key string, leaves uint64, signed []byte) int32 {
	return sum(store.TableHeads, []byte(key), append(store.SeqKey(leaves), signed...))
}
