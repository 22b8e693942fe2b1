package compare

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/counts"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/stat"
)

const (
	// countedOps are the operations that are counted, where they take no longer than
	// countedTime on the old side.
	countedOps  = 8
	countedTime = time.Second
	// kernelKey is the axis of kernels of the workloads that have one.
	kernelKey = "kernel"
	// countingTime ends a counting process that hangs. It runs portable code, and each
	// block of statements adds to a counter.
	countingTime = 20 * time.Minute
)

// counter is a program that was built to count.
type counter struct {
	measure.Program
	index *counts.Index
}

// counters builds the revisions once more, to count.
func (r *Revisions) counters(ctx context.Context, repo Repository, revs [2]Revision, dir string) (map[stat.Side]counter, error) {
	built := make(map[stat.Side]counter)
	for i, side := range []stat.Side{stat.Old, stat.New} {
		c := counter{Program: measure.Program{Path: filepath.Join(dir, program("zkbench-count", i+1)), Args: r.Args}}
		var err error
		if c.index, err = repo.BuildCounting(ctx, revs[i], c.Path, r.Log); err != nil {
			return nil, err
		}
		built[side] = c
	}
	return built, nil
}

// count runs each job twice a side, in the program and in the one that was built to count,
// and joins what is exact of both in one record. A job of which a process fails ends there;
// the error is that of the first.
func (r *Revisions) count(ctx context.Context, run func(context.Context, stat.Side, measure.Job) *record.Record, counting map[stat.Side]counter, keep func(*record.Record) error) (recs []*record.Record, failed error) {
	for i, job := range r.Jobs {
		fmt.Fprintf(r.Log, "%d/%d: counting %s\n", i+1, len(r.Jobs), job.Caption())
		process := record.Process{Session: rand.Text()}
		ops := uint64(0) // as many on both sides: each has another input
		for _, side := range []stat.Side{stat.Old, stat.New} {
			if ctx.Err() != nil {
				return recs, failed
			}
			rec := run(ctx, side, job)
			if ops == 0 {
				ops = uint64(min(max(float64(countedTime)/rec.Value(record.LatencyMean), 1), countedOps))
			}
			if rec.Status == record.OK {
				rec = counting[side].count(ctx, job, rec, ops)
			}
			if ctx.Err() != nil {
				return recs, failed
			}
			process.Side = string(side)
			rec.Process = process
			if err := keep(rec); err != nil {
				return recs, cmp.Or(failed, error(&FailedError{rec, err}))
			}
			if rec.Status != record.OK {
				failed = cmp.Or(failed, error(&FailedError{rec, fmt.Errorf("%s: %s", rec.Name(), rec.Error)}))
				break
			}
			recs = append(recs, rec)
		}
	}
	return recs, failed
}

// count adds the counts of the job to what is exact in the record of the program that was
// not built to count. What goes wrong is in the record.
func (c counter) count(ctx context.Context, job measure.Job, rec *record.Record, ops uint64) *record.Record {
	dir, err := os.MkdirTemp("", "zkbench-counts-")
	if err != nil {
		return notCounted(rec, err)
	}
	defer os.RemoveAll(dir)
	if job.Case.Get(kernelKey) != "" { // all others are assembly
		job.Case = job.Case.With(kernelKey, "portable")
	}
	job.Count, job.Settings.Count, job.Deadline = dir, ops, countingTime
	counted := c.Run(ctx, job)
	if counted.Status != record.OK {
		return notCounted(rec, fmt.Errorf("counting: %s", counted.Error))
	}
	metrics, err := c.index.Read(ctx, dir, ops)
	if err != nil {
		return notCounted(rec, err)
	}
	rec.Findings = slices.DeleteFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.Disturbed }) // which no count feels
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool {
		return m.Kind != record.Exact && m.Name() != record.Instructions.Name()
	})
	for i := range rec.Metrics {
		rec.Metrics[i].Kind = record.Exact // instructions too, but for a trace
	}
	rec.Metrics = append(rec.Metrics, metrics...)
	return rec
}

func notCounted(rec *record.Record, err error) *record.Record {
	rec.Status, rec.Error = record.Failed, err.Error()
	return rec
}
