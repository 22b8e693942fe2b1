package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// SQLSTATEs, of appendix A of PostgreSQL's manual.
const (
	duplicateSchema  = "42P06"
	uniqueViolation  = "23505"
	undefinedTable   = "42P01"
	undefinedColumn  = "42703"
	undefinedSchema  = "3F000"
	dataCorrupted    = "XX001"
	indexCorrupted   = "XX002"
	lockNotAvailable = "55P03"

	noStatement        = "26000"
	duplicateStatement = "42P05"
	protocolViolation  = "08P01"

	integrityClass = "23"
)

// withConn calls work with a connection and a context, which ends with ctx or when the ledger is
// closed. The connection goes back to the pool without a transaction.
func (l *Ledger) withConn(ctx context.Context, work func(ctx context.Context, conn *pgx.Conn) error) error {
	if err := l.stopped(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.closing, func() { cancel(ledger.ErrClosed) })()
	conn, err := l.pool.Acquire(ctx)
	if err != nil {
		return l.failure(ctx, err)
	}
	defer l.release(ctx, conn)
	err = l.failure(ctx, work(ctx, conn.Conn()))
	if errors.Is(err, errPooler) {
		closeNow(conn.Conn())
	}
	return err
}

// release returns a connection to the pool, and rolls back a transaction that its user left open.
func (l *Ledger) release(ctx context.Context, conn *pgxpool.Conn) {
	defer conn.Release()
	if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		// If it fails, the pool drops the connection and the server drops the transaction.
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	if conn.Conn().IsClosed() && ctx.Err() == nil {
		l.pool.Reset() // the others may have died with the same server
		l.keeps.Store(false)
	}
}

// failure converts an error to one that callers of the ledger can distinguish.
func (l *Ledger) failure(ctx context.Context, err error) error {
	var server *pgconn.PgError
	switch {
	case err == nil, errors.Is(err, zkbench.ErrOutcomeUnknown), errors.Is(err, zkbench.ErrMalformed), errors.Is(err, zkbench.ErrEnv):
		return err
	case errors.As(err, &server):
		return typedServerError(server)
	case errors.Is(context.Cause(ctx), ledger.ErrClosed):
		return ledger.ErrClosed
	case ctx.Err() != nil:
		return fmt.Errorf("ledger: %w", context.Cause(ctx))
	}
	if stopped := l.stopped(); stopped != nil { // the pool was closed meanwhile
		return stopped
	}
	// The error is not wrapped: a missing socket must not look like a missing ledger (fs.ErrNotExist).
	return fmt.Errorf("%w: database: %s", zkbench.ErrEnv, oneLine(err))
}

// oneLine returns the text of an error on one line. An error about several hosts has several lines.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// typedServerError converts an error of the server to the error of the ledger that it means.
func typedServerError(err *pgconn.PgError) error {
	switch {
	case lostSession(err):
		return fmt.Errorf("%w: %w", errPooler, err)
	case err.Code == lockNotAvailable:
		return fmt.Errorf("%w: %w", ledger.ErrLocked, err)
	case err.Code == undefinedTable, err.Code == undefinedColumn, err.Code == undefinedSchema,
		err.Code == dataCorrupted, err.Code == indexCorrupted, strings.HasPrefix(err.Code, integrityClass):
		return ledger.Corruptf("database", "%v", err)
	}
	return fmt.Errorf("%w: database: %w", zkbench.ErrEnv, err)
}
