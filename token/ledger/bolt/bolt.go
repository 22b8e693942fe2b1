// Package bolt is the embedded ledger, one bbolt file. A batch is durable when
// Apply returns nil; after a crash at any point the file opens to the state
// after some prefix of the batches, all acknowledged ones among them.
//
// Calls of Apply that come while another is being written share its successor's
// transaction, so many callers share one flush to the disk.
//
// What a corrupted file can and cannot do, and what the disk is trusted with:
// docs/ledger.md.
package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// lockWait is how long a file that another ledger has open is waited for: it
// outlasts another's check on opening a small file.
const lockWait = 200 * time.Millisecond

// Ledger implements ledger.Ledger.
type Ledger struct {
	db   *bbolt.DB
	file *os.File // bbolt's own, for reading

	queue queue
	// writer is a token: who has put it there writes. It guards the fields down
	// to visible.
	writer chan struct{}
	tail   link // the last batch; zero on an empty ledger
	stuck  bool // bbolt's locks are lost; closing would wait for ever

	// visible is held while a commit is not yet durable, which bbolt would show
	// to readers already.
	visible sync.RWMutex
	failed  error // why the ledger does nothing more; changed by the writer
}

var _ ledger.Ledger = (*Ledger)(nil)

// Create makes an empty ledger and opens it. The file appears complete or not
// at all; there must be none at path (fs.ErrExist), on a file system with hard
// links.
func Create(path string) (*Ledger, error) {
	dir := filepath.Dir(path)
	temp, err := os.CreateTemp(dir, ".ledger-*")
	if err != nil {
		return nil, err
	}
	defer os.Remove(temp.Name())
	if err := temp.Close(); err != nil {
		return nil, err
	}
	if err := initialize(temp.Name(), 0); err != nil {
		return nil, err
	}
	if err := os.Link(temp.Name(), path); err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" { // where a folder cannot be flushed
		d, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		if err := d.Sync(); err != nil {
			return nil, err
		}
	}
	return Open(path)
}

// initialize makes an empty ledger with pages of pageSize bytes (0: the
// system's).
func initialize(path string, pageSize int) (err error) {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{PageSize: pageSize})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		for _, name := range buckets() {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		key := []byte(formatKey)
		return tx.Bucket([]byte(bucketMeta)).Put(key, seal(bucketMeta, key, binary.BigEndian.AppendUint32(nil, format)))
	})
}

// Open opens a ledger that Create made. It changes nothing, and flushes what the
// system has not yet written to the disk. It checks
// the structure of the whole file, in a time that grows with the number of
// pages, and the last batch; Verify checks everything. The error is fs.ErrNotExist, ledger.ErrLocked, a *ledger.CorruptError, or a
// *zkbench.DecodeError for another version's file.
func Open(path string) (*Ledger, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a file", zkbench.ErrEnv, path)
	}
	if info.Size() == 0 { // which bbolt would fill
		return nil, ledger.Corruptf("file", "truncated: 0 bytes")
	}
	// A read-only bbolt looks at nothing but its meta pages and keeps writers
	// out while the file is checked.
	db, file, err := open(path, true)
	if err != nil {
		return nil, err
	}
	err = guard(func() error { return inspect(db, file) })
	if err = errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	l := &Ledger{writer: make(chan struct{}, 1)}
	if l.db, l.file, err = open(path, false); err != nil {
		return nil, err
	}
	// A process that was killed may have left a commit that the system shows and
	// the disk does not have yet. What is answered from here on must be durable.
	if err := l.db.Sync(); err != nil {
		return nil, errors.Join(opening(path, err), l.db.Close())
	}
	err = l.view(func(tx *bbolt.Tx) (err error) {
		l.tail, err = lastLink(tx)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, l.db.Close())
	}
	return l, nil
}

// open opens the file with bbolt, and returns the file that bbolt reads.
func open(path string, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	err = guard(func() (err error) {
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

// inspect checks the file, its format and its last batch.
func inspect(db *bbolt.DB, file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if err := checkFile(file, info.Size()); err != nil {
		return err
	}
	return db.View(func(tx *bbolt.Tx) error {
		if err := checkFormat(tx); err != nil {
			return err
		}
		tail, err := lastLink(tx)
		if err != nil || tail.last == 0 {
			return err
		}
		prev, err := linkBefore(tx, tail.first)
		if err != nil {
			return err
		}
		return checkLink(tx, prev.hash, &tail, nil)
	})
}

func checkFormat(tx *bbolt.Tx) error {
	b := tx.Bucket([]byte(bucketMeta))
	if b == nil {
		return ledger.Corruptf("bucket meta", "missing: not a ledger")
	}
	key := []byte(formatKey)
	body, err := unseal(bucketMeta, key, b.Get(key), 4)
	if err != nil {
		return err
	}
	if v := binary.BigEndian.Uint32(body); v != format || len(body) != 4 {
		return &zkbench.DecodeError{Path: "ledger format", Reason: fmt.Sprintf("version %d, only %d is known", v, format)}
	}
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			return ledger.Corruptf("bucket "+name, "missing")
		}
	}
	return nil
}

// view runs a short read of what is durable.
func (l *Ledger) view(read func(*bbolt.Tx) error) error {
	l.visible.RLock()
	defer l.visible.RUnlock()
	if l.failed != nil {
		return l.failed
	}
	return guard(func() error { return l.db.View(read) })
}

// fail makes the ledger refuse whatever comes after. The caller is the writer.
func (l *Ledger) fail(err error) {
	l.visible.Lock()
	defer l.visible.Unlock()
	l.failed = err
}

// Close implements ledger.Ledger.
func (l *Ledger) Close() error {
	l.writer <- struct{}{}
	defer func() { <-l.writer }()
	if errors.Is(l.failed, fs.ErrClosed) {
		return l.failed
	}
	l.fail(fmt.Errorf("ledger: %w", fs.ErrClosed))
	if l.stuck {
		return ledger.Corruptf("file", "stays open until the process ends: bbolt stopped while it wrote")
	}
	return l.db.Close()
}
