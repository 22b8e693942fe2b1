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

	integrityClass = "23"
)

// withConn gives work a connection, which goes back without a transaction, and a context
// that ends with ctx or when the ledger is closed.
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
	return l.failure(ctx, work(ctx, conn.Conn()))
}

// release gives a connection back, whatever its user has left.
func (l *Ledger) release(ctx context.Context, conn *pgxpool.Conn) {
	defer conn.Release()
	if conn.Conn().PgConn().TxStatus() != 'I' && !conn.Conn().IsClosed() {
		// If it fails the pool drops the connection, and the server the transaction.
		_, _ = conn.Exec(ctx, "ROLLBACK")
	}
	if conn.Conn().IsClosed() && ctx.Err() == nil {
		l.pool.Reset() // the others may have died with the same server
	}
}

// failure gives an error its type.
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
	// Not wrapped: a socket that does not exist is not a ledger that does not.
	return fmt.Errorf("%w: database: %s", zkbench.ErrEnv, oneLine(err))
}

// oneLine is the text of an error, of which one about several hosts has several.
func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// ofServer is what an error of the server means for a ledger.
func typedServerError(err *pgconn.PgError) error {
	switch {
	case err.Code == lockNotAvailable:
		return fmt.Errorf("%w: %w", ledger.ErrLocked, err)
	case err.Code == undefinedTable, err.Code == undefinedColumn, err.Code == undefinedSchema,
		err.Code == dataCorrupted, err.Code == indexCorrupted, strings.HasPrefix(err.Code, integrityClass):
		return ledger.Corruptf("database", "%v", err)
	}
	return fmt.Errorf("%w: database: %w", zkbench.ErrEnv, err)
}
