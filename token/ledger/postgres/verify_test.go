package postgres

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// TestVerifyNamesThePlace: every kind of change to the rows, those without the
// right checksum, and those with it that contradict the log.
func TestVerifyNamesThePlace(t *testing.T) {
	ctx := context.Background()
	type edit = func(t *testing.T, conn *pgx.Conn)
	do := func(text string, args ...any) edit {
		return func(t *testing.T, conn *pgx.Conn) { execute(t, conn, text, args...) }
	}
	both := func(edits ...edit) edit {
		return func(t *testing.T, conn *pgx.Conn) {
			for _, e := range edits {
				e(t, conn)
			}
		}
	}
	tokens := func(id string, s store.State) edit {
		var spent *int64
		if s.Status == store.Spent {
			n := int64(s.Spent)
			spent = &n
		}
		return do(`INSERT INTO tokens VALUES ($1, $2, $3, $4, $5) ON CONFLICT (id) DO UPDATE
			SET created = excluded.created, spent = excluded.spent, token = excluded.token, sum = excluded.sum`,
			[]byte(id), int64(s.Created), spent, s.Token, sum(store.TableTokens, []byte(id), s.Append(nil)))
	}
	mark := func(id string, seq uint64) edit {
		return do("INSERT INTO spent VALUES ($1, $2, $3)", []byte(id), int64(seq), sum(store.TableSpent, []byte(id), store.SeqKey(seq)))
	}
	anchor := func(name string, a store.Anchored) edit {
		return do(`INSERT INTO anchors VALUES ($1, $2, $3, $4) ON CONFLICT (anchor) DO UPDATE
			SET seq = excluded.seq, digest = excluded.digest, sum = excluded.sum`,
			[]byte(name), int64(a.Seq), a.Digest[:], sum(store.TableAnchors, []byte(name), a.Append(nil)))
	}
	log := func(seq uint64, entry, after []byte) edit {
		return do("INSERT INTO log VALUES ($1, $2, $3, $4) ON CONFLICT (seq) DO UPDATE SET entry = excluded.entry, after = excluded.after, sum = excluded.sum",
			int64(seq), entry, after, sum(store.TableLog, store.SeqKey(seq), append(bytes.Clone(entry), after...)))
	}
	// logged changes a record of the log as it is.
	logged := func(seq uint64, change func(entry, after []byte) ([]byte, []byte)) edit {
		return func(t *testing.T, conn *pgx.Conn) {
			var entry, after []byte
			must.Do(t, conn.QueryRow(ctx, "SELECT entry, after FROM log WHERE seq = $1", int64(seq)).Scan(&entry, &after))
			entry, after = change(entry, after)
			log(seq, entry, after)(t, conn)
		}
	}
	set := func(last uint64, edge []byte) edit {
		return do("UPDATE head SET last = $1, edge = $2, sum = $3", int64(last), edge, headSum(edge))
	}
	// edged changes the edge as it is.
	edged := func(change func(edge []byte)) edit {
		return func(t *testing.T, conn *pgx.Conn) {
			var edge []byte
			must.Do(t, conn.QueryRow(ctx, "SELECT edge FROM head").Scan(&edge))
			change(edge)
			set(4, edge)(t, conn)
		}
	}
	at := func(offset int) func(edge []byte) { return func(edge []byte) { edge[offset] ^= 1 } }
	begun := func(g ledger.Genesis) edit {
		encoding := g.Append(nil)
		return do("UPDATE genesis SET encoding = $1, sum = $2", encoding, sum(tableGenesis, nil, encoding))
	}
	all := []ledger.Entry{
		ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1")),
		ledgertest.AtSecond(100, ledgertest.Issue("c", 1)), ledgertest.AtSecond(100, ledgertest.Issue("d", 1)),
	}
	// remade writes a log with another entry, with its tree and edge.
	remade := func(seq int, e ledger.Entry) edit {
		return func(t *testing.T, conn *pgx.Conn) {
			edge := ledger.NewEdge(ledger.Genesis{})
			entries := slices.Clone(all)
			entries[seq-1] = e
			for i := range entries {
				raw := entries[i].Append(nil)
				commitment, nodes := edge.Append(&entries[i], raw)
				log(edge.Last(), raw, store.After(commitment, nodes))(t, conn)
			}
			set(4, edge.AppendTo(nil))(t, conn)
		}
	}
	earlier := ledger.NewEdge(ledger.Genesis{})
	for i := range all[:3] {
		earlier.Append(&all[i], all[i].Append(nil))
	}
	b, other := all[1], all[1]
	other.Request = []byte("another")
	first := func(offset int) func(entry, after []byte) ([]byte, []byte) {
		return func(entry, after []byte) ([]byte, []byte) {
			after[offset] ^= 1
			return entry, after
		}
	}
	const commitment, leaf = 0, 32 // offsets in what is behind an entry
	live := store.State{Status: store.Unspent, Created: 1, Token: []byte("token")}
	for name, c := range map[string]struct {
		edit  edit
		place string
		open  bool // found on opening
		spend bool // not found when a/1 is spent again: two rows and their checksums were changed
	}{
		"nothing": {do("SELECT"), "", false, false},

		"bits: token's bytes":        {do(`UPDATE tokens SET token = '\x00' WHERE id = 'a/0'`), "request 1: create 0", false, false},
		"bits: token not spent":      {do(`UPDATE tokens SET spent = NULL, token = 'token' WHERE id = 'a/1'`), "request 1: create 1", false, false},
		"bits: token spent":          {do(`UPDATE tokens SET spent = 2, token = NULL WHERE id = 'a/0'`), "request 1: create 0", false, false},
		"bits: token's creator":      {do(`UPDATE tokens SET created = 2 WHERE id = 'a/0'`), "request 1: create 0", false, false},
		"bits: token's id":           {do(`UPDATE tokens SET id = 'a/9' WHERE id = 'a/0'`), "request 1: create 0", false, false},
		"bits: two tokens swapped":   {do(`UPDATE tokens t SET created = o.created, token = o.token, sum = o.sum FROM tokens o WHERE (t.id, o.id) IN (('a/0', 'b/0'), ('b/0', 'a/0'))`), "request 1: create 0", false, false},
		"bits: token's mark":         {do(`UPDATE spent SET seq = 3`), "request 1: create 1", false, false},
		"bits: mark of another":      {do(`UPDATE spent SET id = 'a/0'`), "request 1: create 0", false, false},
		"bits: anchor's digest":      {do(`UPDATE anchors SET digest = sha256('x') WHERE anchor = 'b'`), "request 2: anchor", false, false},
		"bits: anchor's length":      {do(`UPDATE anchors SET digest = digest || '\x00' WHERE anchor = 'b'`), "request 2: anchor", false, false},
		"bits: anchor's request":     {do(`UPDATE anchors SET seq = 1 WHERE anchor = 'b'`), "request 2: anchor", false, false},
		"bits: entry":                {do(`UPDATE log SET entry = set_byte(entry, 50, 1) WHERE seq = 2`), "request 2", false, false},
		"bits: two entries swapped":  {do(`UPDATE log l SET entry = o.entry, sum = o.sum FROM log o WHERE l.seq + o.seq = 3`), "request 1", true, false},
		"bits: head":                 {do(`UPDATE head SET edge = set_byte(edge, 100, 1)`), "head", true, false},
		"bits: genesis":              {do(`UPDATE genesis SET encoding = set_byte(encoding, 95, 1)`), "genesis", true, false},
		"bits: state":                {do(`UPDATE state SET bytes = 'x'`), "state", true, false},
		"state lost":                 {do(`DELETE FROM state`), "state", true, false},
		"another genesis":            {begun(ledger.Genesis{Nonce: [32]byte{1}}), "genesis", true, false},
		"fork of another history":    {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 4}}}), "request 4", true, false},
		"fork of an earlier one":     {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 2}}}), "request 2", true, false},
		"fork behind the end":        {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 5}}}), "log", true, false},
		"rows: number below zero":    {do(`INSERT INTO log VALUES (-1, 'x', 'x', 0)`), "log", false, false},
		"token resurrected by half":  {tokens("a/1", live), "request 1: create 1", false, false},
		"token resurrected by mark":  {do(`DELETE FROM spent`), "request 1: create 1", false, false},
		"token resurrected":          {both(tokens("a/1", live), do(`DELETE FROM spent`)), "request 2: spend 0", false, true},
		"token lost by half":         {do(`DELETE FROM tokens WHERE id = 'a/1'`), "request 1: create 1", false, false},
		"token lost":                 {both(do(`DELETE FROM tokens WHERE id = 'a/1'`), do(`DELETE FROM spent`)), "request 1: create 1", false, false},
		"token spent by nobody":      {both(tokens("a/0", store.State{Status: store.Spent, Created: 1, Spent: 2}), mark("a/0", 2)), "spent", false, false},
		"token of nobody":            {tokens("x", live), "tokens", false, false},
		"token of other bytes":       {tokens("a/0", store.State{Status: store.Unspent, Created: 1, Token: []byte("taken")}), "request 1: create 0", false, false},
		"token of another request":   {tokens("a/0", store.State{Status: store.Unspent, Created: 2, Token: []byte("token")}), "request 1: create 0", false, false},
		"anchor lost":                {do(`DELETE FROM anchors WHERE anchor = 'b'`), "request 2: anchor", false, false},
		"anchor of another digest":   {anchor("b", store.Anchored{Seq: 2, Digest: [32]byte{9}}), "request 2: anchor", false, false},
		"anchor of another request":  {anchor("b", store.Anchored{Seq: 1, Digest: b.Digest}), "request 2: anchor", false, false},
		"anchor of nobody":           {anchor("x", store.Anchored{Seq: 1}), "anchors", false, false},
		"log: request replaced":      {logged(2, func(_, after []byte) ([]byte, []byte) { return other.Append(nil), after }), "request 2", false, false},
		"log: another commitment":    {logged(2, first(commitment)), "request 2", false, false},
		"log: another leaf":          {logged(2, first(leaf)), "request 2", false, false},
		"log: first replaced":        {remade(1, other), "request 1: anchor", false, false},
		"log: request lost":          {do(`DELETE FROM log WHERE seq = 2`), "request 2", false, false},
		"log: request no entry":      {log(2, []byte{1}, make([]byte, 64)), "request 2", false, false},
		"log: a body too short":      {log(2, []byte{}, make([]byte, 63)), "request 2", false, false},
		"log: last replaced":         {logged(4, func(_, after []byte) ([]byte, []byte) { return other.Append(nil), after }), "request 4", true, false},
		"log: last request's leaf":   {logged(4, first(leaf)), "request 4", true, false},
		"log: last commitment":       {logged(4, first(commitment)), "request 4", true, false},
		"log: last request lost":     {do(`DELETE FROM log WHERE seq = 4`), "log", true, false},
		"log: request too many":      {log(5, other.Append(nil), make([]byte, 96)), "log", true, false},
		"log: time goes back":        {remade(4, ledgertest.AtSecond(99, ledgertest.Issue("d", 1))), "request 4", false, false},
		"head: an earlier edge":      {set(3, earlier.AppendTo(nil)), "log", true, false},
		"head: another number":       {set(3, func() []byte { e := earlier; e.Append(&all[3], all[3].Append(nil)); return e.AppendTo(nil) }()), "head", true, false},
		"head: another policy":       {edged(at(15)), "edge", true, false},
		"head: another digest":       {edged(at(16)), "edge", true, false},
		"head: another time":         {edged(at(91)), "edge", true, false},
		"head: another sum":          {edged(at(92)), "edge", true, false},
		"head: no edge":              {set(4, []byte{1}), "head", true, false},
		"last request lost but edge": {do(`DELETE FROM log WHERE seq = 4; DELETE FROM anchors WHERE anchor = 'd'; DELETE FROM tokens WHERE created = 4`), "log", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			for _, e := range all {
				ledgertest.Apply(t, l, e)
			}
			c.edit(t, connect(t, schema))
			check := func(err error) {
				t.Helper()
				if c.place == "" {
					must.Do(t, err)
					return
				}
				ledgertest.Corrupt(t, err, c.place, name)
			}
			for _, l.snapshotTime = range []time.Duration{time.Hour, 0} {
				_, err := l.Verify(ctx, nil)
				check(err)
			}
			if _, err := Open(ctx, server.URL(t), Schema(schema)); (err != nil) != c.open {
				t.Errorf("open: %v", err)
			} else if err != nil {
				check(err)
			}
			err := l.Apply(ctx, []ledger.Entry{ledgertest.AtSecond(100, ledgertest.Spend("again", token.ID("a/1")))})
			if (err == nil) != c.spend {
				t.Errorf("a/1 spent again: %v", err)
			}
		})
	}
}

// TestDamageStops: a writer that meets damage writes no more.
func TestDamageStops(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 2))
	execute(t, connect(t, schema), `UPDATE tokens SET token = 'x' WHERE id = 'a/0'`)
	ctx := context.Background()
	_, err := l.Token(ctx, token.ID("a/0"))
	ledgertest.Corrupt(t, err, "", "token")
	for _, id := range []token.ID{token.ID("a/0"), token.ID("a/1")} {
		ledgertest.Corrupt(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("b", id)}), "", string(id))
	}
	_, err = open(t, server.URL(t), schema).ApplyEach(ctx, []ledger.Entry{ledgertest.Spend("b", token.ID("a/0")), ledgertest.Issue("c", 1)})
	ledgertest.Corrupt(t, err, "", "another process")
}

// TestConstraints: where rows change behind the decision's back, the tables' keys
// and the numbers of changed rows stop the transaction.
func TestConstraints(t *testing.T) {
	ctx := context.Background()
	for name, meddle := range map[string]string{
		"token spent":   "UPDATE tokens SET spent = 1 WHERE id = 'a/0'",
		"token lost":    "DELETE FROM tokens WHERE id = 'a/0'",
		"token there":   "INSERT INTO tokens VALUES ('b/0', 1, NULL, 'x', 0)",
		"mark there":    "INSERT INTO spent VALUES ('a/0', 1, 0)",
		"anchor there":  "INSERT INTO anchors VALUES ('b', 1, 'x', 0)",
		"request there": "INSERT INTO log VALUES (2, 'x', 'x', 0)",
		"head moved":    "UPDATE head SET last = 7",
	} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
			conn := connect(t, schema)
			execute(t, conn, "CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$ BEGIN "+meddle+"; RETURN NULL; END $$")
			execute(t, conn, "CREATE TRIGGER meddle BEFORE INSERT ON tokens WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION meddle()")
			ledgertest.Corrupt(t, l.Apply(ctx, []ledger.Entry{ledgertest.Spend("b", token.ID("a/0"))}), "", name)
			execute(t, conn, "DROP TRIGGER meddle ON tokens")
			l = open(t, server.URL(t), schema)
			if _, found, err := l.Record(ctx, []byte("b")); found || err != nil {
				t.Errorf("%v, %v", found, err)
			}
			ledgertest.Verify(t, l)
		})
	}
}

// TestSnapshots: Verify renews its snapshot, holds none while progress is told, and takes what
// others spend and create meanwhile for what it is. It ends, also where they are as fast.
func TestSnapshots(t *testing.T) {
	ctx := context.Background()
	const batches, each = 20, 256 // requests, as many as are verified between two calls of progress
	l, schema := newLedger(t)
	batch := func(name string, n int) (entries []ledger.Entry) {
		for k := range n {
			entries = append(entries, ledgertest.Issue(fmt.Sprintf("%s %d", name, k), 1))
		}
		return entries
	}
	for i := range batches {
		ledgertest.Apply(t, l, batch(fmt.Sprint(i), each)...)
	}
	l.snapshotTime = 0
	conn := connect(t, schema)
	calls, spent, last := 0, 0, uint64(0)
	edge, err := l.Verify(ctx, func(done, total uint64) {
		if calls++; calls%3 > 0 && spent < batches { // for a while nearly as fast as they are read
			more := batch(fmt.Sprint("more ", spent), each)
			ledgertest.Apply(t, l, append(more, ledgertest.Spend(fmt.Sprint("spend ", spent), token.ID(fmt.Sprintf("%d 0/0", spent))))...)
			spent++
		}
		if done <= last || done > total {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		var snapshots int
		must.Do(t, conn.QueryRow(ctx, `SELECT count(*) FROM pg_stat_activity WHERE backend_xmin IS NOT NULL AND pid <> pg_backend_pid()
			AND backend_type = 'client backend'`).Scan(&snapshots))
		golden.Equal(t, "snapshots in progress", 0, snapshots)
	})
	must.Do(t, err)
	golden.Equal(t, "verified", last, edge.Last())
	if last <= batches*each {
		t.Errorf("verified to request %d, which was there when it began", last)
	}
	ledgertest.Verify(t, l)
}

// TestOneConnection: a pool of one connection is enough for many who verify, and ask
// the ledger as they go.
func TestOneConnection(t *testing.T) {
	l, schema := newLedger(t)
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	l = open(t, withParameter(t, server.URL(t), "pool_max_conns", "1"), schema)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			n := 0
			edge, err := l.Verify(context.Background(), func(uint64, uint64) {
				for _, err := range l.Log(context.Background(), 1) {
					if n++; err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil || n != 1 || edge.Last() != 1 {
				t.Errorf("%d requests, the edge after %d, %v", n, edge.Last(), err)
			}
		})
	}
	wg.Wait()
}
