package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Verify checks the whole ledger, including batches that are applied while it runs. It checks the chain of
// the log from the first request, and that the other tables are exactly what the log implies. It returns a
// *ledger.CorruptError that names the first contradiction, the error of ctx, or one of Open's errors.
//
// Verify calls progress once for each batch, with the number of requests checked so far and the total. It
// may make several of these calls one right after the other. The function progress may be nil. It may read
// the ledger, but must not call Verify or Close.
//
// Verify reads one snapshot after the other and keeps each open for store.SnapshotTime. No snapshot is open
// while progress runs. Snapshots are short because every transaction of Apply leaves an old version of the
// only row of the table named head. As long as an open snapshot may need these old versions, later
// transactions have to skip them. The last snapshot is open for longer if its tables take long to count, or
// if the log grows faster than it is read.
//
// Memory does not depend on the length of the log. A call of Verify blocks only other calls of Verify. Each
// call of Verify needs a connection of the pool. One connection of the pool is always left to calls of other
// methods.
func (l *Ledger) Verify(ctx context.Context, progress func(done, total uint64)) error {
	_, err := l.VerifyTail(ctx, progress)
	return err
}

// VerifyTail verifies the ledger like Verify, and returns the last batch that it verified, or store.Genesis
// if the ledger is empty.
func (l *Ledger) VerifyTail(ctx context.Context, progress func(done, total uint64)) (tail store.Batch, err error) {
	err = l.snapshot(ctx, func(ctx context.Context, s *snapshot) error {
		s.turns = store.NewTurns(l.snapshotTime, progress)
		err := s.begin(ctx)
		if err == nil {
			err = store.Verify(ctx, s, s.turns.Passed)
		}
		if err == nil {
			tail, err = s.Tail(ctx)
		}
		if err == nil {
			err = s.caller(ctx)
		}
		return cmp.Or(err, s.end(ctx))
	})
	return tail, err
}

// snapshot calls work with a snapshot of what is committed.
func (l *Ledger) snapshot(ctx context.Context, work func(context.Context, *snapshot) error) error {
	select {
	case l.readers <- struct{}{}:
		defer func() { <-l.readers }()
	case <-ctx.Done():
		return ctx.Err()
	}
	return l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		s := &snapshot{conn: conn, sql: &l.sql, found: &found{}}
		if err := s.open(ctx); err != nil {
			return err
		}
		return work(ctx, s)
	})
}

// snapshot is a transaction that sees the ledger at one moment. It reads ahead, so it must be read
// in the order of the log.
type snapshot struct {
	conn    *pgx.Conn
	sql     *statements
	genesis ledger.Genesis
	batches []store.Batch // next ones of the chain

	*found  // of entries
	first   uint64
	entries []entry // from first on

	turns store.Turns
}

type entry struct {
	ledger.Entry
	raw []byte
}

var _ store.Snapshot = (*snapshot)(nil)

// open begins the transaction. It has no time limit, unlike others, because counting may take long.
func (s *snapshot) open(ctx context.Context) error {
	s.turns.Open()
	_, err := s.conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "+
		"SELECT set_config(name, '0', true) FROM pg_settings WHERE name = 'transaction_timeout'")
	return err
}

// end ends the transaction and makes the queued calls of progress.
func (s *snapshot) end(ctx context.Context) error {
	_, err := s.conn.Exec(ctx, "ROLLBACK")
	return cmp.Or(err, s.turns.Tell(ctx))
}

// Renew implements store.Snapshot.
func (s *snapshot) Renew(ctx context.Context, left uint64) (bool, error) {
	if !s.turns.Due(left) {
		return false, nil
	}
	if err := s.end(ctx); err != nil {
		return false, err
	}
	s.batches, s.entries = nil, s.entries[:0]
	return true, s.open(ctx)
}

// begin reads the genesis.
func (s *snapshot) begin(ctx context.Context) error {
	var encoding []byte
	var crc int32
	err := s.conn.QueryRow(ctx, s.sql.genesis).Scan(&encoding, &crc)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return ledger.Corruptf(tableGenesis, "missing")
	case err != nil:
		return err
	case crc != sum(tableGenesis, nil, encoding):
		return wrongSum(tableGenesis)
	}
	s.genesis, err = ledger.DecodeGenesis(encoding)
	return err
}

// Genesis implements store.Snapshot.
func (s *snapshot) Genesis() ledger.Genesis { return s.genesis }

// format refuses a ledger with another format version.
func (s *snapshot) format(ctx context.Context) error {
	var version int32
	if err := headFound(s.conn.QueryRow(ctx, s.sql.format).Scan(&version)); err != nil {
		return err
	}
	return checkFormat(version)
}

// head returns the last batch according to the table head.
func (s *snapshot) head(ctx context.Context) (store.Batch, error) {
	var h headRow
	if err := headFound(s.conn.QueryRow(ctx, s.sql.head).Scan(h.columns()...)); err != nil {
		return store.Batch{}, err
	}
	return h.batch()
}

// caller checks the bytes of the last ApplyState.
func (s *snapshot) caller(ctx context.Context) error {
	var r callerRow
	err := s.conn.QueryRow(ctx, s.sql.caller).Scan(r.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return ledger.Corruptf(tableState, "missing")
	}
	if err == nil {
		_, err = r.body()
	}
	return err
}

// Tail implements store.Snapshot.
func (s *snapshot) Tail(ctx context.Context) (store.Batch, error) {
	b, err := s.head(ctx)
	if err != nil {
		return store.Batch{}, err
	}
	var log, chain *int64
	if err := s.conn.QueryRow(ctx, s.sql.last).Scan(&log, &chain); err != nil {
		return store.Batch{}, err
	}
	for _, t := range []struct {
		name string
		end  *int64
	}{{store.TableLog, log}, {store.TableChain, chain}} {
		last := uint64(0)
		if t.end != nil {
			last = uint64(*t.end)
		}
		if last != b.Last {
			return store.Batch{}, ledger.Corruptf(t.name, "ends with request %d, the ledger with %d", last, b.Last)
		}
	}
	if b.Last == 0 {
		if b != store.Genesis(s.genesis) {
			return store.Batch{}, ledger.Corruptf(tableHead, "not the row of an empty ledger with this genesis")
		}
		return b, nil
	}
	var r batchRow
	if err := s.conn.QueryRow(ctx, s.sql.batches, int64(b.Last), 1).Scan(r.columns()...); err != nil {
		return store.Batch{}, err
	}
	inChain, err := r.batch()
	if err == nil && inChain != b {
		err = ledger.Corruptf(tableHead, "not the last batch of the chain")
	}
	return b, err
}

// Batch implements store.Snapshot.
func (s *snapshot) Batch(ctx context.Context, seq uint64) (store.Batch, error) {
	for len(s.batches) > 0 && s.batches[0].Last < seq {
		s.batches = s.batches[1:]
	}
	if len(s.batches) == 0 {
		rows, err := s.conn.Query(ctx, s.sql.batches, int64(seq), chunkRecords)
		if err != nil {
			return store.Batch{}, err
		}
		var r batchRow
		_, err = pgx.ForEachRow(rows, r.columns(), func() error {
			b, err := r.batch()
			s.batches = append(s.batches, b)
			return err
		})
		if err != nil {
			return store.Batch{}, err
		}
	}
	if len(s.batches) == 0 {
		return store.Batch{}, store.NoBatch(seq)
	}
	return s.batches[0], nil
}

// Entries implements store.Snapshot.
func (s *snapshot) Entries(ctx context.Context, first, last uint64, visit func(uint64, []byte, *ledger.Entry) error) error {
	for seq := first; seq <= last; seq++ {
		if seq < s.first || seq >= s.first+uint64(len(s.entries)) {
			if err := s.fill(ctx, seq); err != nil {
				return err
			}
		}
		e := &s.entries[seq-s.first]
		if err := visit(seq, e.raw, &e.Entry); err != nil {
			return err
		}
	}
	return nil
}

// fill reads at least one entry from seq on, and the records of the entries' tokens and anchors.
func (s *snapshot) fill(ctx context.Context, seq uint64) error {
	s.first, s.entries = seq, s.entries[:0]
	k := newKeys()
	err := s.sql.chunk(ctx, s.conn, seq, chunkRecords, func(e *ledger.Entry, raw []byte) {
		s.entries = append(s.entries, entry{*e, raw})
		k.add(e)
	})
	if err != nil {
		return err
	}
	if len(s.entries) == 0 {
		return ledger.Corruptf(fmt.Sprintf("request %d", seq), "missing from the log")
	}
	x, err := newExchange(ctx, s.conn, s.sql.lookupTexts()...)
	if err != nil {
		return err
	}
	defer x.close()
	if s.found, err = k.query(x, s.sql); err != nil {
		return err
	}
	return x.await()
}

// Count implements store.Snapshot.
func (s *snapshot) Count(ctx context.Context, table string) (uint64, error) {
	var b pgx.Batch
	var n int64
	b.Queue("SET LOCAL enable_seqscan = on") // because this reads all rows
	b.Queue(s.sql.count + table).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
	err := s.conn.SendBatch(ctx, &b).Close()
	return uint64(n), err
}
