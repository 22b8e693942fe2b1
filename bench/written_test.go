package bench_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/internal/convert"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestFiguresOnce: a figure of a name that is taken is refused where it is given, by its name: of an
// operation when a case is set up, of stages when one of them ends.
func TestFiguresOnce(t *testing.T) {
	twice := drawn()
	twice.Metrics = []bench.Metric{{Name: "proof", Unit: "B/proof", Value: 1}, {Name: "key", Unit: "B/key", Value: 2}, {Name: "proof", Unit: "B/proof", Value: 1}}
	w := must.Get(convert.Workload(defOf(twice)))(t)
	_, err := w.New(t.Context(), workload.Case{}, 1)
	must.Fail(t, err, zkbench.ErrParams, "a figure twice")
	golden.Contains(t, err.Error(), "Operation.Metrics: ", "figure proof occurs twice; accepted: each name once")

	for name, test := range map[string]struct {
		stages func(r *bench.Recorder)
		want   string
	}{
		"two stages": {func(r *bench.Recorder) {
			r.Start("build")(bench.Metric{Name: "key", Unit: "B/key", Value: 1})
			r.Start("prove")(bench.Metric{Name: "key", Unit: "B/key", Value: 2})
		}, "stage prove: invalid parameters: figure key occurs twice"},
		"one stage": {func(r *bench.Recorder) {
			r.Start("build")(bench.Metric{Name: "key", Unit: "B/key", Value: 1}, bench.Metric{Name: "key", Unit: "B/key", Value: 2})
		}, "stage build: invalid parameters: figure key occurs twice"},
		"no name":    {func(r *bench.Recorder) { r.Start("")() }, `stage ""; accepted: a printable name`},
		"no text":    {func(r *bench.Recorder) { r.Start("a\xff")() }, `stage "a\xff"; accepted: a printable name`},
		"not ours":   {func(r *bench.Recorder) { r.Start("x")(bench.Metric{Name: "capacity", Unit: "x", Value: 1}) }, "figure capacity: zkbench measures it itself"},
		"infinities": {func(r *bench.Recorder) { r.Start("x")(bench.Metric{Name: "y", Unit: "y", Value: math.Inf(-1)}) }, "figure y: -Inf is not accepted"},
	} {
		d := defOf(drawn())
		d.Stages = func(_ context.Context, _ bench.Case, _ uint64, r *bench.Recorder) error { test.stages(r); return nil }
		rec := measure.Stages(t.Context(), must.Get(convert.Workload(d))(t), workload.Case{}, measure.DefaultSettings(1, 0))
		golden.Equal(t, name+": status", record.Failed, rec.Status)
		golden.Contains(t, rec.Error, test.want)
		compared(t, rec)
	}

	d := defOf(drawn())
	d.Stages = func(_ context.Context, _ bench.Case, _ uint64, r *bench.Recorder) error {
		for range 3 {
			r.Start("fold")()
		}
		return nil
	}
	rec := measure.Stages(t.Context(), must.Get(convert.Workload(d))(t), workload.Case{}, measure.DefaultSettings(1, 0))
	golden.Equal(t, "stages", 3, len(rec.Stages))
	sum := 0.
	for _, s := range rec.Stages {
		sum += s.Time.Seconds()
	}
	golden.Equal(t, "time of the three", sum, rec.Value(record.StageTime("fold")))
	compared(t, rec)
}

// compared checks that a record can be written, read, and compared with itself.
func compared(t interface {
	must.TB
	Errorf(string, ...any)
}, rec *record.Record,
) {
	t.Helper()
	var line bytes.Buffer
	must.Do(t, record.Write(&line, rec))
	set := must.Get(compare.Load("record", line.Bytes()))(t)
	_, err := compare.Compare(compare.Sides{Old: set, New: set}, false)
	if err != nil && !errors.Is(err, zkbench.ErrEnv) { // which says that it failed, or that only stages were timed
		t.Errorf("%v", err)
	}
}

// TestReportedIsCompared: what an operation reports is refused when the case is set up, or can be
// written, read and compared; with operations, and with none that ended.
func TestReportedIsCompared(t *testing.T) {
	names := rapid.OneOf(rapid.SampledFrom([]string{"proof", "cpu", "instructions", "cycles", "capacity", "stage prove", "throughput", "", "a\xff", "b\xfe", "a b", "日本", "statements", "latency-p50"}), rapid.String())
	rapid.Check(t, func(t *rapid.T) {
		o := drawn()
		o.Metrics = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) bench.Metric {
			return bench.Metric{
				Name: names.Draw(t, "name"), Unit: rapid.OneOf(rapid.SampledFrom([]string{"B/op", "ns/op", "x", ""}), rapid.String()).Draw(t, "unit"),
				Value: rapid.OneOf(rapid.SampledFrom([]float64{math.Inf(1), math.NaN(), 0}), rapid.Float64()).Draw(t, "value"),
			}
		}), 0, 4).Draw(t, "figures")
		fails := rapid.Bool().Draw(t, "fails")
		if fails {
			o.Run = func(context.Context, []byte) ([]byte, error) { return nil, errors.New("\x1b[2Jfailed\n") }
		}
		d := defOf(o)
		d.Properties = func(bench.Case) bench.Properties {
			return bench.Properties{ProvedBits: rapid.OneOf(rapid.Just(math.Inf(1)), rapid.Float64()).Draw(t, "bits"), Audited: rapid.String().Draw(t, "audited")}
		}
		w := must.Get(convert.Workload(d))(t)
		s := measure.DefaultSettings(1, time.Millisecond)
		s.Count, s.Samples, s.Arena, s.Warmup.Time = 2, 1, 1<<20, 0
		rec := measure.Case(context.Background(), w, workload.Case{}, s)
		switch _, err := w.New(context.Background(), workload.Case{}, 1); {
		case err != nil:
			must.Fail(t, err, zkbench.ErrParams, "figures that are refused")
			golden.Equal(t, "status", record.Failed, rec.Status)
		case !fails:
			golden.Equal(t, "status: "+rec.Error, record.OK, rec.Status)
			for _, m := range o.Metrics {
				if got, ok := rec.MetricNamed(m.Name); !ok || got.Value != m.Value {
					t.Errorf("figure %q is %v in the record", m.Name, got)
				}
			}
		}
		compared(t, rec)
	})
}
