package postgres

import (
	"context"
	"fmt"
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
	log := func(seq uint64, value []byte) edit {
		return do("INSERT INTO log VALUES ($1, $2, $3) ON CONFLICT (seq) DO UPDATE SET entry = excluded.entry, sum = excluded.sum",
			int64(seq), value, sum(store.TableLog, store.SeqKey(seq), value))
	}
	chain := func(b store.Batch) edit {
		return do("INSERT INTO chain VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (last) DO UPDATE SET first = excluded.first, hash = excluded.hash, policy = excluded.policy, time = excluded.time, sum = excluded.sum",
			int64(b.Last), int64(b.First), b.Hash[:], int64(b.Policy), ledger.AppendTime(nil, b.Time), sum(store.TableChain, store.SeqKey(b.Last), b.Append(nil)))
	}
	set := func(b store.Batch) edit {
		h := head{format, b}
		return do("UPDATE head SET first = $1, last = $2, hash = $3, policy = $4, time = $5, sum = $6",
			int64(b.First), int64(b.Last), b.Hash[:], int64(b.Policy), ledger.AppendTime(nil, b.Time), h.sum())
	}
	begun := func(g ledger.Genesis) edit {
		encoding := g.Append(nil)
		return do("UPDATE genesis SET encoding = $1, sum = $2", encoding, sum(tableGenesis, nil, encoding))
	}
	// batch is one of the chain as it is; rebatched has it lead to another policy, or time.
	batch := func(t *testing.T, conn *pgx.Conn, last uint64) store.Batch {
		var r batchRow
		must.Do(t, conn.QueryRow(ctx, "SELECT last, first, hash, policy, time, sum FROM chain WHERE last = $1", int64(last)).Scan(r.columns()...))
		return must.Get(r.batch())(t)
	}
	rebatched := func(last uint64, policy uint64, later time.Duration) edit {
		return func(t *testing.T, conn *pgx.Conn) {
			b := batch(t, conn, last)
			b.Policy, b.Time = b.Policy+policy, b.Time.Add(later)
			chain(b)(t, conn)
		}
	}
	asChain := func(t *testing.T, conn *pgx.Conn) { set(batch(t, conn, 4))(t, conn) }
	a, b := ledgertest.Issue("a", 2), ledgertest.Spend("b", token.ID("a/1"))
	other, last := b, ledgertest.AtSecond(100, ledgertest.Issue("d", 1))
	other.Request, last.Request = []byte("another"), []byte("another")
	// replaced has a request of an earlier time be the last, in a chain that is made anew.
	replaced := func(t *testing.T, conn *pgx.Conn) {
		e := ledgertest.AtSecond(99, ledgertest.Issue("d", 1))
		link := store.NewLink(batch(t, conn, 3).Hash, 4)
		link.Add(e.Append(nil))
		both(log(4, e.Append(nil)), chain(store.Batch{First: 4, Last: 4, Hash: link.Sum(), Time: e.Time.UTC()}))(t, conn)
	}
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
		"bits: two entries swapped":  {do(`UPDATE log l SET entry = o.entry, sum = o.sum FROM log o WHERE l.seq + o.seq = 5 AND l.seq IN (2, 3)`), "request 2", false, false},
		"bits: batch's hash":         {do(`UPDATE chain SET hash = sha256('x') WHERE last = 2`), "chain 2", false, false},
		"bits: last batch's hash":    {do(`UPDATE chain SET hash = sha256('x') WHERE last = 4`), "chain 4", true, false},
		"bits: two batches swapped":  {do(`UPDATE chain c SET first = o.first, hash = o.hash, sum = o.sum FROM chain o WHERE c.last + o.last = 3`), "chain 1", false, false},
		"bits: head":                 {do(`UPDATE head SET first = 1`), "head", true, false},
		"bits: head's policy":        {do(`UPDATE head SET policy = 1`), "head", true, false},
		"bits: head's time":          {do(`UPDATE head SET time = set_byte(time, 11, 1)`), "head", true, false},
		"head: time of 1e9 ns":       {do(`UPDATE head SET time = '\x00000000000000633b9aca00'`), "head", true, false},
		"bits: batch's time":         {do(`UPDATE chain SET time = set_byte(time, 11, 1) WHERE last = 2`), "chain 2", false, false},
		"bits: length of a time":     {do(`UPDATE chain SET time = '' WHERE last = 2`), "chain 2", false, false},
		"bits: batch's policy":       {do(`UPDATE chain SET policy = 1 WHERE last = 2`), "chain 2", false, false},
		"bits: genesis":              {do(`UPDATE genesis SET encoding = set_byte(encoding, 95, 1)`), "genesis", true, false},
		"bits: state":                {do(`UPDATE state SET bytes = 'x'`), "state", true, false},
		"state lost":                 {do(`DELETE FROM state`), "state", true, false},
		"another genesis":            {begun(ledger.Genesis{Nonce: [32]byte{1}}), "requests 1 to 1", false, false},
		"fork of another history":    {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 4}}}), "requests 4 to 4", true, false},
		"fork of an earlier one":     {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 2}}}), "requests 2 to 2", false, false},
		"fork behind the end":        {begun(ledger.Genesis{Forks: []ledger.Fork{{Last: 5}}}), "log", true, false},
		"rows: number below zero":    {do(`INSERT INTO log VALUES (-1, 'x', 0)`), "log", false, false},
		"rows: batch below zero":     {do(`INSERT INTO chain VALUES (-1, -1, 'x', 0, 'x', 0)`), "chain", false, false},
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
		"log: request replaced":      {log(2, other.Append(nil)), "requests 2 to 2", false, false},
		"log: request lost":          {do(`DELETE FROM log WHERE seq = 1`), "request 1", false, false},
		"log: request no entry":      {log(1, []byte{1}), "request 1", false, false},
		"log: last request replaced": {log(4, last.Append(nil)), "requests 4 to 4", true, false},
		"log: last request lost":     {do(`DELETE FROM log WHERE seq = 4`), "log", true, false},
		"log: request too many":      {log(5, other.Append(nil)), "log", true, false},
		"chain: another hash":        {chain(store.Batch{First: 1, Last: 1}), "requests 1 to 1", false, false},
		"chain: another policy":      {rebatched(2, 1, 0), "requests 2 to 2", false, false},
		"chain: another time":        {rebatched(2, 0, 1), "requests 2 to 2", false, false},
		"head: another policy":       {both(rebatched(4, 1, 0), asChain), "requests 4 to 4", true, false},
		"head: another time":         {both(rebatched(4, 0, 1), asChain), "requests 4 to 4", true, false},
		"log: time goes back":        {both(replaced, asChain), "request 4", true, false},
		"chain: a batch lost":        {do(`DELETE FROM chain WHERE last = 1`), "request 1", false, false},
		"chain: the last lost":       {do(`DELETE FROM chain WHERE last = 4`), "chain", true, false},
		"chain: batches overlap":     {chain(store.Batch{First: 1, Last: 2}), "request 2", false, false},
		"last batch lost": {
			do(`DELETE FROM chain WHERE last = 4; DELETE FROM log WHERE seq = 4; DELETE FROM anchors WHERE anchor = 'd'; DELETE FROM tokens WHERE created = 4`),
			"log", true, false,
		},
		"head: an earlier batch": {set(store.Batch{First: 3, Last: 3}), "log", true, false},
		"head: another hash":     {set(store.Batch{First: 4, Last: 4}), "head", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			l, schema := newLedger(t)
			ledgertest.Apply(t, l, a)
			ledgertest.Apply(t, l, b)
			ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Issue("c", 1)))
			ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Issue("d", 1)))
			c.edit(t, connect(t, schema))
			check := func(err error) {
				t.Helper()
				if c.place == "" {
					must.Do(t, err)
					return
				}
				ledgertest.Corrupt(t, err, c.place, name)
			}
			check(l.Verify(ctx, nil))
			l.snapshotTime = 0
			check(l.Verify(ctx, nil)) // in a snapshot for each batch
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
		"request there": "INSERT INTO log VALUES (2, 'x', 0)",
		"batch there":   "INSERT INTO chain VALUES (2, 2, 'x', 0, 'x', 0)",
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
	const batches = 20
	l, schema := newLedger(t)
	for i := range batches {
		ledgertest.Apply(t, l, ledgertest.Issue(fmt.Sprint(i), 1))
	}
	l.snapshotTime = 0
	conn := connect(t, schema)
	calls, spent, last := 0, 0, uint64(0)
	tail, err := l.VerifyTail(ctx, func(done, total uint64) {
		if calls++; calls%3 > 0 && spent < batches { // for a while nearly as fast as they are read
			ledgertest.Apply(t, l, ledgertest.Spend(fmt.Sprint("spend ", spent), token.ID(fmt.Sprintf("%d/0", spent))),
				ledgertest.Issue(fmt.Sprint("more ", spent), 1))
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
	golden.Equal(t, "verified", last, tail.Last)
	if last <= batches {
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
			tail, err := l.VerifyTail(context.Background(), func(uint64, uint64) {
				for _, err := range l.Log(context.Background(), 1) {
					if n++; err != nil {
						t.Error(err)
					}
				}
			})
			if err != nil || n != 1 || tail.First != 1 || tail.Last != 1 || tail.Hash == [32]byte{} {
				t.Errorf("%d requests, tail %v, %v", n, tail, err)
			}
		})
	}
	wg.Wait()
}
