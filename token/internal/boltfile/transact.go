package boltfile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// Snapshot begins a read of what is durable. The caller must end it with Rollback; a
// write for which the file must grow waits for that, and with it all that begin to
// read. What reads it goes through Guard.
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

// View runs a short read of what is durable.
func (f *File) View(read func(*bbolt.Tx) error) error {
	tx, err := f.Snapshot()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // of a read, which cannot fail
	return Guard(func() error { return read(tx) })
}

// CheckPages checks the structure of the pages that a snapshot is made of, in a time
// that grows with their number.
func (f *File) CheckPages(snapshot *bbolt.Tx) error {
	return Guard(func() error {
		pageSize := int64(snapshot.DB().Info().PageSize)
		return newPages(f.file, pageSize, uint64(snapshot.Size()/pageSize)).tree(uint64(snapshot.Cursor().Bucket().Root()))
	})
}

// Write runs work in a transaction of its own, which is durable when Write returns
// nil, and leaves no trace when work returns an error, which Write returns. After
// another error, a zkbench.ErrOutcomeUnknown of a commit among them, the file does
// nothing more until it is opened again.
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

// transact runs work and commits, unless work refuses. The caller is the writer.
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
	if err := work(tx); err != nil {
		return err, nil
	}
	return nil, f.commit(tx)
}

// commit commits. bbolt does not tell a commit that failed before it changed the file
// from one that failed after, so no failure says what a later reader will find, and
// none may look before the file has stopped.
func (f *File) commit(tx *bbolt.Tx) error {
	f.visible.Lock()
	defer f.visible.Unlock()
	err := Guard(tx.Commit)
	if err != nil {
		err = fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
		f.failed = failure(err)
	}
	return err
}

// stopped returns why the file does nothing more, nil while it does.
func (f *File) stopped() error {
	f.visible.RLock()
	defer f.visible.RUnlock()
	return f.failed
}

// Stop makes the file refuse whatever comes after err, as it does of itself after an
// error of bbolt. The first of such errors counts.
func (f *File) Stop(err error) {
	f.visible.Lock()
	defer f.visible.Unlock()
	if f.failed == nil {
		f.failed = failure(err)
	}
}

// failure is what a file answers after an error. The error's outcome is not that of
// later calls: they write nothing.
func failure(err error) error {
	if corrupt, ok := errors.AsType[*ledger.CorruptError](err); ok {
		return corrupt
	}
	return fmt.Errorf("%w: the file has stopped, open it again: %v", zkbench.ErrEnv, err)
}

// maxJobs bounds the calls of Update that share a transaction.
const maxJobs = 1024

// job is one call of Update.
type job struct {
	work func(*bbolt.Tx) error
	err  error
}

// Update is Write for many callers: those that come while another is being written
// share the next transaction and its flush. work may therefore run more than once, and
// what it reads is durable when Update returns. When ctx ends before the call has been
// taken, its cause is returned.
func (f *File) Update(ctx context.Context, work func(*bbolt.Tx) error) error {
	j := &job{work: work}
	if !f.updates.Do(ctx, j) {
		return context.Cause(ctx)
	}
	return j.err
}

// share does the jobs in one transaction, without those whose work fails.
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
