package bench_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/internal/convert"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// empty returns a workload that does nothing, so that all that remains is the cost of measuring.
func empty() bench.Def {
	return bench.Def{Name: "Empty", Doc: "does nothing", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) {
		return bench.Operation[int]{
			Input: func(context.Context, *rand.ChaCha8) (int, error) { return 1, nil },
			Run:   func(context.Context, int) ([]byte, error) { return nil, nil },
			Check: func(context.Context, int, []byte) error { return nil },
		}, nil
	}}
}

type ours struct{}

func (ours) Input(context.Context, uint64) (any, error)       { return 1, nil }
func (ours) Run(context.Context, any) ([]byte, error)         { return nil, nil }
func (ours) Check(context.Context, any, []byte) error         { return nil }
func (ours) Metrics(context.Context) ([]record.Metric, error) { return nil, nil }
func (ours) Close() error                                     { return nil }
func oursDef() workload.Def {
	return workload.Def{Name: "Empty", New: func(context.Context, workload.Case, uint64) (workload.Instance, error) { return ours{}, nil }}
}

// BenchmarkRecording is what an operation that does nothing costs under load, with one worker, as a
// Def of this package and as one of our own: ns/op is the window over its operations.
func BenchmarkRecording(b *testing.B) {
	w, err := convert.Workload(empty())
	if err != nil {
		b.Fatal(err)
	}
	for name, def := range map[string]workload.Def{"bench": w, "own": oursDef()} {
		b.Run(name, func(b *testing.B) {
			s := measure.DefaultSettings(1, 300*time.Millisecond)
			var least float64
			for b.Loop() {
				rec := measure.Case(b.Context(), def, workload.Case{}, s)
				if rec.Status != record.OK {
					raw, _ := json.Marshal(rec)
					b.Fatalf("%s", raw)
				}
				if per := 1e9 / rec.Value(record.Throughput); least == 0 || per < least {
					least = per
				}
			}
			b.ReportMetric(least, "ns/empty")
		})
	}
}
