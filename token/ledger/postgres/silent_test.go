package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// brief is how long most tests wait for a silent session.
const brief = time.Second

// silentFor sets how long a ledger waits for a silent session.
func silentFor(d time.Duration) Option { return Option{func(o *options) { o.silence = d }} }

func openFor(t *testing.T, d time.Duration, url, schema string) *Ledger {
	t.Helper()
	l := must.Get(Open(context.Background(), url, Schema(schema), silentFor(d)))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// goesOn fails the test unless a ledger applies a request within twice the silence (30 s outside tests).
func goesOn(t *testing.T, l *Ledger, anchor string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), max(2*l.silence, 10*time.Second)) // or a busy machine's time
	defer cancel()
	begin := time.Now()
	must.Do(t, l.Apply(ctx, []ledger.Entry{ledgertest.Issue(anchor, 1)}))
	t.Logf("goes on after %v", time.Since(begin).Round(time.Millisecond))
}

// TestCutLink: a link that passes nothing on any more, wherever behind the lock, keeps
// neither others from the ledger nor who has had it.
func TestCutLink(t *testing.T) {
	cutLinks(t, server.Socket(t), server.URL(t), testsize.Pick(brief, brief, silence)) // the real one takes 25 s each
}

// cutLinks does the work of TestCutLink with links to a socket, and with ledgers at a url.
func cutLinks(t *testing.T, socket, url string, patience time.Duration) {
	for after := 0; after < 18; after += testsize.Pick(3, 3, 1) {
		t.Run(fmt.Sprint("messages=", after), func(t *testing.T) {
			t.Parallel()
			_, schema := newLedger(t)
			p := newProxy(t)
			p.socket = socket
			defer close(p.letGo)
			l := openFor(t, patience, p.url(), schema)
			ledgertest.Apply(t, l, ledgertest.Issue("a", 2)) // statements are prepared
			p.after = after
			p.next.Store(int32(fallSilent))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				<-p.struck
				cancel()
			}()
			must.Fail(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("b", []byte("a/1"))}), context.Canceled, "over a cut link")
			if after%2 == 0 {
				l = openFor(t, patience, url, schema)
			}
			goesOn(t, l, "c")
			ledgertest.Verify(t, l)
		})
	}
}

// hold takes the lock and leaves the session within a pipeline, without a Sync.
func hold(t *testing.T, conn *pgx.Conn, more string) {
	t.Helper()
	execute(t, conn, "BEGIN; SELECT FROM head FOR UPDATE")
	p := conn.PgConn().StartPipeline(context.Background())
	t.Cleanup(func() { _ = p.Close() })
	p.SendQueryParams(more, nil, nil, nil, nil)
	p.SendFlushRequest()
	must.Do(t, p.Flush())
}

// TestSilentHolder: a session that takes the lock and wants or reads nothing more is ended by who
// waits, also where the server does not.
func TestSilentHolder(t *testing.T) { silentHolder(t, server.URL(t)) }

func silentHolder(t *testing.T, url string) {
	for name, more := range map[string]string{
		"sends nothing": "SELECT 1",
		"reads nothing": "SELECT repeat('x', 1000) FROM generate_series(1, 100000)",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, schema := newLedger(t)
			l := openFor(t, brief, url, schema)
			hold(t, connectTo(t, url, schema), more)
			goesOn(t, l, "a")
		})
	}
}

// TestHolderKept: who may not end the silent session that has the lock says which it is.
func TestHolderKept(t *testing.T) {
	_, schema := newLedger(t)
	conn := connect(t, schema)
	role, in := fmt.Sprintf("role_%x", rand.Uint64()), pgx.Identifier{schema}.Sanitize()
	execute(t, conn, "CREATE ROLE "+role+" LOGIN; GRANT USAGE ON SCHEMA "+in+" TO "+role+
		"; GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA "+in+" TO "+role)
	l := openFor(t, brief, strings.Replace(server.URL(t), "//zkbench@", "//"+role+"@", 1), schema)
	l.limit = 3 * brief
	hold(t, conn, "SELECT 1")
	for _, c := range []struct{ grant, want string }{
		{"pg_monitor", "is silent, and cannot be ended"},
		{"", "may not see whether it is active"},
	} {
		if c.grant != "" {
			execute(t, connect(t, schema), "GRANT "+c.grant+" TO "+role)
		}
		err := l.Apply(context.Background(), []ledger.Entry{ledgertest.Issue("a", 1)})
		must.Fail(t, err, zkbench.ErrEnv, "behind a session of another role")
		if !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), fmt.Sprint(conn.PgConn().PID())) {
			t.Errorf("%v, want %q", err, c.want)
		}
		if c.grant != "" {
			execute(t, connect(t, schema), "REVOKE "+c.grant+" FROM "+role)
		}
	}
}

// TestWorkingHolder: a session that has the lock and works, or says something again and
// again, is waited for.
func TestWorkingHolder(t *testing.T) {
	for name, works := range map[string]bool{"works": true, "thinks": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, schema := newLedger(t)
			l := openFor(t, brief, server.URL(t), schema)
			conn := connect(t, schema)
			execute(t, conn, "BEGIN; SELECT FROM head FOR UPDATE")
			applied := make(chan error, 1)
			go func() { applied <- l.Apply(context.Background(), []ledger.Entry{ledgertest.Issue("a", 1)}) }()
			if works {
				execute(t, conn, "SELECT pg_sleep($1)", (4 * brief).Seconds())
			}
			for range 8 {
				if !works {
					time.Sleep(brief / 2)
				}
				execute(t, conn, "SELECT 1")
			}
			select {
			case err := <-applied:
				t.Errorf("applied before the lock was free: %v", err)
			default:
			}
			execute(t, conn, "COMMIT")
			must.Do(t, <-applied)
		})
	}
}
