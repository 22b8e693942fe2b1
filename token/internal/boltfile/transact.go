package boltfile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Snapshot begins a read transaction, which sees the data that is durable. The caller must read it inside
// Guard, and end it with Rollback. A write that must grow the file waits until the transaction has ended, and
// every new reader waits for that write.
func (f *File) Snapshot() (tx *bbolt.Tx, err error) {
	f.visible.RLock()
	defer f.visible.RUnlock()
	if f.failed != nil {
		return nil, f.failed
	}
	err = Guard(func() (err error) {
		tx, err = f.db.Begin(false)
		return err
	})
	return tx, err
}

// View calls the function read with a read transaction, which sees the data that is durable. The function
// should return soon.
func (f *File) View(read func(*bbolt.Tx) error) error {
	tx, err := f.Snapshot()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of a read, which cannot fail
	return Guard(func() error { return read(tx) })
}

// CheckPages checks the structure of a snapshot's pages, in a time that grows with their number.
func (f *File) CheckPages(snapshot *bbolt.Tx) error {
	return Guard(func() error {
		pageSize := int64(snapshot.DB().Info().PageSize)
		return newPages(f.file, pageSize, uint64(snapshot.Size()/pageSize)).tree(uint64(snapshot.Cursor().Bucket().Root()))
	})
}

// Write calls the function work in a transaction of its own. The transaction is durable when Write returns
// nil. If work returns an error, Write returns it and nothing is written. After any other error, for example
// ErrOutcomeUnknown from a commit, all later calls fail until the file is opened again.
//
// Before and after the transaction, Write checks that the file at the path is still the one that is open, and that
// nobody else has written to it. If not, it returns a *ledger.ReplacedError, which also wraps ErrOutcomeUnknown if
// the transaction was already committed: only whoever has the file now knows whether that commit counts.
func (f *File) Write(work func(*bbolt.Tx) error) error {
	f.writer.Lock()
	defer f.writer.Unlock()
	if err := f.stopped(); err != nil {
		return err
	}
	var refused error
	err := Guard(func() (err error) {
		refused, err = f.transact(work)
		return err
	})
	if err != nil {
		f.Stop(err)
		return err
	}
	return refused
}

// transact calls work and commits, unless work returns an error. The caller holds writer.
func (f *File) transact(work func(*bbolt.Tx) error) (refused, err error) {
	tx, err := f.db.Begin(true)
	if err != nil {
		return nil, err
	}
	defer func() {
		f.stuck = true // if bbolt panics here, it keeps its lock
		if err := tx.Rollback(); err == nil || errors.Is(err, bberrors.ErrTxClosed) {
			f.stuck = false
		}
	}()
	if err := f.current(tx.ID() - 1); err != nil {
		return nil, err
	}
	if err := work(tx); err != nil {
		return err, nil
	}
	return nil, f.commit(tx)
}

// commit commits. bbolt does not say whether a commit failed before or after it changed the file. So after a
// failure nobody knows what a later reader will find, and nobody may read before the file has stopped.
func (f *File) commit(tx *bbolt.Tx) error {
	f.visible.Lock()
	defer f.visible.Unlock()
	err := Guard(func() error {
		if err := tx.Commit(); err != nil {
			return err
		}
		f.last++
		return f.db.View(func(tx *bbolt.Tx) error { return f.current(tx.ID()) })
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
		f.failed = failure(err)
	}
	return err
}

// current returns a *ledger.ReplacedError unless the file at the path is the one that is open, and last is the number
// of this process's last transaction. bbolt reads that number from the mapped file. So it shows that a backup was
// copied into the open file. The caller holds writer.
func (f *File) current(last int) error {
	if info, err := os.Stat(f.path); err != nil || !os.SameFile(info, f.opened) || last != f.last {
		return &ledger.ReplacedError{Path: f.path}
	}
	return nil
}

// stopped returns why the file has stopped, or nil.
func (f *File) stopped() error {
	f.visible.RLock()
	defer f.visible.RUnlock()
	return f.failed
}

// Stop makes all later calls fail because of err. An error of bbolt also makes all later calls fail. If there
// are several errors, only the first counts.
func (f *File) Stop(err error) {
	f.visible.Lock()
	defer f.visible.Unlock()
	if f.failed == nil {
		f.failed = failure(err)
	}
}

// failure returns the error of calls after err. Their outcome is known even if that of err is not: they write
// nothing.
func failure(err error) error {
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
		return corrupt
	}
	if replaced, ok := errors.AsType[*ledger.ReplacedError](err); ok {
		return replaced
	}
	return fmt.Errorf("%w: the file has stopped, open it again: %v", zkbench.ErrEnv, err)
}

// maxJobs bounds the number of Update calls that share a transaction.
const maxJobs = 1024

// job is one call of Update.
type job struct {
	work func(*bbolt.Tx) error
	err  error
}

// Update writes like Write, for many callers. Callers that arrive during another write share the next
// transaction and its flush. If the function work of one caller fails, the functions of the others run again
// in a new transaction, so each may run more than once. The data that the function reads is durable when
// Update returns. If ctx ends before the call is part of a transaction, Update returns the context's cause.
func (f *File) Update(ctx context.Context, work func(*bbolt.Tx) error) error {
	j := &job{work: work}
	if !f.updates.Do(ctx, j) {
		return context.Cause(ctx)
	}
	return j.err
}

// share does the jobs in one transaction, except those whose work fails.
func (f *File) share(jobs []*job) {
	for len(jobs) > 0 {
		bad := -1
		err := f.Write(func(tx *bbolt.Tx) error {
			for i, j := range jobs {
				if err := j.work(tx); err != nil {
					bad = i
					return err
				}
			}
			return nil
		})
		if bad >= 0 {
			jobs[bad].err = err
			jobs = slices.Delete(jobs, bad, bad+1)
			continue
		}
		for _, j := range jobs {
			j.err = err
		}
		return
	}
}
