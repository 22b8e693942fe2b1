package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// A reader of the log takes up to this many bytes or records from the server at
// once, whichever limit it reaches first.
const (
	chunkBytes   = 1 << 20
	chunkRecords = 256
)

// Genesis implements ledger.Reader.
func (l *Ledger) Genesis() ledger.Genesis { return l.genesis }

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
	k := newKeys()
	for _, id := range ids {
		k.id(id)
	}
	f, err := l.lookup(ctx, k, false)
	if err != nil {
		return nil, err
	}
	found := make([]ledger.Found, len(ids))
	for i, id := range ids {
		s, err := f.State(id)
		if err == nil {
			err = s.Unspent()
		}
		found[i] = ledger.Found{Token: s.Token, Err: err}
	}
	return found, nil
}

// Record implements ledger.Reader. If the outcome of an Apply of the same *Ledger is unknown, Record first
// waits until that Apply's transaction has ended, in this process and at the server. So its answer is
// final. Token, Tokens and Decide do not wait.
func (l *Ledger) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	after, err := l.settled(ctx)
	if err != nil {
		return ledger.Record{}, false, err
	}
	f, err := l.lookup(ctx, &keys{anchors: [][]byte{anchor}}, after)
	if err != nil {
		return ledger.Record{}, false, err
	}
	at, found, err := f.Anchor(anchor)
	if err != nil || !found {
		return ledger.Record{}, false, err
	}
	logged, err := l.some(ctx, []uint64{at.Seq})
	if err != nil {
		return ledger.Record{}, false, err
	}
	r, err := store.RecordOf(anchor, at, logged[at.Seq])
	return r, err == nil, err
}

// settled waits for the running commit if a caller does not know its outcome. It reports whether a
// query must also wait for the writers' lock at the server.
func (l *Ledger) settled(ctx context.Context) (after bool, err error) {
	if l.unsettled.Load() {
		err = l.queue.Idle(ctx)
	}
	return l.unsettled.Load(), err
}

// lookup reads the records of the keys. If after is true, it first waits for every transaction that
// holds the writers' lock.
func (l *Ledger) lookup(ctx context.Context, k *keys, after bool) (f *found, err error) {
	err = l.ask(ctx, after, l.sql.lookupTexts(), func(x *exchange) (err error) {
		f, err = k.query(x, &l.sql)
		return err
	})
	return f, err
}

// ask sends the queries, whose statements are texts, and returns when they are answered. If after
// is true, it first waits for every transaction that holds the writers' lock.
func (l *Ledger) ask(ctx context.Context, after bool, texts []string, queries func(x *exchange) error) error {
	return l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if after {
			texts = append(texts, l.sql.begin, l.sql.wait)
		}
		x, err := newExchange(ctx, conn, texts...)
		if err != nil {
			return err
		}
		defer x.close()
		if after {
			if err := cmp.Or(x.query(l.sql.begin, nil, nil, nil), x.query(l.sql.wait, nil, nil, nil)); err != nil {
				return err
			}
			stop := l.watch(ctx, conn)
			defer func() { _ = stop() }()
		}
		if err := queries(x); err != nil {
			return err
		}
		return x.await()
	})
}

// State implements ledger.Store. It waits for transactions with an unknown outcome as Record does.
func (l *Ledger) State(ctx context.Context) (s ledger.State, err error) {
	after, err := l.settled(ctx)
	if err != nil {
		return s, err
	}
	var h headRow
	var r callerRow
	missing := true
	err = l.ask(ctx, after, []string{l.sql.ends}, func(x *exchange) error {
		return x.query(l.sql.ends, nil, append(h.columns(), r.columns()...), func() error {
			missing = false
			return nil
		})
	})
	switch {
	case err != nil:
		return s, err
	case missing:
		return s, ledger.Corruptf(tableHead, "missing, or the table state is empty")
	}
	edge, err := h.edge()
	if err != nil {
		return s, err
	}
	data, err := r.body()
	return edge.State(data), err
}

// Decide implements ledger.Store.
func (l *Ledger) Decide(ctx context.Context, batch []ledger.Entry) (ledger.Decision, error) {
	c, err := store.NewCall(ctx, batch, true)
	if err != nil {
		return ledger.Decision{}, err
	}
	k := keysOf(c)
	var h headRow
	var f *found
	missing := true
	err = l.ask(ctx, false, append(l.sql.lookupTexts(), l.sql.look, l.sql.head), func(x *exchange) (err error) {
		if err := x.query(l.sql.look, nil, nil, nil); err != nil {
			return err
		}
		if err := x.query(l.sql.head, nil, h.columns(), func() error {
			missing = false
			return nil
		}); err != nil {
			return err
		}
		f, err = k.query(x, &l.sql)
		return err
	})
	switch {
	case err != nil:
		return ledger.Decision{}, err
	case missing:
		return ledger.Decision{}, headFound(pgx.ErrNoRows)
	}
	edge, err := h.edge()
	if err != nil {
		return ledger.Decision{}, err
	}
	return store.Decide(f, l.genesis, edge, c)
}

// Log implements ledger.Reader.
func (l *Ledger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return store.Chunks(from, func(seq uint64) (records []ledger.Record, err error) {
		err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return l.sql.chunk(ctx, conn, seq, chunkRecords, func(l *store.Logged) {
				records = append(records, l.Record(seq+uint64(len(records))))
			})
		})
		return records, err
	})
}

// Hashes implements ledger.Reader.
func (l *Ledger) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return store.Hashes(l.genesis, indexes, func(seqs []uint64) (map[uint64]*store.Logged, error) { return l.some(ctx, seqs) })
}

// some reads the records of the log with these sequence numbers, of those that it has.
func (l *Ledger) some(ctx context.Context, seqs []uint64) (logged map[uint64]*store.Logged, err error) {
	err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		logged, err = l.sql.someOf(ctx, conn, seqs)
		return err
	})
	return logged, err
}

func (s *statements) someOf(ctx context.Context, conn *pgx.Conn, seqs []uint64) (map[uint64]*store.Logged, error) {
	list := make([]int64, len(seqs))
	for i, seq := range seqs {
		list[i] = int64(seq)
	}
	rows, err := conn.Query(ctx, s.some, list)
	if err != nil {
		return nil, err
	}
	logged := make(map[uint64]*store.Logged, len(seqs))
	var r logRow
	_, err = pgx.ForEachRow(rows, r.columns(), func() (err error) {
		logged[uint64(r.seq)], err = r.logged()
		return err
	})
	return logged, err
}

// chunk reads the next records of the log from seq: no more than most, fewer if they are long, and none at
// the log's end. It calls visit with each.
func (s *statements) chunk(ctx context.Context, conn *pgx.Conn, seq uint64, most int, visit func(l *store.Logged)) error {
	rows, err := conn.Query(ctx, s.entries, int64(seq), most, chunkBytes)
	if err != nil {
		return err
	}
	var r logRow
	_, err = pgx.ForEachRow(rows, r.columns(), func() error {
		if uint64(r.seq) != seq {
			return ledger.Corruptf(fmt.Sprintf("request %d", seq), "missing from the log")
		}
		l, err := r.logged()
		if err != nil {
			return err
		}
		visit(l)
		seq++
		return nil
	})
	return err
}
