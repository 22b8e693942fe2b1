package compare

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/compare/opcount"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

const (
	// countedOps is the number of operations to count. There are fewer if they would take longer than
	// countedTime on the old side, but at least one.
	countedOps  = 8
	countedTime = time.Second
	// kernelKey is the axis of the arithmetic kernel. Not all workloads have it.
	kernelKey = "kernel"
	// countingTime is the deadline of a counting process. It is long because the process runs portable
	// code, in which each block of statements adds to a counter.
	countingTime = 20 * time.Minute
)

// counter is a program that was built to count.
type counter struct {
	measure.Program
	index *opcount.Index
}

// counters builds the revisions once more, to count.
func (w *Workloads) counters(ctx context.Context, m *measurement, main Main) (map[stat.Side]counter, error) {
	counting := make(map[stat.Side]counter)
	for i, side := range built {
		c := counter{Program: measure.Program{Path: m.program("zkbench-count", side), Args: w.Args}}
		var err error
		if c.index, err = m.repo.BuildCounting(ctx, m.revs[i], main, c.Path, m.Log); err != nil {
			return nil, err
		}
		counting[side] = c
	}
	return counting, nil
}

// count runs each job twice on each side, in the program and in the one that was built to count,
// and joins the exact figures of both in one record. If a process fails, its job ends.
func (w *Workloads) count(ctx context.Context, m *measurement, run func(context.Context, stat.Side, measure.Job) *record.Record, counting map[stat.Side]counter) {
	m.planned = len(built) * len(w.Jobs)
	for i, job := range w.Jobs {
		fmt.Fprintf(m.Log, "%d/%d: counting %s\n", i+1, len(w.Jobs), job.Caption())
		process := record.Process{Session: rand.Text()}
		ops := uint64(0) // the same on both sides, because each operation has another input
		for _, side := range built {
			if ctx.Err() != nil {
				return
			}
			rec := run(ctx, side, job)
			if ops == 0 {
				ops = uint64(min(max(float64(countedTime)/rec.Value(record.LatencyMean), 1), countedOps))
			}
			if rec.Status == record.OK {
				rec = counting[side].count(ctx, job, rec, ops)
			}
			if ctx.Err() != nil {
				return
			}
			process.Side = string(side)
			rec.Process = process
			if err := m.keep(rec); err != nil {
				m.failed = cmp.Or(m.failed, error(&FailedError{Record: rec, Err: err}))
				return
			}
			if rec.Status != record.OK {
				m.failed = cmp.Or(m.failed, error(&FailedError{Record: rec, Err: fmt.Errorf("%s: %s", rec.Name(), rec.Error)}))
				break
			}
			m.recs = append(m.recs, rec)
		}
	}
}

// count adds the job's counts to the exact figures of rec, the record of the program that was not
// built to count. Errors are in the record.
func (c counter) count(ctx context.Context, job measure.Job, rec *record.Record, ops uint64) *record.Record {
	dir, err := os.MkdirTemp("", "zkbench-counts-")
	if err != nil {
		return notCounted(rec, err)
	}
	defer os.RemoveAll(dir)
	if job.Case.Get(kernelKey) != "" { // the other kernels are assembly
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
	rec.Findings = slices.DeleteFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.Disturbed }) // it does not change counts
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool {
		return m.Kind != record.Exact && m.Name() != record.Instructions.Name()
	})
	for i := range rec.Metrics {
		rec.Metrics[i].Kind = record.Exact // instructions too, except for instructionsTrace
	}
	rec.Metrics = append(rec.Metrics, metrics...)
	return rec
}

func notCounted(rec *record.Record, err error) *record.Record {
	rec.Status, rec.Error = record.Failed, err.Error()
	return rec
}
