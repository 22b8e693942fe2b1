package postgres

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
)

// settle sets up a session. It refuses a server that may lose what it has committed. It makes
// look-ups use indexes whatever the statistics say, because tables grow from nothing under plans
// that are kept. It sets timeouts so that a process or link that falls silent within a transaction
// does not block the others. Over a Unix socket the server ignores the TCP settings.
//
// A pooler that does not keep the session for the connection is refused first, and its sessions stay
// as they are. For the same reason nothing is prepared here.
func (l *Ledger) settle(ctx context.Context, conn *pgx.Conn) error {
	s := session{mark: rand.Text()}
	if err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeExec).Scan(&s.pid); err != nil {
		return err
	}
	conn.PgConn().CustomData()[sessionKey] = s
	if pooled(conn) && !l.keeps.Load() {
		if err := checkPooler(ctx, conn, l.silence); err != nil {
			return err
		}
		l.keeps.Store(true)
	}
	probe := keepAlive(l.silence)
	milliseconds := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	seconds := func(d time.Duration) string { return strconv.Itoa(int(d.Seconds())) }
	names, values := []string{}, []string{}
	for _, pair := range [][2]string{
		{"enable_seqscan", "off"},
		{"enable_hashjoin", "off"},
		{"enable_mergejoin", "off"},
		{"jit", "off"},
		{"idle_in_transaction_session_timeout", milliseconds(l.silence)},
		{"tcp_keepalives_idle", seconds(probe.Idle)},
		{"tcp_keepalives_interval", seconds(probe.Interval)},
		{"tcp_keepalives_count", strconv.Itoa(probe.Count)},
		{"tcp_user_timeout", milliseconds(l.silence)},
		{markSetting, s.mark},
	} {
		names, values = append(names, pair[0]), append(values, pair[1])
	}
	var fsync, fullPages string
	err := conn.QueryRow(ctx, `SELECT current_setting('fsync'), current_setting('full_page_writes'),
		(SELECT count(set_config(name, value, false)) FROM unnest($1::text[], $2::text[]) AS q(name, value)),
		CASE WHEN current_setting('server_version_num')::integer >= 170000 THEN set_config('transaction_timeout', $3, false) END`,
		pgx.QueryExecModeExec, names, values, milliseconds(TransactionTime)).Scan(&fsync, &fullPages, nil, nil)
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"fsync": fsync, "full_page_writes": fullPages} {
		if value != "on" {
			return fmt.Errorf("%w: database server has %s = %s, want on", zkbench.ErrEnv, name, value)
		}
	}
	return nil
}

// keepAlive returns a configuration that detects within the given time that the other end is gone.
func keepAlive(within time.Duration) net.KeepAliveConfig {
	probe := max(within/3, time.Second)
	return net.KeepAliveConfig{Enable: true, Idle: probe, Interval: probe, Count: 2}
}

// blockers selects the sessions that block session $1 from getting a lock, and the sessions that
// block those, except sessions that are executing a statement. mark changes with every statement of
// a session. hidden says that this role may not see what the session does.
const blockers = `WITH RECURSIVE b(pid) AS (
		SELECT unnest(pg_blocking_pids($1)) UNION SELECT unnest(pg_blocking_pids(pid)) FROM b)
	SELECT pid, coalesce(usename::text, ''), concat(backend_start, state_change), state IS NULL
	FROM b JOIN pg_stat_activity a USING (pid) WHERE wait_event_type = 'Client' OR state IS NULL`

// end terminates a session if it is still as blockers showed it.
const end = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
	WHERE pid = $1 AND wait_event_type = 'Client' AND concat(backend_start, state_change) = $2`

// blocker is a row of blockers.
type blocker struct {
	pid        uint32
	role, mark string
	hidden     bool
}

// watch ends silent sessions that block conn from getting a lock. The server itself ends sessions
// that it expects a statement from, and sessions whose host is gone. It does not end a session
// whose process has stopped within a statement or reads no answer.
//
// stop ends the watch. It returns an error if a silent session could not be ended.
func (l *Ledger) watch(ctx context.Context, conn *pgx.Conn) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	pid := sessionOf(conn).pid
	kept := make(chan error, 1)
	late := time.AfterFunc(l.silence/2, func() { kept <- l.endSilent(ctx, pid) })
	return func() error {
		cancel()
		if late.Stop() {
			return nil
		}
		return <-kept
	}
}

// endSilent does the work of watch. It opens its own connection, because all connections of the
// pool may be waiting.
func (l *Ledger) endSilent(ctx context.Context, pid uint32) (kept error) {
	conn, err := pgx.ConnectConfig(ctx, l.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("cannot tell which session holds the ledger's lock: %s", oneLine(err))
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(l.silence / 10)
	defer tick.Stop()
	for since := map[blocker]time.Time{}; ; {
		rows, err := conn.Query(ctx, blockers, pid)
		if err != nil {
			return kept
		}
		seen := map[blocker]time.Time{}
		var b blocker
		if _, err := pgx.ForEachRow(rows, []any{&b.pid, &b.role, &b.mark, &b.hidden}, func() error {
			seen[b] = time.Now()
			return nil
		}); err != nil {
			return kept
		}
		kept = nil
		for b := range seen {
			if t, before := since[b]; before {
				seen[b] = t
			}
			if time.Since(seen[b]) >= l.silence {
				kept = b.end(ctx, conn)
			}
		}
		since = seen
		select {
		case <-tick.C:
		case <-ctx.Done():
			return kept
		}
	}
}

// end ends the session, or returns why it cannot.
func (b *blocker) end(ctx context.Context, conn *pgx.Conn) error {
	held := fmt.Sprintf("session %d of role %q holds the ledger's lock", b.pid, b.role)
	if b.hidden {
		return fmt.Errorf("%s, and role %q may not see whether it is active", held, conn.Config().User)
	}
	if _, err := conn.Exec(ctx, end, b.pid, b.mark); err != nil {
		return fmt.Errorf("%s, is silent, and cannot be ended: %s", held, oneLine(err))
	}
	return nil
}
