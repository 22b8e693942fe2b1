package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

const roomy = 60 // server connections of a pooler: enough for any test

// newPooled makes an empty ledger behind a pooler in session mode.
func newPooled(t *testing.T) (*pgtest.Bouncer, *Ledger, string) {
	t.Helper()
	b := server.Bouncer(t, "session", roomy)
	_, schema := newLedger(t)
	return b, open(t, b.URL(), schema), schema
}

// TestPoolerContract: behind a pooler in session mode a ledger is a ledger.
func TestPoolerContract(t *testing.T) {
	b := server.Bouncer(t, "session", roomy)
	checks := flag.Lookup("rapid.checks").Value
	before := checks.String()
	must.Do(t, checks.Set("3")) // TestContract makes more random cases
	defer func() { _ = checks.Set(before) }()
	ledgertest.Contract(t, storesAt(func(testing.TB) string { return b.URL() }))
}

// TestPoolerSilentHolder: a silent session behind a pooler is ended by its number at the server.
func TestPoolerSilentHolder(t *testing.T) {
	silentHolder(t, server.Bouncer(t, "session", roomy).URL())
}

// TestPoolerCutLink: a cut link to a pooler keeps nobody from the ledger either.
func TestPoolerCutLink(t *testing.T) {
	b := server.Bouncer(t, "session", roomy)
	cutLinks(t, b.Socket(), b.URL(), brief)
}

// TestPoolerCancel: a session behind a pooler does not wait for the lock any more when its caller has left.
func TestPoolerCancel(t *testing.T) {
	_, l, schema := newPooled(t)
	other := connect(t, schema)
	execute(t, other, "BEGIN; SELECT FROM head FOR UPDATE")
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error)
	go func() { result <- l.Apply(ctx, []ledger.Entry{ledgertest.Issue("a", 1)}) }()
	awaitWaiter(t, schema)
	cancel()
	must.Fail(t, <-result, context.Canceled, "who has left")
	awaitWaiters(t, schema, 0)
	execute(t, other, "ROLLBACK")
	asked(t, l, "a", false)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
}

// refusedByMode fails the test unless err says that the pooler must be in session mode.
func refusedByMode(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, errPooler) || !errors.Is(err, zkbench.ErrEnv) || !strings.Contains(err.Error(), "session mode") {
		t.Errorf("%s: %v", what, err)
	}
}

// TestPoolerRefused: Open and Create refuse poolers in the other modes, however many connections these have to the
// server and whatever their other clients do, and leave no setting behind.
func TestPoolerRefused(t *testing.T) {
	ctx := context.Background()
	_, schema := newLedger(t)
	for mode, work := range map[string]string{
		"transaction": "BEGIN; SELECT pg_sleep(0.001); COMMIT",
		"statement":   "SELECT pg_sleep(0.001)",
	} {
		for _, size := range []int{1, 20} {
			for _, clients := range []int{0, size + 5} {
				t.Run(fmt.Sprintf("mode=%s/size=%d/clients=%d", mode, size, clients), func(t *testing.T) {
					t.Parallel()
					b := server.Bouncer(t, mode, size)
					busy, cancel := context.WithCancel(ctx)
					var ended sync.WaitGroup
					defer ended.Wait()
					defer cancel()
					for range clients {
						conn := must.Get(pgx.Connect(ctx, b.URL()))(t)
						ended.Go(func() {
							defer conn.Close(ctx)
							for busy.Err() == nil {
								if _, err := conn.Exec(ctx, work); err != nil {
									t.Error(err)
									return
								}
							}
						})
					}
					for range 3 {
						_, err := Open(ctx, b.URL(), Schema(schema))
						refusedByMode(t, "open", err)
						_, err = Create(ctx, b.URL(), ledger.Genesis{}, Schema(schemaName()))
						refusedByMode(t, "create", err)
					}
					var seqscan, jit string
					conn := must.Get(pgx.Connect(ctx, b.URL()))(t)
					defer conn.Close(ctx)
					must.Do(t, conn.QueryRow(ctx, "SELECT current_setting('enable_seqscan'), current_setting('jit')", pgx.QueryExecModeExec).Scan(&seqscan, &jit))
					golden.Equal(t, "settings", "on on", seqscan+" "+jit)
				})
			}
		}
	}
}

// TestPoolerFull: a pooler without room for a second connection is not waited for.
func TestPoolerFull(t *testing.T) {
	_, schema := newLedger(t)
	_, err := Open(context.Background(), server.Bouncer(t, "session", 1).URL(), Schema(schema), silentFor(brief))
	must.Fail(t, err, zkbench.ErrEnv, "a pool of one")
	if errors.Is(err, errPooler) || !strings.Contains(err.Error(), "no second connection") {
		t.Errorf("%v", err)
	}
}

// TestPoolerChanged: a ledger notices that a pooler has left session mode, applies nothing then, and goes on when the
// mode is back.
func TestPoolerChanged(t *testing.T) {
	for _, mode := range []string{"transaction", "statement"} {
		t.Run("mode="+mode, func(t *testing.T) {
			b, l, schema := newPooled(t)
			ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
			b.Command(t, "SET pool_mode = '"+mode+"'")
			applied := 1
			anchor := func() string { return fmt.Sprint("changed ", applied) }
			var err error
			for err == nil && applied < roomy {
				if err = l.Apply(context.Background(), []ledger.Entry{ledgertest.Issue(anchor(), 1)}); err == nil {
					applied++
					if mode == "transaction" { // the pooler gives away the session that was used last
						execute(t, connectTo(t, b.URL(), schema), "BEGIN")
					}
				}
			}
			refusedByMode(t, "apply", err)
			refusedByMode(t, "apply again", l.Apply(context.Background(), []ledger.Entry{ledgertest.Issue(anchor(), 1)}))
			golden.Equal(t, "requests", applied, len(ledgertest.Records(t, open(t, server.URL(t), schema), 0)))
			b.Command(t, "SET pool_mode = 'session'")
			ledgertest.Apply(t, l, ledgertest.Issue(anchor(), 1))
			ledgertest.Verify(t, l)
		})
	}
}

// TestPoolerWithoutReset: a pooler that gives sessions on as they are is refused.
func TestPoolerWithoutReset(t *testing.T) {
	b, l, schema := newPooled(t)
	b.Command(t, "SET server_reset_query = ''")
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	must.Do(t, l.Close())
	_, err := Open(context.Background(), b.URL(), Schema(schema))
	refusedByMode(t, "open", err)
	b.Command(t, "SET server_reset_query = 'DISCARD ALL'")
	b.Command(t, "RECONNECT")
	l = open(t, b.URL(), schema)
	ledgertest.Apply(t, l, ledgertest.Issue("b", 1))
	ledgertest.Verify(t, l)
}

// TestSessionOfAnother: a batch is not applied in a session that has other settings than the ledger gave it, and the
// next one is.
func TestSessionOfAnother(t *testing.T) {
	ctx := context.Background()
	l, _ := newLedger(t)
	conn := must.Get(l.pool.Acquire(ctx))(t)
	execute(t, conn.Conn(), "RESET ALL")
	conn.Release()
	batch := []ledger.Entry{ledgertest.Issue("a", 1)}
	refusedByMode(t, "apply", l.Apply(ctx, batch))
	asked(t, l, "a", false)
	ledgertest.Apply(t, l, batch...)
}

// TestPoolerCrash kills the pooler while batches are applied.
func TestPoolerCrash(t *testing.T) {
	b, l, _ := newPooled(t)
	disturbed(t, l, 4, func(int) {
		b.Kill()
		b.Start(t)
	})
}

// TestPoolerKilledInCommit: when a pooler is killed while the server commits, the outcome is unknown until the ledger
// is asked, which waits for the server.
func TestPoolerKilledInCommit(t *testing.T) {
	ctx := context.Background()
	b, l, schema := newPooled(t)
	conn := connect(t, schema)
	execute(t, conn, "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(1); RETURN NULL; END $$")
	execute(t, conn, "CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON log DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()")
	execute(t, conn, "SELECT pg_advisory_lock(1)")
	result := make(chan error)
	go func() { result <- l.Apply(ctx, []ledger.Entry{ledgertest.Issue("a", 1)}) }()
	for commits := 0; commits == 0; {
		must.Do(t, conn.QueryRow(ctx, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'advisory' AND query = 'COMMIT'").Scan(&commits))
	}
	b.Kill()
	notApplied(t, <-result, true)
	b.Start(t)
	found := make(chan bool)
	go func() {
		_, there, err := l.Record(ctx, []byte("a"))
		if err != nil {
			t.Error(err)
		}
		found <- there
	}()
	awaitWaiter(t, schema)
	execute(t, conn, "SELECT pg_advisory_unlock(1)")
	if !<-found {
		t.Error("not found, and applied")
	}
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	golden.Equal(t, "requests", 1, len(ledgertest.Records(t, l, 0)))
	ledgertest.Verify(t, l)
}
