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

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// server is the server of the test binary, started by the first test that needs it.
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

// schemas creates and opens ledgers of this package.
var schemas = storesAt(server.URL)

// storesAt creates and opens ledgers at a url.
func storesAt(url func(t testing.TB) string) ledgertest.Stores {
	return ledgertest.Stores{
		Place: func(testing.TB) string { return schemaName() },
		Create: func(t testing.TB, schema string, g ledger.Genesis) (ledgertest.Verifier, error) {
			return Create(context.Background(), url(t), g, Schema(schema))
		},
		Open: func(t testing.TB, schema string) (ledgertest.Verifier, error) {
			return Open(context.Background(), url(t), Schema(schema))
		},
	}
}

func TestContract(t *testing.T) { ledgertest.Contract(t, schemas) }

// newLedger makes an empty ledger in a schema of its own.
func newLedger(t testing.TB) (*Ledger, string) {
	t.Helper()
	l, schema := schemas.New(t)
	return l.(*Ledger), schema
}

// open opens a ledger from elsewhere, as another process would.
func open(t testing.TB, url, schema string) *Ledger {
	t.Helper()
	l := must.Get(Open(context.Background(), url, Schema(schema)))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// connect returns a connection that does not belong to a ledger and uses the schema by default.
func connect(t testing.TB, schema string) *pgx.Conn {
	t.Helper()
	return connectTo(t, server.URL(t), schema)
}

// connectTo is connect for a server at another url.
func connectTo(t testing.TB, url, schema string) *pgx.Conn {
	t.Helper()
	ctx := context.Background()
	conn := must.Get(pgx.Connect(ctx, url))(t)
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

// TestGroup: calls that are committed together are one transaction.
func TestGroup(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Group(t, l, func(calls []*store.Call) (err error) {
		l.queue.Exclusive(func() { err = l.apply(context.Background(), calls) })
		return err
	})
	var transactions int
	err := connect(t, schema).QueryRow(context.Background(), "SELECT count(DISTINCT xmin::text) FROM log WHERE seq > 1").Scan(&transactions)
	if err != nil || transactions != 1 {
		t.Errorf("%d transactions, want 1; %v", transactions, err)
	}
}

// TestUndecided: Decide writes no row, and keeps none.
func TestUndecided(t *testing.T) {
	l, schema := newLedger(t)
	conn := connect(t, schema)
	ledgertest.Undecided(t, l, func() (all string) {
		for _, table := range tableNames() {
			var rows string
			must.Do(t, conn.QueryRow(context.Background(), "SELECT coalesce(string_agg(concat_ws(' ', t::text, xmin, xmax, ctid), E'\n' ORDER BY ctid), '') FROM "+table+" t").Scan(&rows))
			all += table + "\n" + rows + "\n"
		}
		return all
	})
}

// TestRejectedBefore: an entry that is rejected with its batch leaves nothing to one with the
// same anchor, digest and token id in the next call of the transaction.
func TestRejectedBefore(t *testing.T) {
	ctx := context.Background()
	l, _ := newLedger(t)
	first, second := ledgertest.Issue("a", 1), ledgertest.Issue("a", 2)
	first.Creates[0].Token = []byte("not this one")
	var calls []*store.Call
	for _, batch := range [][]ledger.Entry{{first, ledgertest.Spend("b", token.ID("none"))}, {second}} {
		calls = append(calls, must.Get(store.NewCall(ctx, batch, false))(t))
	}
	l.queue.Exclusive(func() { must.Do(t, l.apply(ctx, calls)) })
	must.Fail(t, calls[0].Err(), ledger.ErrNotFound, "the first")
	must.Do(t, calls[1].Err())
	ledgertest.Verify(t, l)
	got := must.Get(l.Token(ctx, second.Creates[0].ID))(t)
	golden.Equal(t, "token", string(second.Creates[0].Token), string(got))
}

// TestLongBatch: keys, answers and numbers that no socket has room for.
func TestLongBatch(t *testing.T) {
	l, _ := newLedger(t)
	const entries, tokens = 1000, 16
	var issues, spends []ledger.Entry
	for i := range entries {
		issue := ledgertest.Issue(fmt.Sprint("issue ", i), tokens)
		for j := range issue.Creates {
			issue.Creates[j].Token = make([]byte, 200)
		}
		spend := ledgertest.Issue(fmt.Sprint("spend ", i), 1)
		for _, c := range issue.Creates {
			spend.Spends = append(spend.Spends, c.ID)
		}
		if i%3 == 0 {
			spend.Spends = append(spend.Spends, token.ID("none"))
		}
		issues, spends = append(issues, issue), append(spends, spend)
	}
	ledgertest.Apply(t, l, issues...)
	rejected := must.Get(l.ApplyEach(context.Background(), spends))(t)
	for i, err := range rejected {
		if errors.Is(err, ledger.ErrNotFound) != (i%3 == 0) {
			t.Errorf("%d: %v", i, err)
		}
	}
	ledgertest.Verify(t, l)
	golden.Equal(t, "requests", entries+entries*2/3, len(ledgertest.Records(t, l, 0)))
}

// TestCancel: a call whose context ends while it waits, for its own process or
// for another, applies nothing.
func TestCancel(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Canceled(t, l, l.queue.Exclusive)

	batch := []ledger.Entry{ledgertest.Issue("a", 1)}
	other := connect(t, schema)
	execute(t, other, "BEGIN")
	execute(t, other, "SELECT FROM head FOR UPDATE")
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- l.Apply(ctx, batch) }()
	awaitWaiter(t, schema)
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	ctx, cancel = context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	must.Fail(t, l.Apply(ctx, batch), context.DeadlineExceeded, "a context that ends by itself")
	execute(t, other, "ROLLBACK")
	if _, found, err := l.Record(context.Background(), []byte("a")); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	ledgertest.Apply(t, l, batch...)
	ledgertest.Verify(t, l)
}

// awaitWaiter returns when a session waits for a lock on a table of the schema.
func awaitWaiter(t *testing.T, schema string) {
	t.Helper()
	awaitWaiters(t, schema, 1)
}

// awaitWaiters returns when so many sessions wait for a lock on a table of the schema.
func awaitWaiters(t *testing.T, schema string, want int) {
	t.Helper()
	conn := connect(t, schema)
	for n := -1; n != want; {
		must.Do(t, conn.QueryRow(context.Background(), `SELECT count(*) FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, schema).Scan(&n))
	}
}

// TestSchemaNames: any name is one name, and none is a statement.
func TestSchemaNames(t *testing.T) {
	ctx := context.Background()
	url := server.URL(t)
	for _, name := range []string{`a"; DROP SCHEMA public; --`, "{s}", "ünï", strings.Repeat("x", maxSchema)} {
		l, err := Create(ctx, url, ledger.Genesis{}, Schema(name))
		if err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
		must.Do(t, l.Close())
		ledgertest.Verify(t, open(t, url, name))
		must.FailGet(Create(ctx, url, ledger.Genesis{}, Schema(name)))(t, fs.ErrExist, "%q", name)
		execute(t, connect(t, name), "DROP SCHEMA "+pgx.Identifier{name}.Sanitize()+" CASCADE")
	}
	for _, name := range []string{"", strings.Repeat("x", maxSchema+1), "pg_ledger", "a\x00", "\xff"} {
		must.FailGet(Create(ctx, url, ledger.Genesis{}, Schema(name)))(t, zkbench.ErrParams, "%q", name)
		must.FailGet(Open(ctx, url, Schema(name)))(t, zkbench.ErrParams, "%q", name)
	}
	must.FailGet(Open(ctx, url))(t, fs.ErrNotExist, "the default")
}

// TestCreateAtOnce: of several that create one ledger, one does.
func TestCreateAtOnce(t *testing.T) {
	url, schema := server.URL(t), schemaName()
	var created atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			l, err := Create(context.Background(), url, ledger.Genesis{}, Schema(schema))
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
	golden.Equal(t, "callers that created it", 1, created.Load())
	ledgertest.Verify(t, open(t, url, schema))
}

// TestPolicyElsewhere: an update that another process has landed rejects what was accepted before it.
func TestPolicyElsewhere(t *testing.T) {
	ctx := context.Background()
	l, schema := newLedger(t)
	other := open(t, server.URL(t), schema)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	ledgertest.Apply(t, other, ledgertest.Update(0))
	err := l.Apply(ctx, []ledger.Entry{ledgertest.Spend("b", token.ID("a/0"))})
	if p, ok := errors.AsType[*ledger.PolicyError](err); !ok || *p != (ledger.PolicyError{Version: 0, Current: 1}) {
		t.Errorf("%v", err)
	}
	r, found, err := l.Record(ctx, []byte("update 1"))
	if err != nil || !found || !r.Update || r.Seq != 2 {
		t.Errorf("%+v, %v, %v", r, found, err)
	}
	ledgertest.Apply(t, l, ledgertest.UnderPolicy(1, ledgertest.Spend("b", token.ID("a/0"))))
	ledgertest.Verify(t, other)
}

// TestTimeElsewhere: an entry that another process has landed rejects what is of an earlier time, also where both are at it at once.
func TestTimeElsewhere(t *testing.T) {
	ctx := context.Background()
	l, schema := newLedger(t)
	other := open(t, server.URL(t), schema)
	ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Issue("a", 1)))
	ledgertest.Apply(t, other, ledgertest.AtSecond(200, ledgertest.Issue("b", 1)))
	ledgertest.Late(t, "behind another process", l.Apply(ctx, []ledger.Entry{ledgertest.AtSecond(100, ledgertest.Issue("c", 1))}), 0, 100, 200)
	ledgertest.Apply(t, l, ledgertest.AtSecond(200, ledgertest.Issue("c", 1)))
	ledgertest.Verify(t, other)

	l, schema = newLedger(t)
	ledgertest.RaceOfClocks(t, l, open(t, server.URL(t), schema))
	ledgertest.Verify(t, l)
}
