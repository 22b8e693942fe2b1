package postgres

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// TestHeadsSurvive: heads are on the disk when PutHead returns, whatever the server's settings say.
func TestHeadsSurvive(t *testing.T) {
	server.Restart(t, "synchronous_commit=off", "wal_writer_delay=10s")
	defer server.Restart(t)
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	must.Do(t, l.PutHead(t.Context(), 1, []byte("one"), true))
	must.Do(t, l.PutHead(t.Context(), 2, []byte("two"), false))
	server.Restart(t)
	again := open(t, server.URL(t), schema)
	ledgertest.CheckHeads(t, again, "one", "two")
	ledgertest.Verify(t, again)
}

// TestHeadDamaged: a head that was changed, or that stands under another key, is not returned.
func TestHeadDamaged(t *testing.T) {
	for _, edit := range []string{
		"UPDATE heads SET signed = 'x'",
		"UPDATE heads SET leaves = 2",
		"UPDATE heads SET sum = sum + 1",
		"DELETE FROM heads WHERE key = 'counts'; UPDATE heads SET key = 'counts'",
	} {
		l, schema := newLedger(t)
		must.Do(t, l.PutHead(t.Context(), 1, []byte("one"), true))
		execute(t, connect(t, schema), edit)
		_, err := l.Head(t.Context())
		ledgertest.Corrupt(t, err, "heads counts", edit)
	}
}
