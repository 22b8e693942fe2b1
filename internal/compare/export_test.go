package compare

import (
	"context"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Sessions measures the named cases without revisions.
func (r *Revisions) Sessions(ctx context.Context, names []string, run func(ctx context.Context, side stat.Side, name string) *record.Record) ([]*record.Record, error) {
	m := &measurement{Measuring: &r.Measuring, keep: func(*record.Record) error { return nil }}
	var cases []measured
	for _, name := range names {
		cases = append(cases, measured{name, func(ctx context.Context, side stat.Side) *record.Record { return run(ctx, side, name) }})
	}
	m.sessions(ctx, cases)
	return m.recs, m.failed
}

// What is kept of a program's output, and what a test binary is given.
var (
	BenchmarkOutput = benchmarkOutput
	BinaryFlags     = binaryFlags
)

// WithTrees calls withTrees.
func (r Repository) WithTrees(ctx context.Context, revs []Revision, do func(trees []string) error) error {
	return r.withTrees(ctx, revs, do)
}

// Reason exports reason.
var Reason = reason
