package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Verify checks the whole ledger, including batches that are applied while it runs. It checks the tree of
// the log from the first request, and that the other tables and the edge are exactly what the log implies. It
// returns the edge, a *ledger.CorruptError that names the first contradiction, the error of ctx, or one of Open's
// errors.
//
// Verify calls progress after every 256 requests and at the end, with the number of requests checked so far and the
// total. It may make several of these calls one right after the other. The function progress may be nil. It may
// read the ledger, but must not call Verify or Close.
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
func (l *Ledger) Verify(ctx context.Context, progress func(done, total uint64)) (edge ledger.Edge, err error) {
	err = l.snapshot(ctx, func(ctx context.Context, s *snapshot) error {
		s.turns = store.NewTurns(l.snapshotTime, progress)
		err := s.begin(ctx)
		if err == nil {
			edge, err = store.Verify(ctx, s, s.turns.Passed)
		}
		if err == nil {
			err = s.caller(ctx)
		}
		return cmp.Or(err, s.end(ctx))
	})
	return edge, err
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

	*found  // of entries
	first   uint64
	entries []*store.Logged // from first on

	turns store.Turns
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
	s.entries = s.entries[:0]
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

// Edge implements store.Snapshot.
func (s *snapshot) Edge(ctx context.Context) (ledger.Edge, error) {
	var h headRow
	if err := headFound(s.conn.QueryRow(ctx, s.sql.head).Scan(h.columns()...)); err != nil {
		return ledger.Edge{}, err
	}
	e, err := h.edge()
	if err != nil {
		return ledger.Edge{}, err
	}
	var end *int64
	if err := s.conn.QueryRow(ctx, s.sql.last).Scan(&end); err != nil {
		return ledger.Edge{}, err
	}
	last := uint64(0)
	if end != nil {
		last = uint64(*end)
	}
	if last != e.Last() {
		return ledger.Edge{}, ledger.Corruptf(store.TableLog, "ends with request %d, its edge is after request %d", last, e.Last())
	}
	return e, nil
}

// Hashes implements store.Snapshot.
func (s *snapshot) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return store.Hashes(s.genesis, indexes, func(seqs []uint64) (map[uint64]*store.Logged, error) { return s.sql.someOf(ctx, s.conn, seqs) })
}

// Entries implements store.Snapshot.
func (s *snapshot) Entries(ctx context.Context, first, last uint64, visit func(uint64, *store.Logged) error) error {
	for seq := first; seq <= last; seq++ {
		if seq < s.first || seq >= s.first+uint64(len(s.entries)) {
			if err := s.fill(ctx, seq); err != nil {
				return err
			}
		}
		if err := visit(seq, s.entries[seq-s.first]); err != nil {
			return err
		}
	}
	return nil
}

// fill reads at least one entry from seq on, and the records of the entries' tokens and anchors.
func (s *snapshot) fill(ctx context.Context, seq uint64) error {
	s.first, s.entries = seq, s.entries[:0]
	k := newKeys()
	err := s.sql.chunk(ctx, s.conn, seq, chunkRecords, func(l *store.Logged) {
		s.entries = append(s.entries, l)
		k.add(&l.Entry)
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
