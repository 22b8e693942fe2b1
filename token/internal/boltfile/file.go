// Package boltfile makes bbolt files safe to open and to share. A file appears complete or not at all, and its
// structure is checked before bbolt trusts it. A panic of bbolt is returned as an error. Readers see only data
// that is durable. Writers that arrive while another one writes can share one flush to the disk.
package boltfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/atomicfile"
	"github.com/zkbench/zkbench/token/internal/groupcommit"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// lockWait is how long Open waits for a file that another process has open. It outlasts another process's check
// when that opens a small file.
const lockWait = 200 * time.Millisecond

// Unfinished matches the names of files that Create has not finished.
const Unfinished = ".new-*"

// Create creates a file at path with mode 0600, and calls initialize to write its contents. The file appears
// complete or not at all. Create returns fs.ErrExist if path exists. The file system must support hard links.
func Create(path string, initialize func(*bbolt.Tx) error) error {
	temp, err := os.CreateTemp(filepath.Dir(path), Unfinished)
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	if err := temp.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(temp.Name(), 0o600, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(db.Update(initialize), db.Close()); err != nil {
		return err
	}
	return Link(temp.Name(), path)
}

// Link gives the file at the path from the name to too, durably. It returns fs.ErrExist if there is one already.
func Link(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(to))
}

// File is an open bbolt file. It is safe for concurrent use.
type File struct {
	db      *bbolt.DB
	file    *os.File // bbolt's own, for reading
	path    string   // absolute
	opened  os.FileInfo
	updates *groupcommit.Queue[*job]

	writer sync.Mutex // held during a write
	last   int        // number of the last transaction that was committed
	stuck  bool       // set by the writer: bbolt's locks are lost, so closing would wait for ever

	// visible is locked while a commit is not yet durable, because bbolt already shows it to readers.
	visible sync.RWMutex
	failed  error // why the file has stopped
}

// Open opens a file that Create made. It first checks the file's structure, in a time that grows with the
// number of pages, and then calls check with a read-only transaction. Nothing is written before both checks
// succeed. Open returns fs.ErrNotExist, ledger.ErrLocked, a *ledger.CorruptError, a *ledger.ReplacedError if the
// file at path changes meanwhile, or the error of check.
func Open(path string, check func(*bbolt.Tx) error) (*File, error) {
	f := &File{}
	f.updates = groupcommit.New(func(jobs []*job) int { return min(len(jobs), maxJobs) }, f.share)
	var err error
	if f.path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a file", zkbench.ErrEnv, path)
	}
	if info.Size() == 0 { // bbolt would fill an empty file
		return nil, ledger.Corruptf("file", "truncated: 0 bytes")
	}
	// A read-only bbolt looks at nothing but its meta pages and keeps writers
	// out while the file is checked.
	db, file, err := open(path, true)
	if err != nil {
		return nil, err
	}
	err = Guard(func() (err error) {
		if f.opened, err = file.Stat(); err != nil {
			return err
		}
		if err := checkFile(file, f.opened.Size()); err != nil {
			return err
		}
		return db.View(func(tx *bbolt.Tx) error {
			f.last = tx.ID()
			return check(tx)
		})
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	if f.db, f.file, err = open(path, false); err != nil {
		return nil, err
	}
	// The file was closed in between.
	err = Guard(func() error { return f.db.View(func(tx *bbolt.Tx) error { return f.current(tx.ID()) }) })
	if err == nil {
		// A process that was killed may have left a commit that the system shows and
		// the disk does not have yet. What is answered from here on must be durable.
		err = opening(path, f.db.Sync())
	}
	if err != nil {
		return nil, errors.Join(err, f.db.Close())
	}
	return f, nil
}

// open opens the file with bbolt. It also returns the file that bbolt reads.
func open(path string, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	err = Guard(func() (err error) {
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			ReadOnly:     readOnly,
			Timeout:      lockWait,
			FreelistType: bbolt.FreelistMapType,
			NoStatistics: true,
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flag&^os.O_CREATE, mode)
				file = f
				return f, err
			},
		})
		return err
	})
	if err != nil && file != nil {
		_ = file.Close() // bbolt has, unless it stopped with a panic
	}
	return db, file, opening(path, err)
}

// Close waits for running calls and closes the file. Calls after Close return fs.ErrClosed.
func (f *File) Close() error {
	f.writer.Lock()
	defer f.writer.Unlock()
	if err := f.close(); err != nil {
		return err
	}
	if f.stuck {
		return ledger.Corruptf("file", "stays open until the process ends: bbolt stopped while it wrote")
	}
	return f.db.Close()
}

// close makes all later calls fail.
func (f *File) close() error {
	f.visible.Lock()
	defer f.visible.Unlock()
	if errors.Is(f.failed, fs.ErrClosed) {
		return f.failed
	}
	f.failed = fs.ErrClosed
	return nil
}

// SumLen is the length in bytes of the checksum that Seal appends.
const SumLen = 4

// Seal appends to body a checksum over bucket, key and body. The sealed value is good only under this key of
// this bucket.
func Seal(bucket string, key, body []byte) []byte {
	return binary.BigEndian.AppendUint32(body, store.Checksum(bucket, key, body))
}

// Unseal returns the body of a sealed value. It checks that the checksum is right and that len(body) ≥ least.
// If not, Unseal returns a *ledger.CorruptError. The error names the bucket and contains neither the key nor
// the body.
func Unseal(bucket string, key, value []byte, least int) ([]byte, error) {
	n := len(value) - SumLen
	if n < least {
		return nil, ledger.Corruptf("bucket "+bucket, "%d bytes, too few", len(value))
	}
	if binary.BigEndian.Uint32(value[n:]) != store.Checksum(bucket, key, value[:n]) {
		return nil, ledger.Corruptf(fmt.Sprintf("bucket %s, key of %d bytes", bucket, len(key)), "wrong checksum")
	}
	return value[:n:n], nil
}

// Guard calls the function work, which reads or writes bbolt's pages, and returns its panics and memory faults
// as errors. Some corruption makes bbolt panic. A wrong offset makes bbolt read beyond the mapped file, which
// causes a memory fault.
func Guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = ledger.Corruptf("page", "bbolt stopped: %v", r)
		}
	}()
	return work()
}

// opening returns an error of bbolt.Open with its type.
func opening(path string, err error) error {
	var place *fs.PathError
	var corrupt *ledger.CorruptError
	var system syscall.Errno
	switch {
	case err == nil:
		return nil
	case errors.Is(err, bberrors.ErrTimeout):
		return fmt.Errorf("%w: %s", ledger.ErrLocked, path)
	case errors.As(err, &place), errors.As(err, &corrupt):
		return err
	case errors.As(err, &system): // of locking or mapping the file
		return fmt.Errorf("%w: %s: %w", zkbench.ErrEnv, path, err)
	}
	return ledger.Corruptf("file", "%v", err)
}
