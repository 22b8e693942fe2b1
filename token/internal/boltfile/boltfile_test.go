package boltfile

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

var bucket = []byte("numbers")

func initialize(tx *bbolt.Tx) error {
	_, err := tx.CreateBucket(bucket)
	return err
}

func anything(*bbolt.Tx) error { return nil }

func newFile(t *testing.T) (f *File, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "file")
	must.Do(t, Create(path, initialize))
	f = must.Get(Open(path, anything))(t)
	return f, path
}

func putNumber(n uint64) func(*bbolt.Tx) error {
	return func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).Put(binary.BigEndian.AppendUint64(nil, n), []byte("x"))
	}
}

func count(t *testing.T, f *File) (n int) {
	t.Helper()
	must.Do(t, f.View(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucket).ForEach(func(_, _ []byte) error { n++; return nil })
	}))
	return n
}

// TestUpdate: calls that share a transaction are each done or not, whatever the others
// come to.
func TestUpdate(t *testing.T) {
	f, path := newFile(t)
	odd := errors.New("odd")
	var wg sync.WaitGroup
	for n := range uint64(64) {
		wg.Go(func() {
			err := f.Update(t.Context(), func(tx *bbolt.Tx) error {
				if err := putNumber(n)(tx); err != nil {
					return err
				}
				if n%2 == 1 {
					return odd // after it has written
				}
				return nil
			})
			golden.Equal(t, fmt.Sprintf("%d (%v): refused", n, err), n%2 == 1, errors.Is(err, odd))
		})
	}
	wg.Wait()
	golden.Equal(t, "written", 32, count(t, f))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Update(ctx, putNumber(100)); !errors.Is(err, context.Canceled) || count(t, f) != 32 {
		t.Errorf("a call that was cancelled before: %v", err)
	}
	must.Do(t, f.Close())
	for what, err := range map[string]error{"update": f.Update(t.Context(), putNumber(1)), "view": f.View(anything), "close": f.Close()} {
		must.Fail(t, err, fs.ErrClosed, "%s after closing", what)
	}
	f, err := Open(path, anything)
	if err != nil || count(t, f) != 32 {
		t.Errorf("opened again: %v", err)
	}
	must.Do(t, f.Close())
}

// TestWrite: a transaction is done whole or not at all, and one that its work refuses
// does not stop the file.
func TestWrite(t *testing.T) {
	f, _ := newFile(t)
	defer f.Close()
	odd := errors.New("odd")
	err := f.Write(func(tx *bbolt.Tx) error { return errors.Join(putNumber(1)(tx), odd) })
	if !errors.Is(err, odd) || count(t, f) != 0 {
		t.Errorf("refused: %v, %d written", err, count(t, f))
	}
	err = f.Write(func(tx *bbolt.Tx) error { return errors.Join(putNumber(1)(tx), putNumber(2)(tx)) })
	if err != nil || count(t, f) != 2 {
		t.Errorf("%v, %d written", err, count(t, f))
	}
}

// TestVisible: nobody begins to read while a commit, which bbolt shows already, may not
// be durable, nor after one of which nobody knows what came of it.
func TestVisible(t *testing.T) {
	f, _ := newFile(t)
	defer f.Close()
	read := func() bool {
		free := f.visible.TryRLock()
		if free {
			f.visible.RUnlock()
		}
		return free
	}
	shown := false
	err := f.Write(func(tx *bbolt.Tx) error {
		if !read() {
			t.Error("readers wait for work")
		}
		tx.OnCommit(func() {
			if shown = true; read() {
				t.Error("readers do not wait for a commit")
			}
		})
		return putNumber(1)(tx)
	})
	if err != nil || !shown || !read() {
		t.Errorf("%v, committed %v, readers go on %v", err, shown, read())
	}
	err = f.Write(func(tx *bbolt.Tx) error {
		tx.OnCommit(func() { panic("after the commit") })
		return putNumber(2)(tx)
	})
	if !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	ledgertest.Corrupt(t, f.View(anything), "", "went on to read")
}

// TestSnapshot: a snapshot stays what it was while others write, and its pages are
// checked as they are on the disk.
func TestSnapshot(t *testing.T) {
	f, path := newFile(t)
	defer f.Close()
	large := []byte("large") // leaves free pages, so that the file need not grow
	for _, work := range []func(*bbolt.Tx) error{
		func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Put(large, make([]byte, 1<<20)) },
		func(tx *bbolt.Tx) error { return tx.Bucket(bucket).Delete(large) },
		putNumber(1),
	} {
		must.Do(t, f.Write(work))
	}
	tx := must.Get(f.Snapshot())(t)
	defer tx.Rollback()
	must.Do(t, f.Write(putNumber(2)))
	if n := tx.Bucket(bucket).Stats().KeyN; n != 1 || count(t, f) != 2 {
		t.Errorf("%d in the snapshot, %d outside, want 1 and 2", n, count(t, f))
	}
	must.Do(t, f.CheckPages(tx), "a sound snapshot")
	root := int64(tx.Cursor().Bucket().Root()) * int64(os.Getpagesize())
	file := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
	_, err := file.WriteAt([]byte{0xff}, root) // the page's number
	must.Do(t, errors.Join(err, file.Close()))
	ledgertest.Corrupt(t, f.CheckPages(tx), "", "a damaged page")
}

// TestStop: a file that is told to stop answers why, the first time counts, and it
// closes.
func TestStop(t *testing.T) {
	f, _ := newFile(t)
	reason := ledger.Corruptf("record", "damaged")
	f.Stop(fmt.Errorf("%w, found by a reader", reason))
	f.Stop(errors.New("later"))
	_, err := f.Snapshot()
	for what, err := range map[string]error{
		"write": f.Write(putNumber(1)), "update": f.Update(t.Context(), putNumber(1)), "view": f.View(anything), "snapshot": err,
	} {
		must.Fail(t, err, reason, "%s", what)
	}
	must.Do(t, f.Close(), "closing")
}

// TestCancelled: a call that waits for a writer is withdrawn with its context, and one
// that a writer has is not.
func TestCancelled(t *testing.T) {
	f, _ := newFile(t)
	defer f.Close()
	running, goOn := make(chan struct{}), make(chan struct{})
	var first, second error
	var wg sync.WaitGroup
	taken, cancelTaken := context.WithCancel(t.Context())
	wg.Go(func() {
		first = f.Update(taken, func(tx *bbolt.Tx) error {
			close(running)
			<-goOn
			return putNumber(1)(tx)
		})
	})
	<-running
	waits, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	wg.Go(func() {
		second = f.Update(waits, putNumber(2))
		close(done)
	})
	cancelTaken()
	cancel()
	<-done
	close(goOn)
	wg.Wait()
	if first != nil || !errors.Is(second, context.Canceled) || count(t, f) != 1 {
		t.Errorf("the call in work: %v; the one that waited: %v; %d written", first, second, count(t, f))
	}
}

// TestPanic: what bbolt answers with a panic stops the file, and not the process.
func TestPanic(t *testing.T) {
	f, _ := newFile(t)
	err := f.Update(t.Context(), func(*bbolt.Tx) error { panic("page 7 is no page") })
	ledgertest.Corrupt(t, err, "", "the call that panicked")
	ledgertest.Corrupt(t, f.Update(t.Context(), putNumber(1)), "", "went on")
	ledgertest.Corrupt(t, f.View(anything), "", "went on to read")
	must.Do(t, f.Close(), "closing")
}

// TestFailedCommit: after a commit of which nobody knows what came of it, the file
// answers nothing more, and opens again.
func TestFailedCommit(t *testing.T) {
	f, path := newFile(t)
	err := f.Update(t.Context(), func(tx *bbolt.Tx) error {
		return errors.Join(putNumber(1)(tx), tx.Commit()) // so that the file's own commit fails
	})
	if !errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("%v", err)
	}
	if err := f.Update(t.Context(), putNumber(2)); !errors.Is(err, zkbench.ErrEnv) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Errorf("went on: %v", err)
	}
	must.Do(t, f.Close())
	if f, err = Open(path, anything); err != nil || count(t, f) != 1 {
		t.Errorf("opened again: %v", err)
	}
	must.Do(t, f.Close())
}

func TestOpenErrors(t *testing.T) {
	f, path := newFile(t)
	must.Fail(t, Create(path, initialize), fs.ErrExist, "created twice")
	must.FailGet(Open(path, anything))(t, ledger.ErrLocked, "opened twice")
	must.Do(t, f.Close())
	refused := errors.New("refused")
	must.FailGet(Open(path, func(*bbolt.Tx) error { return refused }))(t, refused, "the check's error")
	must.FailGet(Open(filepath.Dir(path), anything))(t, must.ErrAny, "opened a folder")
	must.FailGet(Open(path+" 2", anything))(t, fs.ErrNotExist, "opened what is not there")
	must.Fail(t, Create(path+" 3", func(*bbolt.Tx) error { return refused }), refused, "created what could not be initialized")
	golden.Equal(t, "files that are left", 1, len(must.Get(os.ReadDir(filepath.Dir(path)))(t)))
}

// TestDamage: a changed byte in a page's structure, and a truncated file, are noticed
// before bbolt looks at them.
func TestDamage(t *testing.T) {
	f, path := newFile(t)
	for n := range uint64(500) {
		must.Do(t, f.Update(t.Context(), putNumber(n)))
	}
	must.Do(t, f.Close())
	data := must.Get(os.ReadFile(path))(t)
	page := int(binary.NativeEndian.Uint32(data[headerLen+8:]))
	damaged := map[string][]byte{"empty": {}, "half": data[:len(data)/2], "meta": data[:40]}
	for i := range len(data) / page {
		bad := bytes.Clone(data)
		bad[i*page] ^= 0x40 // the page's number
		if !bytes.Equal(bad[i*page:][:8], make([]byte, 8)) {
			damaged[fmt.Sprintf("page=%d", i)] = bad
		}
	}
	noticed := 0
	for name, bad := range damaged {
		must.Do(t, os.WriteFile(path, bad, 0o600))
		f, err := Open(path, anything)
		if err == nil { // a free page
			golden.Equal(t, name+": unnoticed, and kept", 500, count(t, f))
			must.Do(t, f.Close())
			continue
		}
		var corrupt *ledger.CorruptError
		if noticed++; !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if noticed < 6 {
		t.Errorf("%d of %d damaged files noticed", noticed, len(damaged))
	}
}

// TestSeal: a value is good in its place only.
func TestSeal(t *testing.T) {
	value := Seal("a", []byte("key"), []byte("body"))
	golden.Equal(t, "body", "body", string(must.Get(Unseal("a", []byte("key"), value, 0))(t)))
	for name, bad := range map[string]func() ([]byte, error){
		"bucket=another": func() ([]byte, error) { return Unseal("b", []byte("key"), value, 0) },
		"key=another":    func() ([]byte, error) { return Unseal("a", []byte("kez"), value, 0) },
		"value=short":    func() ([]byte, error) { return Unseal("a", []byte("key"), value[:3], 0) },
		"value=shorter":  func() ([]byte, error) { return Unseal("a", []byte("key"), value, 5) },
		"value=changed":  func() ([]byte, error) { return Unseal("a", []byte("key"), append([]byte("c"), value[1:]...), 0) },
	} {
		_, err := bad()
		ledgertest.Corrupt(t, err, "", name)
	}
}

// TestReplaced: a write is refused if the file is not at its path any more. If it was moved during the transaction,
// nobody knows whether the write counts.
func TestReplaced(t *testing.T) {
	for name, move := range map[string]func(path string) error{
		"deleted": os.Remove,
		"renamed": func(path string) error { return os.Rename(path, path+".old") },
		"exchanged": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), Create(path, initialize))
		},
	} {
		for _, during := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/during=%v", name, during), func(t *testing.T) {
				f, path := newFile(t)
				must.Do(t, f.Write(putNumber(1)))
				if !during {
					must.Do(t, move(path))
				}
				err := f.Update(t.Context(), func(tx *bbolt.Tx) error {
					if during {
						must.Do(t, move(path))
					}
					return putNumber(2)(tx)
				})
				if replaced, ok := errors.AsType[*ledger.ReplacedError](err); !ok || replaced.Path != path || errors.Is(err, zkbench.ErrOutcomeUnknown) != during {
					t.Error(err)
				}
				err = f.Write(putNumber(3))
				if !errors.As(err, new(*ledger.ReplacedError)) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
					t.Errorf("the next write: %v", err)
				}
				must.Do(t, f.Close())
			})
		}
	}
}

// TestOverwritten copies a backup into the file that is open.
func TestOverwritten(t *testing.T) {
	f, path := newFile(t)
	must.Do(t, f.Write(putNumber(1)))
	backup := must.Get(os.ReadFile(path))(t)
	must.Do(t, f.Write(putNumber(2)))
	file := must.Get(os.OpenFile(path, os.O_WRONLY, 0))(t)
	must.Get(file.Write(backup))(t)
	must.Do(t, file.Close())
	if err := f.Write(putNumber(3)); !errors.As(err, new(*ledger.ReplacedError)) || errors.Is(err, zkbench.ErrOutcomeUnknown) {
		t.Error(err)
	}
	must.Do(t, f.Close())
}

// TestReplacedWhileOpening exchanges the file after it was checked.
func TestReplacedWhileOpening(t *testing.T) {
	f, path := newFile(t)
	must.Do(t, f.Close())
	_, err := Open(path, func(*bbolt.Tx) error {
		return errors.Join(os.Rename(path, path+".old"), Create(path, initialize))
	})
	if !errors.As(err, new(*ledger.ReplacedError)) {
		t.Error(err)
	}
}
