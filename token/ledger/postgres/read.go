package postgres

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// A reader of the log takes this many bytes or records from the server at a
// time, whichever it has first.
const (
	chunkBytes   = 1 << 20
	chunkRecords = 256
)

// Genesis implements ledger.Ledger.
func (l *Ledger) Genesis() ledger.Genesis { return l.genesis }

// Token implements ledger.Ledger.
func (l *Ledger) Token(ctx context.Context, id token.ID) ([]byte, error) {
	found, err := l.Tokens(ctx, []token.ID{id})
	if err != nil {
		return nil, err
	}
	return found[0].Token, found[0].Err
}

// Tokens implements ledger.Ledger.
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

// Digest implements ledger.Ledger. After an Apply of the same *Ledger whose outcome
// is unknown it waits until the transaction has come to its end, here and at the
// server, so that its answer is the last word. Token does not wait.
func (l *Ledger) Digest(ctx context.Context, anchor []byte) ([32]byte, bool, error) {
	a, found, err := l.anchored(ctx, anchor)
	return a.Digest, found, err
}

// Record implements ledger.Ledger. It waits as Digest does.
func (l *Ledger) Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error) {
	a, found, err := l.anchored(ctx, anchor)
	if err != nil || !found {
		return ledger.Record{}, false, err
	}
	r, err := store.RecordOf(ctx, l, anchor, a)
	return r, err == nil, err
}

// anchored returns what is stored of an anchor.
func (l *Ledger) anchored(ctx context.Context, anchor []byte) (store.Anchored, bool, error) {
	if l.unsettled.Load() {
		if err := l.queue.Idle(ctx); err != nil {
			return store.Anchored{}, false, err
		}
	}
	f, err := l.lookup(ctx, &keys{anchors: [][]byte{anchor}}, l.unsettled.Load())
	if err != nil {
		return store.Anchored{}, false, err
	}
	return f.Anchor(anchor)
}

// lookup asks for the keys, where it must be after every transaction that has
// the writers' lock.
func (l *Ledger) lookup(ctx context.Context, k *keys, after bool) (f *found, err error) {
	err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		texts := l.sql.ofLookup()
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
		if f, err = k.query(x, &l.sql); err != nil {
			return err
		}
		return x.await()
	})
	return f, err
}

// Log implements ledger.Ledger.
func (l *Ledger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return store.Chunks(from, func(seq uint64) (records []ledger.Record, err error) {
		err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
			return l.sql.chunk(ctx, conn, seq, func(e *ledger.Entry, _ []byte) {
				records = append(records, ledger.Record{Seq: seq + uint64(len(records)), Entry: *e})
			})
		})
		return records, err
	})
}

// chunk reads the next entries of the log from seq, none at its end, and gives
// each, with its encoding, to visit.
func (s *statements) chunk(ctx context.Context, conn *pgx.Conn, seq uint64, visit func(e *ledger.Entry, raw []byte)) error {
	rows, err := conn.Query(ctx, s.entries, int64(seq), chunkRecords, chunkBytes)
	if err != nil {
		return err
	}
	var at int64
	var raw []byte
	var crc int32
	_, err = pgx.ForEachRow(rows, []any{&at, &raw, &crc}, func() error {
		place := fmt.Sprintf("request %d", seq)
		if uint64(at) != seq {
			return ledger.Corruptf(place, "missing from the log")
		}
		if crc != sum(store.TableLog, store.SeqKey(seq), raw) {
			return wrongSum(place)
		}
		e, err := ledger.DecodeEntry(raw)
		if err != nil {
			return ledger.Corruptf(place, "%v", err)
		}
		visit(&e, raw)
		seq++
		return nil
	})
	return err
}
