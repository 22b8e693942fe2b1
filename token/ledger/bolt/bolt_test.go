package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// store is a file, created when it is first opened.
type file string

func (s file) Open() (ledger.Ledger, error) {
	if _, err := os.Stat(string(s)); errors.Is(err, fs.ErrNotExist) {
		return Create(string(s))
	}
	return Open(string(s))
}

func (s file) Verify(ctx context.Context, l ledger.Ledger) error {
	return l.(*Ledger).Verify(ctx, nil)
}

func TestModel(t *testing.T) {
	ledgertest.Model(t, func(r *rapid.T) ledgertest.Store {
		dir := must.Get(os.MkdirTemp("", "ledger"))(r)
		t.Cleanup(func() { os.RemoveAll(dir) })
		return file(filepath.Join(dir, "ledger.db"))
	})
}

func newLedger(t testing.TB) (*Ledger, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := must.Get(Create(path))(t)
	t.Cleanup(func() { _ = l.Close() })
	return l, path
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

// TestVerifyWhileApplying: a snapshot is sound whatever is written meanwhile.
func TestVerifyWhileApplying(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.VerifyWhileApplying(t, l)
}

// TestGroup: calls that wait together are one transaction; one that is rejected
// among them takes nothing else with it.
func TestGroup(t *testing.T) {
	l, _ := newLedger(t)
	apply(t, l, ledgertest.Issue("a", 2))
	before := txid(t, l)
	batches := [][]ledger.Entry{
		{ledgertest.Spend("b", token.ID("a/0"))},
		{ledgertest.Spend("f", token.ID("a/1"), token.ID("b/0"))},
		{ledgertest.Issue("c", 1), ledgertest.Spend("d", token.ID("a/0"))}, // the second is a double spend
		{ledgertest.Spend("e", token.ID("c/0"))},                           // of what was rejected with it
	}
	var calls []*store.Call
	for _, b := range batches {
		c := must.Get(store.NewCall(context.Background(), b, false))(t)
		calls = append(calls, c)
	}
	l.queue.Exclusive(func() {
		must.Do(t, l.apply(calls))
	})
	for i, want := range []error{nil, nil, zkbench.ErrSpent, ledger.ErrNotFound} {
		if err := calls[i].Err(); !errors.Is(err, want) {
			t.Errorf("batch %d: %v, want %v", i, err, want)
		}
	}
	if got := txid(t, l); got != before+1 {
		t.Errorf("%d transactions, want 1", got-before)
	}
	verify(t, l)
}

// txid is the number of the last transaction.
func txid(t *testing.T, l *Ledger) (id int) {
	t.Helper()
	must.Do(t, l.view(func(tx *bbolt.Tx) error { id = tx.ID(); return nil }))
	return id
}

// settings changes options of the ledger's store.
func settings(t testing.TB, l *Ledger, set func(*bbolt.DB)) {
	t.Helper()
	must.Do(t, l.view(func(tx *bbolt.Tx) error { set(tx.DB()); return nil }))
}

// empty makes the file of an empty ledger, with pages of so many bytes.
func empty(t testing.TB, path string, pageSize int) {
	t.Helper()
	db := must.Get(bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize}))(t)
	must.Do(t, errors.Join(db.Update(initialize), db.Close()))
}

// TestCancel: a call whose context ends before a writer has it applies nothing.
func TestCancel(t *testing.T) {
	l, _ := newLedger(t)
	ctx, cancel := context.WithCancel(context.Background())
	l.queue.Exclusive(func() {
		result := make(chan error)
		go func() { result <- l.Apply(ctx, []ledger.Entry{ledgertest.Issue("a", 1)}) }()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	if _, err := l.Token(context.Background(), token.ID("a/0")); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("%v", err)
	}
	ledgertest.Canceled(ctx, t, l)
}

func TestBatchLimits(t *testing.T) {
	l, _ := newLedger(t)
	ctx := context.Background()
	var limit *zkbench.LimitError
	if err := l.Apply(ctx, make([]ledger.Entry, ledger.MaxBatch+1)); !errors.As(err, &limit) || limit.Max != ledger.MaxBatch {
		t.Errorf("%v", err)
	}
	large := make([]ledger.Entry, 5)
	for i := range large {
		large[i] = ledgertest.Issue(fmt.Sprint(i), 1)
		large[i].Request = make([]byte, token.MaxRequest)
	}
	if err := l.Apply(ctx, large); !errors.As(err, &limit) || limit.Max != ledger.MaxBatchBytes {
		t.Errorf("%v", err)
	}
	rejected, err := l.ApplyEach(ctx, []ledger.Entry{{}, ledgertest.Issue("a", 1)})
	if err != nil || !errors.Is(rejected[0], zkbench.ErrLimit) || rejected[1] != nil {
		t.Errorf("%v, %v", rejected, err)
	}
	verify(t, l)
}

// TestLargest: an entry at the limit of the request's size, whose page has
// thousands of overflow pages.
func TestLargest(t *testing.T) {
	l, path := newLedger(t)
	e := ledgertest.Issue("a", ledger.MaxCreates)
	e.Request = bytes.Repeat([]byte{7}, token.MaxRequest)
	apply(t, l, e)
	apply(t, l, ledgertest.Spend("b", token.ID("a/0")))
	must.Do(t, l.Close())
	l = must.Get(Open(path))(t)
	defer l.Close()
	verify(t, l)
	for r, err := range l.Log(context.Background(), 1) {
		if err != nil || (r.Seq == 1 && !bytes.Equal(r.Request, e.Request)) {
			t.Fatalf("request %d: %v", r.Seq, err)
		}
	}
}

// TestCommitFails: when a commit fails the caller learns that the outcome is
// unknown, the ledger does nothing more, and opening it again tells.
func TestCommitFails(t *testing.T) {
	l, path := newLedger(t)
	ctx := context.Background()
	apply(t, l, ledgertest.Issue("a", 1))
	settings(t, l, func(db *bbolt.DB) { db.MaxSize = 1 }) // bbolt refuses to grow the file while it commits
	big := ledgertest.Issue("b", 1)
	big.Request = make([]byte, 1<<20)
	if err := l.Apply(ctx, []ledger.Entry{big}); !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Fatalf("%v", err)
	}
	if err := l.Apply(ctx, []ledger.Entry{ledgertest.Issue("c", 1)}); !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	if _, err := l.Token(ctx, token.ID("a/0")); !errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("%v", err)
	}
	must.Do(t, l.Close())
	l = must.Get(Open(path))(t)
	defer l.Close()
	if _, found, err := l.Digest(ctx, big.Anchor); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	apply(t, l, big, ledgertest.Spend("c", token.ID("a/0")))
	verify(t, l)
}

func TestClosed(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Closed(t, l)
}

// TestWrongFile: each is refused with its own error, and not written to.
func TestWrongFile(t *testing.T) {
	write := func(data []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			must.Do(t, os.WriteFile(path, data, 0o600))
		}
	}
	edit := func(change func(tx *bbolt.Tx) error) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			empty(t, path, os.Getpagesize())
			db := must.Get(bbolt.Open(path, 0o600, nil))(t)
			must.Do(t, errors.Join(db.Update(change), db.Close()))
		}
	}
	key := []byte(formatKey)
	for name, c := range map[string]struct {
		make func(*testing.T, string)
		want error
	}{
		"missing":        {func(*testing.T, string) {}, fs.ErrNotExist},
		"folder":         {func(t *testing.T, path string) { _ = os.Mkdir(path, 0o700) }, zkbench.ErrEnv},
		"empty":          {write(nil), zkbench.ErrMalformed},
		"short":          {write([]byte("ledger")), zkbench.ErrMalformed},
		"text":           {write(bytes.Repeat([]byte("not a ledger\n"), 10000)), zkbench.ErrMalformed},
		"another bbolt":  {edit(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(bucketMeta)) }), zkbench.ErrMalformed},
		"missing bucket": {edit(func(tx *bbolt.Tx) error { return tx.DeleteBucket([]byte(store.TableSpent)) }), zkbench.ErrMalformed},
		"version 2": {edit(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketMeta)).Put(key, boltfile.Seal(bucketMeta, key, binary.BigEndian.AppendUint32(nil, 2)))
		}), zkbench.ErrMalformed},
		"bbolt version 3": {func(t *testing.T, path string) {
			empty(t, path, os.Getpagesize())
			data := must.Get(os.ReadFile(path))(t)
			binary.NativeEndian.PutUint32(data[headerLen+4:], 3)
			write(data)(t, path)
		}, zkbench.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			c.make(t, path)
			before, _ := os.ReadFile(path)
			l, err := Open(path)
			if !errors.Is(err, c.want) {
				if err == nil {
					_ = l.Close()
				}
				t.Fatalf("%v, want %v", err, c.want)
			}
			var d *zkbench.DecodeError
			if isVersion := name == "version 2" || name == "bbolt version 3"; isVersion != errors.As(err, &d) {
				t.Errorf("%v", err)
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
				t.Error("the file was written to")
			}
		})
	}
}

func TestLocked(t *testing.T) {
	l, path := newLedger(t)
	before := must.Get(os.ReadFile(path))(t)
	if _, err := Open(path); !errors.Is(err, ledger.ErrLocked) || !errors.Is(err, zkbench.ErrEnv) {
		t.Errorf("%v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was written to, or %v", err)
	}
	if _, err := Create(path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("%v", err)
	}
	apply(t, l, ledgertest.Issue("a", 1))
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || len(left) != 1 {
		t.Errorf("files %v, %v", left, err)
	}
}
