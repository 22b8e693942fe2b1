package bolt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.etcd.io/bbolt"
	bberrors "go.etcd.io/bbolt/errors"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token/ledger"
)

// job is one call of Apply.
type job struct {
	entries  []ledger.Entry
	encoded  [][]byte
	size     int  // bytes of encoded
	each     bool // reject entries, not the batch
	rejected []error
	err      error
	done     chan struct{} // closed when rejected and err are final
}

// Apply implements ledger.Ledger.
func (l *Ledger) Apply(ctx context.Context, batch []ledger.Entry) error {
	j := &job{entries: batch}
	if err := j.encode(); err != nil {
		return err
	}
	return l.submit(ctx, j)
}

// ApplyEach implements ledger.Ledger.
func (l *Ledger) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	j := &job{entries: batch, each: true, rejected: make([]error, len(batch))}
	if err := j.encode(); err != nil {
		return nil, err
	}
	if err := l.submit(ctx, j); err != nil {
		return nil, err
	}
	return j.rejected, nil
}

// encode checks the limits and encodes the entries.
func (j *job) encode() error {
	if n := len(j.entries); n > ledger.MaxBatch {
		return &zkbench.LimitError{What: "entries of a batch", Estimate: int64(n), Max: ledger.MaxBatch}
	}
	j.done = make(chan struct{})
	j.encoded = make([][]byte, len(j.entries))
	for i := range j.entries {
		if err := j.entries[i].Check(i); err != nil {
			if !j.each {
				return err
			}
			j.rejected[i] = err
			continue
		}
		// Room for the checksum, and a little for the lengths.
		j.encoded[i] = j.entries[i].Append(make([]byte, 0, len(j.entries[i].Request)+512))
		if j.size += len(j.encoded[i]); j.size > ledger.MaxBatchBytes {
			return &zkbench.LimitError{What: "bytes of a batch", Estimate: int64(j.size), Max: ledger.MaxBatchBytes}
		}
	}
	return nil
}

// queue is the calls of Apply that wait for a transaction.
type queue struct {
	mu   sync.Mutex
	jobs []*job
}

func (q *queue) put(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.jobs = append(q.jobs, j)
}

// withdraw takes back a job that no transaction has taken.
func (q *queue) withdraw(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.jobs, j)
	if i >= 0 {
		q.jobs = slices.Delete(q.jobs, i, i+1)
	}
	return i >= 0
}

// take returns the first jobs, as many as one batch may hold.
func (q *queue) take() []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, entries, size := 0, 0, 0
	for ; n < len(q.jobs); n++ {
		entries, size = entries+len(q.jobs[n].entries), size+q.jobs[n].size
		if n > 0 && (entries > ledger.MaxBatch || size > ledger.MaxBatchBytes) {
			break
		}
	}
	jobs := slices.Clone(q.jobs[:n])
	q.jobs = slices.Delete(q.jobs, 0, n)
	return jobs
}

// submit queues the job and waits until a writer has done it. Whoever waits
// becomes the writer when there is none, for all that wait.
func (l *Ledger) submit(ctx context.Context, j *job) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.queue.put(j)
	for {
		select {
		case <-j.done:
			return j.err
		case <-ctx.Done():
			if l.queue.withdraw(j) {
				return ctx.Err()
			}
			<-j.done // a writer has it, and a flush cannot be called back
			return j.err
		case l.writer <- struct{}{}:
			if jobs := l.queue.take(); len(jobs) > 0 {
				l.apply(jobs)
			}
			<-l.writer
		}
	}
}

// apply does the jobs in one transaction. The caller is the writer.
func (l *Ledger) apply(jobs []*job) {
	err := l.failed
	if err == nil {
		if err = guard(func() error { return l.transact(jobs) }); err != nil {
			l.fail(stopped(err))
		}
	}
	for _, j := range jobs {
		if err != nil {
			j.err = err
		}
		close(j.done)
	}
}

// stopped is what a ledger answers after an error of its store. The error's
// outcome is not that of later calls: they apply nothing.
func stopped(err error) error {
	var corrupt *ledger.CorruptError
	if errors.As(err, &corrupt) {
		return corrupt
	}
	return fmt.Errorf("%w: ledger has stopped, open it again: %v", zkbench.ErrEnv, err)
}

// transact decides on the jobs and commits. Rejections are the jobs'; an error
// is a reason to write nothing more.
func (l *Ledger) transact(jobs []*job) error {
	tx, err := l.db.Begin(true)
	if err != nil {
		return err
	}
	defer func() {
		l.stuck = true // if bbolt panics here, it keeps its lock
		if err := tx.Rollback(); err == nil || errors.Is(err, bberrors.ErrTxClosed) {
			l.stuck = false
		}
	}()
	g := newGroup(tx, l.tail)
	for _, j := range jobs {
		var corrupt *ledger.CorruptError
		if j.err = g.batch(j); errors.As(j.err, &corrupt) {
			return j.err
		}
	}
	if len(g.links) == 0 {
		return nil
	}
	if err := g.write(); err != nil {
		return err
	}
	if err := l.commit(tx); err != nil {
		return err
	}
	l.tail = g.tail
	return nil
}

// commit commits. bbolt does not tell a commit that failed before it changed
// the file from one that failed after, so no failure says what a later reader
// will find.
func (l *Ledger) commit(tx *bbolt.Tx) error {
	l.visible.Lock()
	defer l.visible.Unlock()
	if err := guard(tx.Commit); err != nil {
		return fmt.Errorf("%w: %w", zkbench.ErrOutcomeUnknown, err)
	}
	return nil
}
