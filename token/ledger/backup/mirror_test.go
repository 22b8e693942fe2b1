package backup_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// follow opens a mirror, follows a ledger, and closes the mirror. It returns the mirror's edge.
func follow(t testing.TB, path string, l ledger.Store) (ledger.Edge, error) {
	t.Helper()
	m, err := backup.OpenMirror(path, genesis)
	if err != nil {
		return ledger.Edge{}, err
	}
	err = m.Follow(context.Background(), l, nil)
	must.Do(t, m.Close())
	return m.Edge(), err
}

// mirrored returns the file of a mirror that has followed a ledger.
func mirrored(t testing.TB, l ledger.Store) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	m := must.Get(backup.OpenMirror(path, l.Genesis()))(t)
	must.Do(t, m.Follow(context.Background(), l, nil))
	must.Do(t, m.Close())
	return must.Get(os.ReadFile(path))(t)
}

// teller is a ledger that says of itself what it likes.
type teller struct {
	ledger.Store
	records []ledger.Record
	tree    tree
	edge    ledger.Edge
	told    ledger.State
}

// tellerOf returns a teller with these entries, whose state need not allow them.
func tellerOf(t testing.TB, entries ...ledger.Entry) *teller {
	l := &teller{Store: newLedger(t, genesis, 0, 0), edge: ledger.NewEdge(genesis), tree: tree{genesis.Leaf()}}
	for _, e := range entries {
		commitment, nodes := l.edge.Append(&e, e.Append(nil))
		l.tree = append(l.tree, nodes...)
		l.records = append(l.records, ledger.Record{Seq: l.edge.Last(), Entry: e, Commitment: commitment})
	}
	l.told = l.edge.State(nil)
	return l
}

func (l *teller) State(context.Context) (ledger.State, error) { return l.told, nil }

func (l *teller) Log(_ context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	return func(yield func(ledger.Record, error) bool) {
		for _, r := range l.records[min(int(max(from, 1))-1, len(l.records)):] {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Hashes answers for the tree of the entries that tellerOf got.
func (l *teller) Hashes(_ context.Context, indexes []int64) ([]tlog.Hash, error) {
	return l.tree.ReadHashes(indexes)
}

// tree are the hashes of a log's nodes, in the order of their indexes.
type tree []tlog.Hash

func (t tree) ReadHashes(indexes []int64) (hashes []tlog.Hash, err error) {
	for _, i := range indexes {
		if i >= int64(len(t)) {
			return nil, ledger.ErrNoLeaf
		}
		hashes = append(hashes, t[i])
	}
	return hashes, nil
}

// forged returns a backup in which a token is spent twice.
func forged(t testing.TB) []byte {
	return written(t, tellerOf(t, ledgertest.Issue("a", 1), ledgertest.Spend("b", token.ID("a/0")), ledgertest.Spend("c", token.ID("a/0"))))
}

// repeated returns a backup with one request twice, which a store applies once.
func repeated(t testing.TB) []byte {
	return written(t, tellerOf(t, ledgertest.Issue("a", 0), ledgertest.Issue("a", 0)))
}

// TestMirror follows a ledger that grows, in several turns. The file is the same as after one turn.
func TestMirror(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := newLedger(t, genesis, 0, 0)
	for k := range 20 {
		if k%3 > 0 {
			ledgertest.Apply(t, l, ledgertest.StreamBatch(0, k-k/3-1)...)
		}
		edge := must.Get(follow(t, path, l))(t)
		golden.Equal(t, "root", tlog.Hash(ledgertest.State(t, l).Root), edge.Root())
	}
	if !bytes.Equal(mirrored(t, l), must.Get(os.ReadFile(path))(t)) {
		t.Error("the file depends on when it was written")
	}
}

// TestMirrorMuch follows more than is written at once, and is interrupted after each part.
func TestMirrorMuch(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l := newLedger(t, genesis, 0, 0)
	var all []ledger.Entry
	for k := range 500 {
		all = append(all, ledgertest.StreamBatch(0, k)...)
	}
	ledgertest.Apply(t, l, all...)
	turns := 0
	for done := false; !done; turns++ {
		ctx, cancel := context.WithCancel(t.Context())
		m := must.Get(backup.OpenMirror(path, genesis))(t)
		err := m.Follow(ctx, l, func(n, total uint64) {
			golden.Equal(t, "total", 1500, total)
			done = n == total
			cancel()
		})
		cancel()
		must.Do(t, m.Close())
		if !done {
			must.Fail(t, err, context.Canceled, "interrupted")
		}
	}
	golden.Within(t, "turns", 2, turns, 10)
	if !bytes.Equal(mirrored(t, l), must.Get(os.ReadFile(path))(t)) {
		t.Error("the file depends on when it was interrupted")
	}
}

// TestMirrorCut cuts the file of a mirror off at every byte, as a kill does. It then goes on to the same file.
func TestMirrorCut(t *testing.T) {
	e := ledgertest.Issue("a", 2)
	l := newLedger(t, genesis, 0, 0)
	ledgertest.Apply(t, l, e, ledgertest.Spend("b", e.Creates[0].ID))
	data := mirrored(t, l)
	path := filepath.Join(t.TempDir(), "log")
	for at := range data {
		must.Do(t, os.WriteFile(path, data[:at], 0o600))
		must.Get(follow(t, path, l))(t)
		if !bytes.Equal(data, must.Get(os.ReadFile(path))(t)) {
			t.Fatalf("cut off at byte %d: another file", at)
		}
	}
	for at := range data {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		must.Do(t, os.WriteFile(path, changed, 0o600))
		_, err := follow(t, path, l)
		if err == nil && bytes.Equal(data, must.Get(os.ReadFile(path))(t)) {
			continue // a length that points beyond the file: as if cut off
		}
		if !damaged(err) && !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("changed byte %d: %v", at, err)
		}
	}
}

// TestMirrorRefuses: a ledger that does not continue what a mirror has, or that contradicts itself, adds nothing.
func TestMirrorRefuses(t *testing.T) {
	entries := []ledger.Entry{ledgertest.Issue("a", 1), ledgertest.Issue("b", 1), ledgertest.Issue("c", 1), ledgertest.Issue("d", 1), ledgertest.Issue("e", 1)}
	other := ledgertest.Issue("other", 1)
	told := func(change func(l *teller)) *teller {
		l := tellerOf(t, entries...)
		change(l)
		return l
	}
	without := func(i int) []ledger.Entry { return append(append([]ledger.Entry{}, entries[:i]...), entries[i+1:]...) }
	begin := tellerOf(t, entries[:3]...)
	seen := begin.edge.Tree()
	for name, c := range map[string]struct {
		l     ledger.Store
		now   tlog.Tree // of a *ledger.RolledBackError
		place string    // of a *ledger.CorruptError
	}{
		"shorter":                 {tellerOf(t, entries[:2]...), new(tellerOf(t, entries[:2]...).edge).Tree(), ""},
		"empty":                   {tellerOf(t), new(ledger.NewEdge(genesis)).Tree(), ""},
		"another of that length":  {tellerOf(t, entries[0], entries[1], other), new(tellerOf(t, entries[0], entries[1], other).edge).Tree(), ""},
		"another one, longer":     {tellerOf(t, entries[1:]...), new(tellerOf(t, entries[1:]...).edge).Tree(), ""},
		"a hole":                  {told(func(l *teller) { l.records = append(l.records[:3:3], l.records[4:]...) }), tlog.Tree{}, "request 4"},
		"a record exchanged":      {told(func(l *teller) { l.records[3].Entry = other }), tlog.Tree{}, "request 4"},
		"another commitment":      {told(func(l *teller) { l.records[4].Commitment[0] ^= 1 }), tlog.Tree{}, "request 5"},
		"a signature changed":     {told(func(l *teller) { l.records[3].Request = []byte("changed") }), tlog.Tree{}, "log"},
		"ends early":              {told(func(l *teller) { l.records = l.records[:4] }), tlog.Tree{}, "log"},
		"another state":           {told(func(l *teller) { l.told.Commitment[0] ^= 1 }), tlog.Tree{}, "log"},
		"another ledger's policy": {tellerOf(t, append(without(3), ledgertest.UnderPolicy(7, other))...), tlog.Tree{}, "request 5"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			must.Get(follow(t, path, begin))(t)
			_, err := follow(t, path, c.l)
			if c.place != "" {
				ledgertest.Corrupt(t, err, c.place, name)
			} else if back, ok := errors.AsType[*ledger.RolledBackError](err); !ok || back.Seen != seen || back.Now != c.now || !errors.Is(err, ledger.ErrRolledBack) {
				t.Errorf("%v, want %v after %v", err, c.now, seen)
			}
			if edge := must.Get(follow(t, path, tellerOf(t, entries...)))(t); edge.Last() != 5 { // the honest ledger goes on
				t.Errorf("%d requests", edge.Last())
			}
		})
	}
}

// TestMirrorFile: files that are not a mirror's of this ledger are refused and left as they are.
func TestMirrorFile(t *testing.T) {
	l := newLedger(t, genesis, 0, 1)
	for name, c := range map[string]struct {
		data  []byte
		cause error
	}{
		"something short": {[]byte("a"), zkbench.ErrMalformed},
		"something long":  {bytes.Repeat([]byte("long "), 100), zkbench.ErrMalformed},
		"a backup":        {written(t, l), zkbench.ErrMalformed},
		"another ledger":  {mirrored(t, newLedger(t, ledger.Genesis{}, 0, 1)), zkbench.ErrParams},
	} {
		path := filepath.Join(t.TempDir(), "log")
		must.Do(t, os.WriteFile(path, c.data, 0o600))
		_, err := follow(t, path, l)
		must.Fail(t, err, c.cause, "%s", name)
		if !bytes.Equal(c.data, must.Get(os.ReadFile(path))(t)) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	path := filepath.Join(t.TempDir(), "log")
	m := must.Get(backup.OpenMirror(path, genesis))(t)
	defer m.Close()
	must.Fail(t, m.Follow(t.Context(), newLedger(t, ledger.Genesis{}, 0, 1), nil), zkbench.ErrParams, "a ledger with another id")
	must.Get(follow(t, path, l))(t) // a second mirror of the same file
	if err := m.Follow(t.Context(), l, nil); !errors.As(err, new(*ledger.ReplacedError)) {
		t.Errorf("%v, want the file of another mirror", err)
	}
	if _, err := backup.OpenMirror(t.TempDir(), genesis); err == nil {
		t.Error("a directory is opened")
	}
}
