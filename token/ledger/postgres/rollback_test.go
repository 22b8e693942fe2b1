package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// backup copies all tables of a ledger, and returns a function that puts the copies back in one transaction.
func backup(t *testing.T, schema string) (restore func()) {
	t.Helper()
	conn := connect(t, schema)
	var copied, restored []string
	for _, table := range tableNames() {
		copied = append(copied, fmt.Sprintf("CREATE TABLE copy_%s AS TABLE %s", table, table))
		restored = append(restored, fmt.Sprintf("INSERT INTO %s TABLE copy_%s", table, table))
	}
	execute(t, conn, "BEGIN ISOLATION LEVEL REPEATABLE READ;"+strings.Join(copied, ";")+"; COMMIT")
	text := "BEGIN; TRUNCATE " + strings.Join(tableNames(), ", ") + ";" + strings.Join(restored, ";") + "; COMMIT"
	return func() {
		t.Helper()
		for {
			_, err := conn.Exec(context.Background(), text)
			if failed, ok := errors.AsType[*pgconn.PgError](err); !ok || failed.Code != "40P01" {
				must.Do(t, err)
				return
			}
			execute(t, conn, "ROLLBACK") // a deadlock with those who pay, whose transactions lock the tables in another order
		}
	}
}

func rolledBack(err error) bool {
	back, ok := errors.AsType[*ledger.RolledBackError](err)
	return ok && back.Seen != back.Now && errors.Is(err, ledger.ErrRolledBack) && errors.Is(err, zkbench.ErrEnv)
}

// TestRolledBack restores a ledger's rows while ten callers pay. Afterwards nothing is acknowledged, even if another
// process has continued the restored ledger meanwhile.
func TestRolledBack(t *testing.T) {
	for name, more := range map[string]int{"restored": 0, "restored and continued": 300} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			ledgertest.Apply(t, l, ledgertest.Issue("before", 1))
			restore := backup(t, schema)
			other := func() {
				restore()
				if more > 0 {
					p := ledgertest.NewPayments(1)
					ledgertest.Apply(t, open(t, server.URL(t), schema), p.Batch(more, 0, 1)...)
				}
			}
			ledgertest.RolledBack(t, l, other, rolledBack)
			err := l.Apply(t.Context(), nil)
			if back, ok := errors.AsType[*ledger.RolledBackError](err); !ok || back.Now.N < 2 || back.Seen.N < 30 {
				t.Errorf("%v, want the numbers of both logs", err)
			}
		})
	}
}

// TestRolledBackToSameLength restores a ledger and continues it to the length that a process has seen, with other
// requests.
func TestRolledBackToSameLength(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 2))
	restore := backup(t, schema)
	ledgertest.Apply(t, l, ledgertest.Spend("b", token.ID("a/0")))
	restore()
	ledgertest.Apply(t, open(t, server.URL(t), schema), ledgertest.Spend("c", token.ID("a/1")))
	_, err := l.ApplyEach(t.Context(), []ledger.Entry{ledgertest.Spend("d", token.ID("a/0"))})
	if back, ok := errors.AsType[*ledger.RolledBackError](err); !ok || back.Now.N != back.Seen.N || back.Now.Hash == back.Seen.Hash {
		t.Errorf("%v, want two roots of one length", err)
	}
	if _, err := l.State(t.Context()); !rolledBack(err) {
		t.Errorf("%v, want later calls to be refused too", err)
	}
}

// TestLastRowGone deletes the row of the last request. It is missed although no later request is there.
func TestLastRowGone(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	execute(t, connect(t, schema), "DELETE FROM log")
	ledgertest.Corrupt(t, l.Apply(t.Context(), []ledger.Entry{ledgertest.Issue("b", 1)}), "request 1", "a log without its last request")
}

// TestOthersContinue: what another process has added is no rollback.
func TestOthersContinue(t *testing.T) {
	a, schema := newLedger(t)
	b := open(t, server.URL(t), schema)
	for i := range 20 { // trees of many shapes
		for range i % 3 {
			p := ledgertest.NewPayments(0)
			ledgertest.Apply(t, a, p.Entry(0, 1))
		}
		ledgertest.Apply(t, b, ledgertest.Issue(fmt.Sprint(i), 1))
	}
	must.Do(t, a.Apply(context.Background(), nil))
}
