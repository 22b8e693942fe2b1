package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/zkbench/zkbench"
)

// errPooler says that a connection does not keep its session at the server.
var errPooler = fmt.Errorf("%w: database: a connection pooler moves connections between sessions of the server; "+
	"accepted is a pooler in session mode that resets sessions (PgBouncer: pool_mode = session, server_reset_query = DISCARD ALL)", zkbench.ErrEnv)

// session is what the ledger knows of a connection's session at the server.
type session struct {
	pid  uint32 // of the server's process; a pooler tells the driver another one
	mark string // the session's setting named markSetting, by which transact recognizes it
}

const (
	sessionKey  = "zkbench" // in the connection's custom data
	markSetting = "zkbench.session"
)

// sessionOf returns the session that settle has noted for a connection of the pool.
func sessionOf(conn *pgx.Conn) session {
	s, _ := conn.PgConn().CustomData()[sessionKey].(session)
	return s
}

// pooled reports whether a pooler is between a connection and the server.
func pooled(conn *pgx.Conn) bool { return sessionOf(conn).pid != conn.PgConn().PID() }

// noticeTime is the first time that checkPooler waits for a notification. Each later time is twice as long.
const noticeTime = 200 * time.Millisecond

// checkPooler returns errPooler if a pooler uses the connection's session for others while the connection is idle.
//
// The session listens on a channel, and another connection notifies it. While the connection sends nothing, only a
// pooler that keeps the session for the connection passes the notification on. The server itself sends it before it
// has answered the session's next statement. So a pooler of another kind does not pass by luck, and a slow server is
// not taken for one.
func checkPooler(ctx context.Context, conn *pgx.Conn, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	config := conn.Config()
	config.OnNotification = nil // or conn would get what the other connection gets
	other, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("%w: database: no second connection through the pooler within %v: %s", zkbench.ErrEnv, limit, oneLine(err))
	}
	defer other.Close(context.WithoutCancel(ctx))
	channel := "zkbench_" + strings.ToLower(rand.Text())
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return err
	}
	for wait := noticeTime; ; wait *= 2 {
		if _, err := other.Exec(ctx, "NOTIFY "+channel); err != nil {
			return err
		}
		if notified(ctx, other, 0) { // it has the session that listens
			return errPooler
		}
		if notified(ctx, conn, wait) {
			_, err := conn.Exec(ctx, "UNLISTEN "+channel)
			return err
		}
		if _, err := conn.Exec(ctx, "SELECT"); err != nil {
			return err
		}
		if !notified(ctx, conn, 0) {
			return errPooler
		}
	}
}

// notified reports whether a notification for the connection arrives, or has arrived before.
func notified(ctx context.Context, conn *pgx.Conn, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	n, _ := conn.WaitForNotification(ctx)
	return n != nil
}

// lostSession reports whether an error of the server, or of a pooler before it, shows that a connection has lost its session.
func lostSession(err *pgconn.PgError) bool {
	switch err.Code {
	case noStatement, duplicateStatement:
		return true
	case protocolViolation:
		return strings.Contains(err.Message, "statement pooling mode") // PgBouncer's answer to a transaction
	}
	return false
}
