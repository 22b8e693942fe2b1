package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// TestLostConnection: before COMMIT is sent a lost connection means that nothing
// was applied; after it the outcome is unknown until the ledger is asked, and
// applying again applies once.
func TestLostConnection(t *testing.T) {
	for name, c := range map[string]struct {
		fault            fault
		unknown, applied bool
	}{
		"writes cut":     {cutWrites, false, false},
		"commit dropped": {dropCommit, true, false},
		"answer lost":    {loseAnswer, true, true},
		"answer hangs":   {hangAnswer, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, schema := newLedger(t)
			p := newProxy(t)
			l := open(t, p.url(), schema)
			p.next.Store(int32(c.fault))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			go func() {
				<-p.struck
				if c.fault == hangAnswer {
					cancel()
				}
			}()
			batch := []ledger.Entry{ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1"))}
			err := l.Apply(ctx, batch)
			notApplied(t, err, c.unknown)
			r, found, err := l.Record(context.Background(), batch[1].Anchor)
			if err != nil || found != c.applied || (found && r.Digest != batch[1].Digest) {
				t.Errorf("asked by anchor: %x, %v, %v", r.Digest, found, err)
			}
			ledgertest.Apply(t, l, batch...)
			golden.Equal(t, "requests", len(batch), len(ledgertest.Records(t, l, 0)))
			ledgertest.Verify(t, l)
		})
	}
}

// asked looks up whether a ledger has an anchor, and fails the test if the answer is not want.
func asked(t *testing.T, l *Ledger, anchor string, want bool) {
	t.Helper()
	if _, found, err := l.Record(context.Background(), []byte(anchor)); found != want || err != nil {
		t.Errorf("anchor %s: found %v, want %v, error %v", anchor, found, want, err)
	}
}

// notApplied fails the test unless err is the error of a batch that was not applied, or, if unknown is
// true, of one whose outcome is unknown.
func notApplied(t *testing.T, err error, unknown bool) {
	t.Helper()
	if errors.Is(err, zkbench.ErrOutcomeUnknown) != unknown || errors.Is(err, zkbench.ErrEnv) == unknown {
		t.Errorf("%v, want the outcome unknown: %v", err, unknown)
	}
}

// TestLateCommit: while the server has yet to come to a lost COMMIT, who asks by
// anchor is not told that there is nothing.
func TestLateCommit(t *testing.T) {
	_, schema := newLedger(t)
	p := newProxy(t)
	l := open(t, p.url(), schema)
	p.next.Store(int32(lateCommit))
	ctx := context.Background()
	batch := []ledger.Entry{ledgertest.Issue("a", 1)}
	if err := l.Apply(ctx, batch); !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Fatalf("%v", err)
	}
	result := make(chan bool)
	go func() {
		_, found, err := l.Record(ctx, batch[0].Anchor)
		if err != nil {
			t.Error(err)
		}
		result <- found
	}()
	awaitWaiter(t, schema)
	close(p.letGo)
	if !<-result {
		t.Error("not found, and applied")
	}
	ledgertest.Apply(t, l, batch...)
	if l.unsettled.Load() {
		t.Error("still unsettled")
	}
	ledgertest.Verify(t, l)
}

// TestCommitFails: an ERROR as the answer to COMMIT says that nothing was
// applied; a session that is ended in it says nothing.
func TestCommitFails(t *testing.T) {
	for name, c := range map[string]struct {
		body    string
		unknown bool
	}{
		"error": {"RAISE EXCEPTION 'not today'", false},
		"ended": {"PERFORM pg_terminate_backend(pg_backend_pid())", true},
	} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			conn := connect(t, schema)
			execute(t, conn, "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+c.body+"; RETURN NULL; END $$")
			execute(t, conn, `CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW EXECUTE FUNCTION fail()`)
			err := l.Apply(context.Background(), []ledger.Entry{ledgertest.Issue("a", 1)})
			notApplied(t, err, c.unknown)
			execute(t, conn, "DROP TRIGGER fail ON log")
			asked(t, l, "a", false)
			ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
			ledgertest.Verify(t, l)
		})
	}
}

// TestRestart: a server that has been away costs a ledger at most one call.
func TestRestart(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Concurrent(t, l) // several connections
	server.Restart(t)
	ctx := context.Background()
	if err := l.Apply(ctx, []ledger.Entry{ledgertest.Issue("a", 1)}); err != nil && (!errors.Is(err, zkbench.ErrEnv) || errors.Is(err, zkbench.ErrOutcomeUnknown)) {
		t.Errorf("%v", err)
	}
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	ledgertest.Verify(t, l)
}

// noted is a context that reports when something waits for it.
type noted struct {
	context.Context
	waited func()
}

func (n noted) Done() <-chan struct{} {
	n.waited()
	return n.Context.Done()
}

// applyTwo has two calls of Apply share a transaction.
func applyTwo(l *Ledger, first, second context.Context) (of [2]chan error) {
	l.queue.Exclusive(func() {
		for i, ctx := range []context.Context{first, second} {
			of[i] = make(chan error, 1)
			waits := make(chan struct{})
			ctx = noted{ctx, sync.OnceFunc(func() { close(waits) })}
			go func() { of[i] <- l.Apply(ctx, []ledger.Entry{ledgertest.Issue(fmt.Sprint(i), 1)}) }()
			<-waits
		}
	})
	return of
}

// TestHang: while the server keeps the answer to COMMIT to itself, who has a context
// that ends is told at once that the outcome is unknown; who has none, when the
// transaction has taken its time. Then the ledger goes on, and can be closed.
func TestHang(t *testing.T) {
	_, schema := newLedger(t)
	p := newProxy(t)
	l := open(t, p.url(), schema)
	l.limit = 2 * time.Second
	p.next.Store(int32(hangAnswer))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	of := applyTwo(l, ctx, context.Background())
	<-p.struck
	cancel()
	if err := <-of[0]; !errors.Is(err, zkbench.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone: %v", err)
	}
	must.Fail(t, <-of[1], zkbench.ErrOutcomeUnknown, "who has stayed")
	for _, anchor := range []string{"0", "1"} {
		asked(t, l, anchor, true)
	}
	ledgertest.Apply(t, l, ledgertest.Issue("1", 1))
	ledgertest.Verify(t, l)
	must.Do(t, l.Close())
}

// TestLeft: who has left a transaction that the server has not seen yet is not told
// that there is nothing.
func TestLeft(t *testing.T) {
	_, schema := newLedger(t)
	p := newProxy(t)
	l := open(t, p.url(), schema)
	p.next.Store(int32(lateBegin))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	of := applyTwo(l, ctx, context.Background())
	<-p.struck
	cancel()
	must.Fail(t, <-of[0], zkbench.ErrOutcomeUnknown, "who has gone")
	brief, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := l.Record(brief, []byte("0")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("asked before the end of the transaction: %v", err)
	}
	close(p.letGo)
	must.Do(t, <-of[1], "who has stayed")
	asked(t, l, "0", true)
}

// TestTransactionTime: a transaction that waits too long for another process applies
// nothing.
func TestTransactionTime(t *testing.T) {
	l, schema := newLedger(t)
	other := connect(t, schema)
	execute(t, other, "BEGIN; SELECT FROM head FOR UPDATE")
	l.limit = time.Millisecond
	ctx := context.Background()
	err := l.Apply(ctx, []ledger.Entry{ledgertest.Issue("a", 1)})
	notApplied(t, err, false)
	execute(t, other, "ROLLBACK")
	asked(t, l, "a", false)
}

// TestCloseCallsBack: Close does not wait for ever for who waits for the server.
func TestCloseCallsBack(t *testing.T) {
	l, schema := newLedger(t)
	other := connect(t, schema)
	execute(t, other, "BEGIN; LOCK TABLE tokens IN ACCESS EXCLUSIVE MODE")
	reads := make(chan error, 1)
	go func() {
		_, err := l.Token(context.Background(), token.ID("a/0"))
		reads <- err
	}()
	awaitWaiter(t, schema)
	l.limit = time.Millisecond
	must.Do(t, l.Close())
	must.Fail(t, <-reads, fs.ErrClosed, "who waited")
}

// TestPanic: what panics within a transaction takes neither the lock nor a connection
// with it, and leaves the outcome open.
func TestPanic(t *testing.T) {
	l, _ := newLedger(t)
	ctx := context.Background()
	for name, work := range map[string]func() error{
		"transaction": func() error {
			return l.withConn(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				if _, err := conn.Exec(ctx, "BEGIN; "+l.sql.lock); err != nil {
					return err
				}
				panic("as asked")
			})
		},
		"commit": func() error { return l.apply(ctx, []*store.Call{nil}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			t.Errorf("%s: %v", name, work())
		}()
		golden.Equal(t, name+": connections that are out", 0, l.pool.Stat().AcquiredConns())
		golden.Equal(t, name+": unsettled", name == "commit", l.unsettled.Load())
		ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	}
}

// TestPassword: no error has the url's password in it.
func TestPassword(t *testing.T) {
	const secret = "hunter2"
	for _, url := range []string{
		"postgres://user:" + secret + "@127.0.0.1:1/database",
		"postgres://user:" + secret + "@127.0.0.1:x/database",
		"postgres://user:" + secret + "@[/database",
		"postgres://user:" + secret + "%zz@host/database",
		"postgres://user@host/database?sslmode=what&password=" + secret,
		"postgres://127.0.0.1:1/database?password=" + secret,
		"host=127.0.0.1 port=1 password=" + secret,
		"host=127.0.0.1 port=x password = '" + secret + "'",
		"host=127.0.0.1 " + secret,
		"POSTGRES://user:" + secret + "@127.0.0.1:1/database",
		"postgres://user:12/" + secret + "@127.0.0.1:1/database",
		"postgres://user:1?" + secret + "@127.0.0.1:1/database",
		"postgres://user:pass#" + secret + "@127.0.0.1:1/database",
		"postgres://user:pass@" + secret + "@127.0.0.1:1/database",
		"postgre://user:" + secret + "@127.0.0.1:1/database?connect_timeout=1",
	} {
		_, err := Open(context.Background(), url)
		if !errors.Is(err, zkbench.ErrParams) && !errors.Is(err, zkbench.ErrEnv) {
			t.Errorf("%s: %v", url, err)
		}
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", url, err)
		}
	}
}
