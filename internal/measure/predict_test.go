package measure_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// parts is an operation of eight equal tasks of about a millisecond, between two stretches of about a millisecond.
type parts struct {
	sleep
	ex    executor.Executor
	wrong bool
}

// worked keeps what work computes from being compiled away.
var worked atomic.Uint64

// work keeps the processor busy.
func work() {
	var sum uint64
	for i := range uint64(2_000_000) {
		sum += i * sum
	}
	worked.Add(sum)
}

func (p parts) Run(ctx context.Context, _ any) ([]byte, error) {
	work()
	err := p.ex.Do(ctx, 8, func(context.Context, int) error {
		work()
		return nil
	})
	work()
	return nil, err
}

func (p parts) Check(context.Context, any, []byte) error {
	if p.wrong {
		return errors.New("it is wrong")
	}
	return nil
}

// partsDef defines parts as a workload, also with one stage.
func partsDef(wrong bool) workload.Def {
	instance := func(ctx context.Context, c workload.Case) (parts, error) {
		ex, err := workload.Executor(ctx, c.Get(record.ExecutorKey))
		return parts{ex: ex, wrong: wrong}, err
	}
	return workload.Def{
		Name: "Parts",
		New: func(ctx context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
			return instance(ctx, c)
		},
		Stages: func(ctx context.Context, c workload.Case, _ uint64, r *stage.Recorder) (workload.Staged, error) {
			p, err := instance(ctx, c)
			if err != nil {
				return workload.Staged{}, err
			}
			whole := r.Start("whole")
			_, err = p.Run(ctx, nil)
			whole.End()
			return workload.Staged{}, err
		},
	}
}

func TestPredict(t *testing.T) {
	s := measure.DefaultSettings(1, 20*time.Millisecond)
	s.Samples = 1
	c := workload.NewCase(record.Axis{Key: record.ExecutorKey, Value: record.Predicted})
	for name, run := range map[string]func(cpus int) *record.Record{
		record.OperationStage: func(cpus int) *record.Record { return measure.Predict(t.Context(), partsDef(false), c, s, cpus) },
		"whole":               func(cpus int) *record.Record { return measure.PredictStages(t.Context(), partsDef(false), c, s, cpus) },
	} {
		// In units of one task: 10 on one processor, 6 on two, 3 on eight.
		for cpus, bounds := range map[int][2]float64{1: {1, 1}, 2: {0.5, 0.75}, 8: {0.2, 0.45}} {
			share := func(r *record.Record) (ofTime, ofSpan float64) {
				p := r.Stages[0].Predicted
				return float64(r.Stages[0].Time) / float64(p.Work), float64(p.Span) / float64(p.Work)
			}
			// On a busy machine equal tasks take unequal times, and a few times in a thousand very unequal ones.
			rec := run(cpus)
			for range 4 {
				if len(rec.Stages) == 0 {
					break
				}
				if time, span := share(rec); bounds[0] <= time && time <= bounds[1] && 0.2 <= span && span <= 0.45 {
					break
				}
				rec = run(cpus)
			}
			golden.Equal(t, name+": status", record.OK, rec.Status)
			if !slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.FindingPredicted }) {
				t.Errorf("%s: findings %v", name, rec.Findings)
			}
			got := rec.Stages[0]
			golden.Equal(t, "stage", name, got.Name)
			p := got.Predicted
			golden.Equal(t, "processors", cpus, p.CPUs)
			time, span := share(rec)
			golden.Within(t, name+": share of the work", bounds[0], time, bounds[1])
			golden.Within(t, name+": span in the work", 0.2, span, 0.45)
			m, ok := rec.Metric(record.StageTime(name))
			if !ok || m.Value != got.Time.Seconds() {
				t.Errorf("%s: metric %v for a stage of %v", name, m, got.Time)
			}
			if (cpus > 1) != (len(p.Places) > 0) {
				t.Errorf("%s: %d places on %d processors", name, len(p.Places), cpus)
			}
		}
	}
}

// TestUnpredictable: a stage whose work is done by goroutines that are not tasks, or that waits, has no time but a finding.
func TestUnpredictable(t *testing.T) {
	def := partsDef(false)
	def.Stages = func(_ context.Context, _ workload.Case, _ uint64, r *stage.Recorder) (workload.Staged, error) {
		waits := r.Start("waits")
		time.Sleep(20 * time.Millisecond)
		waits.End()
		works := r.Start("works")
		work()
		works.End()
		return workload.Staged{}, nil
	}
	rec := measure.PredictStages(t.Context(), def, workload.NewCase(), measure.DefaultSettings(1, 0), 4)
	golden.Equal(t, "stages", 1, len(rec.Stages))
	golden.Equal(t, "stage", "works", rec.Stages[0].Name)
	i := slices.IndexFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.FindingUnpredicted })
	if i < 0 {
		t.Fatalf("findings %v", rec.Findings)
	}
	golden.Contains(t, rec.Findings[i].Text, "waits: it waited ")
	if _, ok := rec.Metric(record.StageTime("waits")); ok {
		t.Error("a time of the stage that waits")
	}
}

// TestUnpredictableOperation: an operation that waits has no predicted time.
func TestUnpredictableOperation(t *testing.T) {
	def := partsDef(false)
	def.New = func(context.Context, workload.Case, uint64) (workload.Instance, error) { return napping{}, nil }
	rec := measure.Predict(t.Context(), def, workload.NewCase(), measure.DefaultSettings(1, time.Millisecond), 4)
	golden.Equal(t, "refused", true, rec.Refused())
	golden.Contains(t, rec.Error, "cannot be predicted: it waited ")
	golden.Equal(t, "stages", 0, len(rec.Stages))
}

// napping is an operation that waits.
type napping struct{ parts }

func (napping) Run(context.Context, any) ([]byte, error) {
	time.Sleep(5 * time.Millisecond)
	return nil, nil
}

// TestPredictFails: a wrong result, and a set-up that refuses the executor, leave no predicted time.
func TestPredictFails(t *testing.T) {
	s := measure.DefaultSettings(1, time.Millisecond)
	rec := measure.Predict(t.Context(), partsDef(true), workload.NewCase(), s, 2)
	golden.Equal(t, "status", record.Failed, rec.Status)
	golden.Contains(t, rec.Error, "operation 0: wrong result: it is wrong")
	golden.Equal(t, "stages", 0, len(rec.Stages))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	golden.Equal(t, "after cancelling", record.Partial, measure.Predict(ctx, partsDef(false), workload.NewCase(), s, 2).Status)
	_, err := workload.Executor(t.Context(), record.Predicted)
	must.Fail(t, err, zkbench.ErrParams, "the executor predicted without a recorder")
}
