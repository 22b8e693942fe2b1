package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// server is the test binary's, started by the first test that asks for it.
var server pgtest.Server

// TestMain makes fewer random cases than the default, unless told: one has
// thousands of round trips.
func TestMain(m *testing.M) {
	flag.Parse()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		_ = checks.Value.Set("20")
	}
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

func schemaName() string { return fmt.Sprintf("test %x", rand.Uint64()) }

// store is a schema, created when it is first opened.
type schema struct{ url, schema string }

func (s *schema) Open() (ledger.Ledger, error) {
	l, err := Open(context.Background(), s.url, Schema(s.schema))
	if errors.Is(err, fs.ErrNotExist) {
		return Create(context.Background(), s.url, Schema(s.schema))
	}
	return l, err
}

func (s *schema) Verify(ctx context.Context, l ledger.Ledger) error {
	return l.(*Ledger).Verify(ctx, nil)
}

func TestModel(t *testing.T) {
	url := server.URL(t)
	ledgertest.Model(t, func(*rapid.T) ledgertest.Store { return &schema{url, schemaName()} })
}

// newLedger makes an empty ledger in a schema of its own.
func newLedger(t testing.TB) (l *Ledger, schema string) {
	t.Helper()
	schema = schemaName()
	l = must.Get(Create(context.Background(), server.URL(t), Schema(schema)))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l, schema
}

// open opens a ledger from elsewhere, as another process would.
func open(t testing.TB, url, schema string) *Ledger {
	t.Helper()
	l := must.Get(Open(context.Background(), url, Schema(schema)))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// connect returns a connection that is not a ledger's, for which the schema
// comes first.
func connect(t testing.TB, schema string) *pgx.Conn {
	t.Helper()
	ctx := context.Background()
	conn := must.Get(pgx.Connect(ctx, server.URL(t)))(t)
	t.Cleanup(func() { _ = conn.Close(ctx) })
	execute(t, conn, "SET search_path = "+pgx.Identifier{schema}.Sanitize())
	return conn
}

func execute(t testing.TB, conn *pgx.Conn, text string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func apply(t testing.TB, l *Ledger, batch ...ledger.Entry) {
	t.Helper()
	must.Do(t, l.Apply(context.Background(), batch))
}

func verify(t testing.TB, l *Ledger) {
	t.Helper()
	must.Do(t, l.Verify(context.Background(), nil))
}

func TestConcurrent(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Concurrent(t, l)
	verify(t, l)
}

func TestSame(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Same(t, l)
	verify(t, l)
}

// TestGroup: calls that wait together are one transaction; one that is rejected
// among them takes nothing else with it.
func TestGroup(t *testing.T) {
	l, schema := newLedger(t)
	apply(t, l, ledgertest.Issue("a", 2))
	var calls []*store.Call
	for _, b := range [][]ledger.Entry{
		{ledgertest.Spend("b", token.ID("a/0"))},
		{ledgertest.Spend("f", token.ID("a/1"), token.ID("b/0"))},
		{ledgertest.Issue("c", 1), ledgertest.Spend("d", token.ID("a/0"))}, // the second is a double spend
		{ledgertest.Spend("e", token.ID("c/0"))},                           // of what was rejected with it
	} {
		c := must.Get(store.NewCall(context.Background(), b, false))(t)
		calls = append(calls, c)
	}
	l.queue.Exclusive(func() {
		must.Do(t, l.apply(context.Background(), calls))
	})
	for i, want := range []error{nil, nil, zkbench.ErrSpent, ledger.ErrNotFound} {
		if err := calls[i].Err(); !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	var transactions int
	err := connect(t, schema).QueryRow(context.Background(), "SELECT count(DISTINCT xmin::text) FROM log WHERE seq > 1").Scan(&transactions)
	if err != nil || transactions != 1 {
		t.Errorf("%d transactions, want 1; %v", transactions, err)
	}
	verify(t, l)
}

// TestLargest: an entry at the limits, and two of them in one batch.
func TestLargest(t *testing.T) {
	l, schema := newLedger(t)
	e := ledgertest.Issue("a", ledger.MaxCreates)
	e.Request = make([]byte, token.MaxRequest)
	apply(t, l, e)
	other := ledgertest.Issue("c", 1)
	other.Request = e.Request
	apply(t, l, ledgertest.Spend("b", token.ID("a/0")), other)
	verify(t, l)
	l = open(t, server.URL(t), schema)
	n := 0
	for r, err := range l.Log(context.Background(), 1) {
		if n++; err != nil || (r.Seq != 2 && len(r.Request) != token.MaxRequest) {
			t.Fatalf("request %d: %d bytes, %v", r.Seq, len(r.Request), err)
		}
	}
	if n != 3 {
		t.Errorf("%d records, want 3", n)
	}
}

// TestCancel: a call whose context ends while it waits, for its own process or
// for another, applies nothing.
func TestCancel(t *testing.T) {
	l, schema := newLedger(t)
	batch := []ledger.Entry{ledgertest.Issue("a", 1)}
	result := make(chan error)
	ctx, cancel := context.WithCancel(context.Background())
	l.queue.Exclusive(func() {
		go func() { result <- l.Apply(ctx, batch) }()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	ledgertest.Canceled(ctx, t, l)

	other := connect(t, schema)
	execute(t, other, "BEGIN")
	execute(t, other, "SELECT FROM head FOR UPDATE")
	ctx, cancel = context.WithCancel(context.Background())
	go func() { result <- l.Apply(ctx, batch) }()
	awaitWaiter(t, schema)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := l.Apply(ctx, batch); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	execute(t, other, "ROLLBACK")
	if _, found, err := l.Digest(context.Background(), []byte("a")); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	apply(t, l, batch...)
	verify(t, l)
}

// awaitWaiter returns when a session waits for a lock on a table of the schema.
func awaitWaiter(t *testing.T, schema string) {
	t.Helper()
	conn := connect(t, schema)
	for n := 0; n == 0; {
		must.Do(t, conn.QueryRow(context.Background(), `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, schema).Scan(&n))
	}
}

func TestClosed(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Closed(t, l)
}

// TestSchemaNames: any name is one name, and none is a statement.
func TestSchemaNames(t *testing.T) {
	ctx := context.Background()
	url := server.URL(t)
	for _, name := range []string{`a"; DROP SCHEMA public; --`, "{s}", "ünï", strings.Repeat("x", maxSchema)} {
		l, err := Create(ctx, url, Schema(name))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		apply(t, l, ledgertest.Issue("a", 1))
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		verify(t, open(t, url, name))
		if _, err := Create(ctx, url, Schema(name)); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%q: %v", name, err)
		}
		execute(t, connect(t, name), "DROP SCHEMA "+pgx.Identifier{name}.Sanitize()+" CASCADE")
	}
	for _, name := range []string{"", strings.Repeat("x", maxSchema+1), "pg_ledger", "a\x00", "\xff"} {
		for _, make := range []func(context.Context, string, ...Option) (*Ledger, error){Create, Open} {
			if _, err := make(ctx, url, Schema(name)); !errors.Is(err, zkbench.ErrParams) {
				t.Errorf("%q: %v", name, err)
			}
		}
	}
	if _, err := Open(ctx, url); !errors.Is(err, fs.ErrNotExist) { // the default
		t.Errorf("%v", err)
	}
}

// TestCreateAtOnce: of several that create one ledger, one does.
func TestCreateAtOnce(t *testing.T) {
	url, schema := server.URL(t), schemaName()
	var created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := Create(context.Background(), url, Schema(schema))
			switch {
			case err == nil:
				created.Add(1)
				err = l.Close()
			case errors.Is(err, fs.ErrExist):
				err = nil
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("%d created it, want 1", n)
	}
	verify(t, open(t, url, schema))
}
