package postgres

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// fault is what a proxy does to a connection, once.
type fault int32

const (
	none       fault = iota
	cutWrites        // ends it at the first INSERT, which does not reach the server
	dropCommit       // ends it at COMMIT, which does not reach the server
	loseAnswer       // ends it when the server has answered COMMIT
	hangAnswer       // keeps it, and the answer to COMMIT to itself
	lateCommit       // ends the client's side at COMMIT, which reaches the server when it is let go
)

// proxy passes connections on to the server, until it is told otherwise.
type proxy struct {
	listener net.Listener
	socket   string
	next     atomic.Int32
	struck   chan struct{} // the fault has happened
	letGo    chan struct{} // the late COMMIT may go on
}

func newProxy(t *testing.T) *proxy {
	t.Helper()
	p := &proxy{socket: server.Socket(t), struck: make(chan struct{}, 1), letGo: make(chan struct{})}
	var err error
	if p.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.listener.Close() })
	go func() {
		for {
			client, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.pass(client)
		}
	}()
	return p
}

func (p *proxy) url() string {
	return "postgres://zkbench@" + p.listener.Addr().String() + "/postgres?sslmode=disable"
}

// pass serves one connection.
func (p *proxy) pass(client net.Conn) {
	defer client.Close()
	to, err := net.Dial("unix", p.socket)
	if err != nil {
		return
	}
	defer to.Close()
	var gag atomic.Bool // keeps what the server says from the client
	committed := make(chan struct{})
	go func() {
		defer client.Close()
		buf := make([]byte, 64<<10)
		for {
			n, err := to.Read(buf)
			if err != nil {
				return
			}
			if gag.Load() {
				if bytes.Contains(buf[:n], []byte("COMMIT\x00")) { // one short message in one read
					close(committed)
				}
				continue
			}
			if _, err := client.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	for first := true; ; first = false {
		message, err := readMessage(client, first)
		if err != nil {
			return
		}
		f := fault(p.next.Load())
		commit := message[0] == 'Q' && bytes.Contains(message, []byte("COMMIT"))
		switch {
		case f == cutWrites && message[0] == 'P' && bytes.Contains(message, []byte("INSERT")), f == dropCommit && commit:
			p.next.Store(int32(none))
			p.struck <- struct{}{}
			return
		case (f == loseAnswer || f == hangAnswer || f == lateCommit) && commit:
			p.next.Store(int32(none))
			gag.Store(true)
			if f == lateCommit {
				_ = client.Close()
				<-p.letGo
			}
			if _, err := to.Write(message); err != nil {
				return
			}
			<-committed
			p.struck <- struct{}{}
			if f != hangAnswer {
				return
			}
		default:
			if _, err := to.Write(message); err != nil {
				return
			}
		}
	}
}

// readMessage reads one message of PostgreSQL's protocol; the first of a
// connection has no type.
func readMessage(r io.Reader, first bool) ([]byte, error) {
	head := make([]byte, 5)
	if first {
		head = head[:4]
	}
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	message := append(head, make([]byte, length-4)...)
	_, err := io.ReadFull(r, message[len(head):])
	return message, err
}

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
			if errors.Is(err, zkbench.ErrOutcomeUnknown) != c.unknown || errors.Is(err, zkbench.ErrEnv) == c.unknown {
				t.Errorf("%v", err)
			}
			digest, found, err := l.Digest(context.Background(), batch[1].Anchor)
			if err != nil || found != c.applied || (found && digest != batch[1].Digest) {
				t.Errorf("asked by anchor: %x, %v, %v", digest, found, err)
			}
			apply(t, l, batch...)
			n := 0
			for _, err := range l.Log(context.Background(), 0) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != len(batch) {
				t.Errorf("%d requests, want %d", n, len(batch))
			}
			verify(t, l)
		})
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
		_, found, err := l.Digest(ctx, batch[0].Anchor)
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
	apply(t, l, batch...)
	if l.unsettled.Load() {
		t.Error("still unsettled")
	}
	verify(t, l)
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
			if errors.Is(err, zkbench.ErrOutcomeUnknown) != c.unknown || errors.Is(err, zkbench.ErrEnv) == c.unknown {
				t.Errorf("%v", err)
			}
			execute(t, conn, "DROP TRIGGER fail ON log")
			if _, found, err := l.Digest(context.Background(), []byte("a")); found || err != nil {
				t.Errorf("%v, %v", found, err)
			}
			apply(t, l, ledgertest.Issue("a", 1))
			verify(t, l)
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
	apply(t, l, ledgertest.Issue("a", 1))
	verify(t, l)
}

// noted is a context that says when it is waited for.
type noted struct {
	context.Context
	waited func()
}

func (n noted) Done() <-chan struct{} {
	n.waited()
	return n.Context.Done()
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
	leaves, stays := make(chan error, 1), make(chan error, 1)
	l.queue.Exclusive(func() { // so that they share a transaction
		start := func(ctx context.Context, anchor string, result chan error) {
			waits := make(chan struct{})
			ctx = noted{ctx, sync.OnceFunc(func() { close(waits) })}
			go func() { result <- l.Apply(ctx, []ledger.Entry{ledgertest.Issue(anchor, 1)}) }()
			<-waits
		}
		start(ctx, "leaves", leaves)
		start(context.Background(), "stays", stays)
	})
	<-p.struck
	cancel()
	if err := <-leaves; !errors.Is(err, zkbench.ErrOutcomeUnknown) || !errors.Is(err, context.Canceled) {
		t.Errorf("who has gone: %v", err)
	}
	// Who has gone asks, and is told when the transaction has ended.
	if _, found, err := l.Digest(context.Background(), []byte("leaves")); !found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	if err := <-stays; !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("who has stayed: %v", err)
	}
	apply(t, l, ledgertest.Issue("stays", 1))
	verify(t, l)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
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
	if !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	execute(t, other, "ROLLBACK")
	if _, found, err := l.Digest(ctx, []byte("a")); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
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
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-reads; !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestPanic: what panics within a transaction takes neither the lock nor a connection
// with it, and leaves the outcome open.
func TestPanic(t *testing.T) {
	l, _ := newLedger(t)
	ctx := context.Background()
	for name, work := range map[string]func() error{
		"transaction": func() error {
			return l.with(ctx, func(ctx context.Context, conn *pgx.Conn) error {
				if _, err := conn.Exec(ctx, "BEGIN; "+l.sql.lock); err != nil {
					return err
				}
				panic("as asked")
			})
		},
		"commit": func() error { return l.apply(ctx, []*ledger.Call{nil}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			t.Errorf("%s: %v", name, work())
		}()
		if n := l.pool.Stat().AcquiredConns(); n != 0 {
			t.Errorf("%s: %d connections are out", name, n)
		}
		if unsettled := l.unsettled.Load(); unsettled != (name == "commit") {
			t.Errorf("%s: unsettled %v", name, unsettled)
		}
		apply(t, l, ledgertest.Issue("a", 1))
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
