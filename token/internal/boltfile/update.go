package boltfile

import (
	"context"
	"slices"

	"go.etcd.io/bbolt"
)

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
