package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Apply implements ledger.Store. If ctx ends before the transaction begins, nothing was applied. If
// ctx ends later, there are two cases. If another call shares the transaction, or the server was
// already asked to commit, Apply returns zkbench.ErrOutcomeUnknown. Otherwise nothing was applied.
//
// A transaction that takes TransactionTime fails with zkbench.ErrEnv, or with
// zkbench.ErrOutcomeUnknown if the server was already asked to commit.
func (l *Ledger) Apply(ctx context.Context, batch []ledger.Entry) error {
	return l.ApplyState(ctx, batch, nil)
}

// ApplyState implements ledger.Store. If ctx ends, its result is as for Apply.
func (l *Ledger) ApplyState(ctx context.Context, batch []ledger.Entry, state []byte) error {
	err := l.queue.ApplyState(ctx, batch, state)
	l.left(err)
	return err
}

// ApplyEach implements ledger.Store. If ctx ends, its result is as for Apply.
func (l *Ledger) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	rejected, err := l.queue.ApplyEach(ctx, batch)
	l.left(err)
	return rejected, err
}

// left records that a caller has left without knowing the outcome.
func (l *Ledger) left(err error) {
	if errors.Is(err, zkbench.ErrOutcomeUnknown) {
		l.unsettled.Store(true)
	}
}

// apply applies the calls in one transaction, and stops when the contexts of all calls have ended.
// After it finds damage, or that the rows went back to an earlier state, the ledger refuses all later calls.
func (l *Ledger) apply(ctx context.Context, calls []*store.Call) (err error) {
	unknown := true // if this function panics
	defer func() {
		if unknown || err == nil {
			l.unsettled.Store(unknown) // a transaction that got the lock came after those whose outcome was unknown
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, l.limit, fmt.Errorf("%w: database: no answer in %v", zkbench.ErrEnv, l.limit))
	defer cancel()
	err = l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error { return l.transact(ctx, conn, calls) })
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
		l.fail(corrupt)
	}
	if back, ok := errors.AsType[*ledger.RolledBackError](err); ok {
		l.fail(back)
	}
	unknown = errors.Is(err, zkbench.ErrOutcomeUnknown)
	return err
}

// transact decides on the calls and commits. Rejections are recorded in the calls. An error that is
// not zkbench.ErrOutcomeUnknown means that nothing was applied.
//
// Every statement of a READ COMMITTED transaction sees what was committed before it. So the
// look-ups, which the server runs after it has the lock, see everything that earlier writers have
// done.
func (l *Ledger) transact(ctx context.Context, conn *pgx.Conn, calls []*store.Call) error {
	s := newStage(calls)
	x, err := newExchange(ctx, conn, l.sql.applyTexts()...)
	if err != nil {
		return err
	}
	defer x.close()
	if err := x.query(l.sql.begin, nil, nil, nil); err != nil {
		return err
	}
	if err := s.bind(x, &l.sql); err != nil {
		return err
	}
	if x.size > short { // the server must have everything before the lock is requested
		if err := x.await(); err != nil {
			return err
		}
	}
	g, before, err := l.decide(ctx, x, calls)
	if err != nil || g.Empty() {
		return err
	}
	if err := s.write(x, &l.sql, g, before); err != nil {
		return err
	}
	if err := x.await(); err != nil {
		return err
	}
	if err := commit(ctx, conn); err != nil {
		return err
	}
	l.seen = g.Edge()
	return nil
}

// decide takes the lock and decides on the calls. It returns the group, and the sequence number
// of the last record before it.
func (l *Ledger) decide(ctx context.Context, x *exchange, calls []*store.Call) (g *store.Group, before uint64, err error) {
	var h headRow
	var mark string
	missing := true
	err = x.query(l.sql.lock, nil, append(h.columns(), nil, &mark), func() error {
		missing = false
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	f, err := keysOf(calls...).query(x, &l.sql)
	if err != nil {
		return nil, 0, err
	}
	var peak []byte // of the record that the log ended with when this process saw it last
	if err := x.query(l.sql.peak, []any{int64(l.seen.Last())}, []any{&peak}, func() error { return nil }); err != nil {
		return nil, 0, err
	}
	stop := l.watch(ctx, x.conn)
	err = x.await()
	if kept := stop(); err != nil && kept != nil {
		err = fmt.Errorf("%w: %w", l.failure(ctx, err), kept)
	}
	if err != nil {
		return nil, 0, err
	}
	if missing {
		return nil, 0, headFound(pgx.ErrNoRows)
	}
	if mark != sessionOf(x.conn).mark { // settle's settings may not be in force
		return nil, 0, errPooler
	}
	edge, err := h.edge()
	if err != nil {
		return nil, 0, err
	}
	if err := l.checkSeen(edge, peak); err != nil {
		return nil, 0, err
	}
	l.seen = edge
	g = store.NewGroup(f, l.genesis, edge)
	for _, c := range calls {
		if err := g.Decide(c); err != nil {
			return nil, 0, err
		}
	}
	return g, edge.Last(), nil
}

// checkSeen returns a *ledger.RolledBackError unless the log with the given edge begins with the log that this process
// has seen. peak is the ledger.Edge.Peak that the log now has at the end of the one seen; nil if that record is missing.
func (l *Ledger) checkSeen(edge ledger.Edge, peak []byte) error {
	want := l.seen.Peak()
	has := l.seen.Last() == 0 || bytes.Equal(peak, want[:])
	switch {
	case edge == l.seen && !has:
		return ledger.Corruptf(fmt.Sprintf("request %d", edge.Last()), "missing from the log, or changed")
	case edge == l.seen, has && edge.Last() > l.seen.Last():
		return nil
	}
	return &ledger.RolledBackError{Seen: l.seen.Tree(), Now: edge.Tree()}
}

// commit commits the transaction. Once the request may have been sent, only the server can say what
// became of the transaction. An error of severity ERROR says that it was rolled back. A session
// that ends may have ended after the commit. (pgconn.SafeToRetry says nothing here: it is also true
// of a connection that ended in place of an answer.)
func commit(ctx context.Context, conn *pgx.Conn) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if conn.IsClosed() {
		return fmt.Errorf("%w: database: connection lost before the commit", zkbench.ErrEnv)
	}
	tag, err := conn.Exec(ctx, "COMMIT")
	var server *pgconn.PgError
	switch {
	case err == nil && tag.String() == "COMMIT":
		return nil
	case err == nil:
		return fmt.Errorf("%w: database answered %s to COMMIT", zkbench.ErrEnv, tag)
	case errors.As(err, &server) && server.SeverityUnlocalized == "ERROR":
		return err
	}
	return fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
}
