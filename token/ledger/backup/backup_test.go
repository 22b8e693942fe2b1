package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/backup"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// server is the database of the test binary.
var server pgtest.Server

func TestMain(m *testing.M) {
	code := m.Run()
	server.Stop()
	os.Exit(code)
}

// aHead is a head without the signatures, which this package does not read.
var aHead = []byte(head.Head{Ledger: genesis.ID(), Size: 3}.Checkpoint() + "\n")

var genesis = ledger.Genesis{Nonce: [32]byte{1}}

// newLedger returns a ledger with a genesis and with some batches of the stream of that number.
func newLedger(t testing.TB, g ledger.Genesis, stream, batches int) *bolt.Ledger {
	t.Helper()
	l := must.Get(bolt.Create(filepath.Join(t.TempDir(), replay.FileName), g))(t)
	t.Cleanup(func() { _ = l.Close() })
	for k := range batches {
		ledgertest.Apply(t, l, ledgertest.StreamBatch(stream, k)...)
	}
	return l
}

// written returns a backup of a ledger.
func written(t testing.TB, l ledger.Store) []byte {
	t.Helper()
	var out bytes.Buffer
	s := must.Get(backup.Write(context.Background(), &out, l, nil))(t)
	if want := ledgertest.State(t, l); !cmp.Equal(want, s) {
		t.Errorf("the backup has state %+v, want %+v", s, want)
	}
	return out.Bytes()
}

// restored restores a ledger into a file and opens it. The log is nil if there is none.
func restored(t testing.TB, data, log []byte) *bolt.Ledger {
	t.Helper()
	path := filepath.Join(t.TempDir(), replay.FileName)
	report := must.Get(backup.Restore(context.Background(), path, bytes.NewReader(data), reader(log), nil))(t)
	l := must.Get(bolt.Open(path))(t)
	t.Cleanup(func() { _ = l.Close() })
	if s := ledgertest.State(t, l); s.Root != report.Edge.Root() || s.Last != report.Edge.Last() {
		t.Errorf("%+v, reported were %d requests", s, report.Edge.Last())
	}
	return l
}

// reader returns a reader of a log, or nil if there is none.
func reader(log []byte) io.Reader {
	if log == nil {
		return nil
	}
	return bytes.NewReader(log)
}

// same checks that two ledgers are equal.
func same(t testing.TB, want, got ledger.Store) {
	t.Helper()
	if diff := cmp.Diff(ledgertest.State(t, want), ledgertest.State(t, got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(ledgertest.Records(t, want, 0), ledgertest.Records(t, got, 0)); diff != "" {
		t.Error(diff)
	}
	golden.Equal(t, "genesis", want.Genesis().ID(), got.Genesis().ID())
	golden.Equal(t, "head", string(must.Get(want.Head(t.Context()))(t)), string(must.Get(got.Head(t.Context()))(t)))
}

// whole returns a ledger that has everything which a ledger can have.
func whole(t testing.TB) *bolt.Ledger {
	t.Helper()
	l := newLedger(t, genesis, 0, 3)
	ledgertest.Apply(t, l, ledgertest.AtSecond(100, ledgertest.Update(0)))
	ledgertest.Apply(t, l, ledgertest.AtSecond(200, ledgertest.UnderPolicy(1, ledgertest.Spend("paid", token.ID("0/2/2/0")))))
	must.Do(t, l.ApplyState(context.Background(), nil, []byte("height 7")))
	must.Do(t, l.PutHead(context.Background(), 3, aHead, true))
	return l
}

func TestRestore(t *testing.T) {
	for name, l := range map[string]*bolt.Ledger{"empty": newLedger(t, genesis, 0, 0), "long": newLedger(t, genesis, 0, 30), "whole": whole(t)} {
		t.Run(name, func(t *testing.T) {
			data := written(t, l)
			copied := restored(t, data, nil)
			same(t, l, copied)
			must.Get(copied.Verify(t.Context(), nil))(t)
			if again := written(t, copied); !bytes.Equal(again, data) {
				t.Error("the backup of what was restored is another one")
			}
		})
	}
}

// TestRestoreFork: a fork is restored with the records of its parent.
func TestRestoreFork(t *testing.T) {
	parent := whole(t)
	path := filepath.Join(t.TempDir(), "fork.db")
	must.Get(replay.Fork(t.Context(), parent, path, 9, nil))(t)
	fork := must.Get(bolt.Open(path))(t)
	defer fork.Close()
	ledgertest.Apply(t, fork, ledgertest.AtSecond(300, ledgertest.Issue("of the fork", 1)))
	same(t, fork, restored(t, written(t, fork), nil))
}

// TestRestoreToDatabase moves a ledger from a file to a database, and back.
func TestRestoreToDatabase(t *testing.T) {
	ctx := t.Context()
	l := whole(t)
	url := server.URL(t)
	data := written(t, l)
	must.Get(backup.Restore(ctx, url, bytes.NewReader(data), nil, nil))(t)
	moved := must.Get(replay.Open(ctx, url))(t)
	defer moved.Close()
	same(t, l, moved)
	same(t, l, restored(t, written(t, moved), nil))
	if _, err := backup.Restore(ctx, url, bytes.NewReader(data), nil, nil); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v, want the ledger that is there to stay", err)
	}
}

// busy is a writer that changes a ledger while it is backed up.
type busy struct {
	bytes.Buffer
	change func()
}

func (b *busy) Write(data []byte) (int, error) {
	b.change()
	return b.Buffer.Write(data)
}

// TestWriteWhileUsed: a backup has the ledger as it was when it was begun.
func TestWriteWhileUsed(t *testing.T) {
	l := newLedger(t, genesis, 0, 30)
	before := ledgertest.State(t, l)
	k := 0
	out := busy{change: func() {
		ledgertest.Apply(t, l, ledgertest.StreamBatch(1, k)...)
		must.Do(t, l.ApplyState(t.Context(), nil, fmt.Append(nil, k)))
		k++
	}}
	s := must.Get(backup.Write(t.Context(), &out, l, nil))(t)
	if k < 3 || !cmp.Equal(before, s) {
		t.Errorf("%d changes; %+v, want %+v", k, s, before)
	}
	if after := ledgertest.State(t, restored(t, out.Bytes(), nil)); !cmp.Equal(before, after) {
		t.Errorf("restored %+v, want %+v", after, before)
	}
}

// damaged reports whether an error says that a file is damaged.
func damaged(err error) bool {
	return errors.As(err, new(*zkbench.DecodeError)) || errors.As(err, new(*ledger.CorruptError))
}

// TestRestoreDamaged cuts a backup off at every byte, and changes every byte. No ledger appears.
func TestRestoreDamaged(t *testing.T) {
	l := newLedger(t, genesis, 0, 0)
	e := ledgertest.Issue("a", 2)
	ledgertest.Apply(t, l, e, ledgertest.Spend("b", e.Creates[0].ID))
	must.Do(t, l.ApplyState(t.Context(), nil, []byte("state")))
	must.Do(t, l.PutHead(t.Context(), 3, aHead, true))
	data := written(t, l)
	dir := t.TempDir()
	refused := func(what string, at int, changed []byte) {
		t.Helper()
		_, err := backup.Restore(t.Context(), filepath.Join(dir, "l.db"), bytes.NewReader(changed), nil, nil)
		if !damaged(err) || !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s byte %d: %v", what, at, err)
		}
	}
	const step = 5 // a file system is asked for each
	for at := 0; at < len(data); at += step {
		refused("cut off at", at, data[:at])
		changed := bytes.Clone(data)
		changed[at] ^= 1
		refused("changed", at, changed)
	}
	refused("longer by a", len(data), append(bytes.Clone(data), 0))
	if left := must.Get(os.ReadDir(dir))(t); len(left) > 0 {
		t.Errorf("%v is left", left[0])
	}
}

// TestRestoreRefuses lists what is not restored.
func TestRestoreRefuses(t *testing.T) {
	l := newLedger(t, genesis, 0, 2)
	data := written(t, l)
	taken := filepath.Join(t.TempDir(), "taken.db")
	must.Do(t, os.WriteFile(taken, []byte("a file"), 0o600))
	for name, c := range map[string]struct {
		place     string
		data, log []byte
		cause     error
		says      string
	}{
		"a file is there":         {taken, data, nil, fs.ErrExist, ""},
		"no such folder":          {filepath.Join(t.TempDir(), "none", "l.db"), data, nil, fs.ErrNotExist, ""},
		"a mirror's log":          {"", mirrored(t, l), nil, zkbench.ErrMalformed, "first line at byte 0: want \"zkbench ledger backup 1\""},
		"a backup as the log":     {"", data, data, zkbench.ErrMalformed, "log: "},
		"the log of another":      {"", data, mirrored(t, newLedger(t, ledger.Genesis{}, 0, 1)), zkbench.ErrParams, "the backup is of ledger"},
		"another history":         {"", data, mirrored(t, newLedger(t, genesis, 1, 3)), ledger.ErrRolledBack, "the log does not begin with the backup"},
		"a token is spent before": {"", forged(t), nil, zkbench.ErrMalformed, "request 3: spend 0: token is spent"},
		"an anchor is repeated":   {"", repeated(t), nil, zkbench.ErrMalformed, "log"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.place == "" {
				c.place = filepath.Join(t.TempDir(), replay.FileName)
			}
			_, err := backup.Restore(t.Context(), c.place, bytes.NewReader(c.data), reader(c.log), nil)
			must.Fail(t, err, c.cause, "%s", name)
			golden.Contains(t, err.Error(), c.says)
			if got, err := os.ReadFile(c.place); err == nil && string(got) != "a file" {
				t.Error("a ledger is there")
			}
		})
	}
	if got := must.Get(os.ReadFile(taken))(t); string(got) != "a file" {
		t.Error("the file was written")
	}
}

// TestRestoreWithLog restores a backup with the records that a mirror has kept after it.
func TestRestoreWithLog(t *testing.T) {
	l := newLedger(t, genesis, 0, 2)
	must.Do(t, l.ApplyState(t.Context(), nil, []byte("height 2")))
	early, data := mirrored(t, l), written(t, l)
	ledgertest.Apply(t, l, ledgertest.StreamBatch(0, 2)...)
	ledgertest.Apply(t, l, ledgertest.StreamBatch(0, 3)...)
	log := mirrored(t, l)
	same(t, l, restored(t, data, log))
	golden.Equal(t, "requests of a log whose last one is cut off", 11, len(ledgertest.Records(t, restored(t, data, log[:len(log)-1]), 0)))
	copied := restored(t, written(t, l), early) // a log that ends before the backup
	same(t, l, copied)
	must.Get(copied.Verify(t.Context(), nil))(t)
}
