package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token/ledger"
)

// Snapshot is a view of a store at one moment. CheckEdge and Verify request entries in the order of the log. Each method returns the error of the context, a *ledger.CorruptError, or an error of
// the store.
type Snapshot interface {
	// Lookup reads the records of the entry that Entries is passing to visit.
	Lookup
	// Genesis returns the ledger's genesis.
	Genesis() ledger.Genesis
	// Edge returns the stored edge of the log, after checking that the log ends with it.
	Edge(ctx context.Context) (ledger.Edge, error)
	// Hashes returns hashes of nodes of the log's tree, as ledger.Reader.Hashes does.
	Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error)
	// Entries calls the function visit for each record of the log from number first to number last, in order.
	// Each call gets a record that is valid until visit returns.
	Entries(ctx context.Context, first, last uint64, visit func(seq uint64, l *Logged) error) error
	// Count returns the number of records in a table.
	Count(ctx context.Context, table string) (uint64, error)
	// Renew may replace the snapshot with a newer one, which shows what is committed now, and reports
	// whether it has replaced the snapshot. Verify calls it between two batches. The parameter left is the
	// number of entries that are still to be read.
	Renew(ctx context.Context, left uint64) (bool, error)
}

// CheckOpened checks the end of the log like CheckEdge, and refuses a fork that lacks records of its
// parent.
func CheckOpened(ctx context.Context, s Snapshot) error {
	if err := CheckEdge(ctx, s); err != nil {
		return err
	}
	e, err := s.Edge(ctx)
	if err != nil {
		return err
	}
	return complete(s.Genesis(), &e)
}

// complete checks that a fork has all records that it shares with its parent.
func complete(g ledger.Genesis, e *ledger.Edge) error {
	if n := g.Inherited(); e.Last() < n {
		return ledger.Corruptf("log", "ends with request %d, but the ledger is a fork after request %d", e.Last(), n)
	}
	return nil
}

// CheckEdge checks the stored edge against the last record, and the edge and the genesis against the tree whose
// nodes the log stores.
func CheckEdge(ctx context.Context, s Snapshot) error {
	e, err := s.Edge(ctx)
	if err != nil {
		return err
	}
	if e.Last() == 0 {
		if e != ledger.NewEdge(s.Genesis()) {
			return ledger.Corruptf("edge", "not that of an empty log with this genesis")
		}
		return e.CheckForks(s.Genesis())
	}
	err = s.Entries(ctx, e.Last(), e.Last(), func(seq uint64, l *Logged) error {
		record := l.Record(seq)
		version, digest := e.Policy()
		switch {
		case l.node(0) != record.Leaf():
			return ledger.Corruptf(fmt.Sprintf("request %d", seq), "not what the log's tree holds")
		case l.Commitment != e.Commitment():
			return ledger.Corruptf("edge", "commits to another state than request %d", seq)
		case version != PolicyAfter(&l.Entry) || digest != l.Entry.PolicyDigest || !e.Time().Equal(l.Entry.Time):
			return ledger.Corruptf("edge", "has another policy or time than request %d", seq)
		}
		return nil
	})
	if err != nil {
		return err
	}
	hashes := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		hashes, err := s.Hashes(ctx, indexes)
		if errors.Is(err, ledger.ErrNoLeaf) {
			err = ledger.Corruptf("log", "a request is missing from it: %v", err)
		}
		return hashes, err
	})
	leaves := int64(e.Last() + 1)
	switch root, err := tlog.TreeHash(leaves, hashes); {
	case err != nil:
		return err
	case root != e.Root():
		return ledger.Corruptf("edge", "not that of the log's tree")
	}
	first, err := tlog.ProveRecord(leaves, 0, hashes)
	if err != nil {
		return err
	}
	if tlog.CheckRecord(first, leaves, e.Root(), 0, s.Genesis().Leaf()) != nil {
		return ledger.Corruptf("genesis", "not that of the log's tree")
	}
	for _, f := range s.Genesis().Forks {
		if f.Last >= e.Last() {
			break
		}
		if root, err := tlog.TreeHash(int64(f.Last+1), hashes); err != nil {
			return err
		} else if root != f.Root {
			return ledger.Corruptf(fmt.Sprintf("request %d", f.Last), "the ledger forks after it, from another history")
		}
	}
	return e.CheckForks(s.Genesis())
}

// verifyStep is the number of entries that Verify reads between two calls of progress.
const verifyStep = 256

// Verify replays the log of a snapshot from the first request. It checks the log's tree, and that the other
// tables and the edge are exactly what the log implies. After some entries at a time it calls progress with the
// number of requests checked so far and the total; progress may be nil.
//
// Between two calls Verify may replace its snapshot by a newer one (Snapshot.Renew). The newer snapshot
// contains everything that the one before had, and more. So the effects of an entry can be looked up in any
// snapshot that has the entry. A token that was unspent may be spent in a later snapshot, by an entry that
// Verify has yet to read. The result therefore holds for the last snapshot. Verify returns its edge.
func Verify(ctx context.Context, s Snapshot, progress func(done, total uint64)) (ledger.Edge, error) {
	if err := CheckEdge(ctx, s); err != nil { // names the end of the log where that is wrong
		return ledger.Edge{}, err
	}
	total, err := s.Edge(ctx)
	if err != nil {
		return ledger.Edge{}, err
	}
	v := verifier{Snapshot: s, edge: ledger.NewEdge(s.Genesis())}
	if err := v.edge.CheckForks(s.Genesis()); err != nil {
		return ledger.Edge{}, err
	}
	for v.edge.Last() < total.Last() {
		if err := ctx.Err(); err != nil {
			return ledger.Edge{}, err
		}
		done := v.edge.Last()
		if err := s.Entries(ctx, done+1, min(done+verifyStep, total.Last()), v.record); err != nil {
			return ledger.Edge{}, err
		}
		if progress != nil {
			progress(v.edge.Last(), total.Last())
		}
		renewed, err := s.Renew(ctx, total.Last()-v.edge.Last())
		if renewed {
			total, err = s.Edge(ctx)
		}
		if err != nil {
			return ledger.Edge{}, err
		}
	}
	if v.edge != total {
		return ledger.Edge{}, ledger.Corruptf("edge", "not what the log leads to")
	}
	if err := complete(s.Genesis(), &v.edge); err != nil {
		return ledger.Edge{}, err
	}
	return v.edge, v.counts(ctx)
}

// verifier replays a log. It looks up the effects of each entry in the tables, where every record
// names the entries that created and spent it. So each effect in the log has its own record. If
// there are as many records as effects, each record has its effect too, and no two entries create
// or spend one token.
type verifier struct {
	Snapshot
	edge                     ledger.Edge
	entries, creates, spends uint64
}

// record checks the next record of the log, and what it does to the tables.
func (v *verifier) record(seq uint64, l *Logged) error {
	place := fmt.Sprintf("request %d", seq)
	if err := v.edge.CheckEntry(&l.Entry); err != nil {
		return ledger.Corruptf(place, "%v", err)
	}
	if commitment, nodes := v.edge.Append(&l.Entry, l.Raw); !bytes.Equal(After(commitment, nodes), l.after) {
		return ledger.Corruptf(place, "not what the log's tree or its state commitment holds")
	}
	if err := v.edge.CheckForks(v.Genesis()); err != nil {
		return err
	}
	return v.entry(seq, &l.Entry)
}

// entry checks that the tables contain what the entry does.
func (v *verifier) entry(seq uint64, e *ledger.Entry) error {
	place := func(format string, args ...any) string {
		return fmt.Sprintf("request %d: ", seq) + fmt.Sprintf(format, args...)
	}
	a, found, err := v.Anchor(e.Anchor)
	switch {
	case err != nil:
		return ledger.Corruptf(place("anchor"), "%v", err)
	case !found:
		return ledger.Corruptf(place("anchor"), "not in anchors")
	case a.Seq != seq || a.Digest != e.Digest:
		return ledger.Corruptf(place("anchor"), "recorded with request %d, or with another digest", a.Seq)
	}
	for i, id := range e.Spends {
		s, err := v.State(id)
		if err != nil {
			return ledger.Corruptf(place("spend %d", i), "%v", err)
		}
		if s.Status != Spent || s.Spent != seq {
			return ledger.Corruptf(place("spend %d", i), "token %x is not spent by it", []byte(id))
		}
	}
	for i, c := range e.Creates {
		s, err := v.State(c.ID)
		if err != nil {
			return ledger.Corruptf(place("create %d", i), "%v", err)
		}
		if s.Status == Absent || s.Created != seq || (s.Status == Unspent && !bytes.Equal(s.Token, c.Token)) {
			return ledger.Corruptf(place("create %d", i), "token %x is not the one it creates", []byte(c.ID))
		}
	}
	v.entries++
	v.spends += uint64(len(e.Spends))
	v.creates += uint64(len(e.Creates))
	return nil
}

// counts compares the number of records in each table with the number of effects in the log.
func (v *verifier) counts(ctx context.Context) error {
	for _, t := range []struct {
		name string
		want uint64
	}{
		{TableLog, v.entries},
		{TableAnchors, v.entries},
		{TableTokens, v.creates},
		{TableSpent, v.spends},
	} {
		n, err := v.Count(ctx, t.name)
		if err != nil {
			return err
		}
		if n != t.want {
			return ledger.Corruptf(t.name, "%d records, the log implies %d", n, t.want)
		}
	}
	return nil
}
