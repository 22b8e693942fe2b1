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
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/boltfile"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// files creates and opens ledgers of this package.
var files = ledgertest.Stores{
	Place:  func(t testing.TB) string { return filepath.Join(t.TempDir(), "ledger.db") },
	Create: func(_ testing.TB, path string, g ledger.Genesis) (ledgertest.Verifier, error) { return Create(path, g) },
	Open:   func(_ testing.TB, path string) (ledgertest.Verifier, error) { return Open(path) },
}

func TestContract(t *testing.T) { ledgertest.Contract(t, files) }

func newLedger(t testing.TB) (*Ledger, string) {
	t.Helper()
	l, path := files.New(t)
	return l.(*Ledger), path
}

// TestGroup: calls that are committed together are one transaction.
func TestGroup(t *testing.T) {
	l, _ := newLedger(t)
	var before int
	ledgertest.Group(t, l, func(calls []*store.Call) (err error) {
		before = txid(t, l)
		l.queue.Exclusive(func() { err = l.apply(calls) })
		return err
	})
	golden.Equal(t, "the last transaction", before+1, txid(t, l))
}

// TestUndecided: Decide begins no transaction that writes, and leaves every bucket as it is.
func TestUndecided(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Undecided(t, l, func() string {
		all := fmt.Sprintln(txid(t, l))
		must.Do(t, l.view(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
				return b.ForEach(func(key, value []byte) error {
					all += fmt.Sprintf("%s %x %x\n", name, key, value)
					return nil
				})
			})
		}))
		return all
	})
}

func TestCancel(t *testing.T) {
	l, _ := newLedger(t)
	ledgertest.Canceled(t, l, l.queue.Exclusive)
}

// txid returns the number of the last transaction.
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

// empty creates the file of an empty ledger with the given page size in bytes.
func empty(t testing.TB, path string, pageSize int) {
	t.Helper()
	db := must.Get(bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize}))(t)
	must.Do(t, errors.Join(db.Update(func(tx *bbolt.Tx) error { return initialize(tx, ledger.Genesis{}) }), db.Close()))
}

// TestCommitFails: when a commit fails the caller learns that the outcome is
// unknown, the ledger does nothing more, and opening it again tells.
func TestCommitFails(t *testing.T) {
	l, path := newLedger(t)
	ctx := context.Background()
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	settings(t, l, func(db *bbolt.DB) { db.MaxSize = 1 }) // bbolt refuses to grow the file while it commits
	big := ledgertest.Issue("b", 1)
	big.Request = make([]byte, 1<<20)
	if err := l.Apply(ctx, []ledger.Entry{big}); !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Fatalf("%v", err)
	}
	if err := l.Apply(ctx, []ledger.Entry{ledgertest.Issue("c", 1)}); !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	must.FailGet(l.Token(ctx, token.ID("a/0")))(t, zkbench.ErrEnv, "read after it")
	must.Do(t, l.Close())
	l = must.Get(Open(path))(t)
	defer l.Close()
	if _, found, err := l.Record(ctx, big.Anchor); found || err != nil {
		t.Errorf("%v, %v", found, err)
	}
	ledgertest.Apply(t, l, big, ledgertest.Spend("c", token.ID("a/0")))
	ledgertest.Verify(t, l)
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
		"version 3": {edit(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucketMeta)).Put(key, boltfile.Seal(bucketMeta, key, binary.BigEndian.AppendUint32(nil, 3)))
		}), zkbench.ErrMalformed},
		"version 5": {edit(func(tx *bbolt.Tx) error { // as it was without a tree
			meta := tx.Bucket([]byte(bucketMeta))
			_, err := tx.CreateBucket([]byte("chain"))
			genesis := ledger.Genesis{}
			return errors.Join(err, tx.DeleteBucket([]byte(store.TableHeads)), meta.Delete([]byte(edgeKey)),
				meta.Put(key, boltfile.Seal(bucketMeta, key, genesis.Append(binary.BigEndian.AppendUint32(nil, 5)))))
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
			if isVersion := strings.Contains(name, "version"); isVersion != errors.As(err, &d) {
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
	must.FailGet(Create(path, ledger.Genesis{}))(t, fs.ErrExist, "created twice")
	ledgertest.Apply(t, l, ledgertest.Issue("a", 1))
	golden.Equal(t, "files", 1, len(must.Get(filepath.Glob(filepath.Join(filepath.Dir(path), "*")))(t)))
}
