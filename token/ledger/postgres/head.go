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
	err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var leaves int64
		var crc int32
		err := conn.QueryRow(ctx, l.sql.lastHead).Scan(&leaves, &signed, &crc)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err == nil && crc != sum(store.TableHeads, store.SeqKey(uint64(leaves)), signed):
			return wrongSum(fmt.Sprintf("heads %d", leaves))
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
func (l *Ledger) PutHead(ctx context.Context, leaves uint64, signed []byte) error {
	if err := store.CheckHead(leaves, signed); err != nil {
		return err
	}
	missing := false
	err := l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		tag, err := conn.Exec(ctx, l.sql.putHead, int64(leaves), signed, sum(store.TableHeads, store.SeqKey(leaves), signed))
		missing = tag.RowsAffected() == 0
		return err
	})
	if err == nil && missing {
		err = fmt.Errorf("%w: a head of %d leaves", ledger.ErrNoLeaf, leaves)
	}
	return err
}
