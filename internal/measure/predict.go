package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// leastPredicted and mostPredicted are how many operations Predict records, whatever the time.
const leastPredicted, mostPredicted = 3, 1000

// predicted returns the finding of records whose times are computed.
func predicted() record.Finding {
	return record.Finding{Name: record.FindingPredicted, Text: "recorded on one processor: " + fmt.Sprint(runtime.NumCPU()) + " in the machine"}
}

// Predict runs operations of the case, one after the other, for the time s.Duration, and records their
// tasks. It returns a record whose one stage, record.OperationStage, has the time that the median
// operation takes on the given number of processors. Each result is checked.
func Predict(ctx context.Context, def workload.Def, c workload.Case, s Settings, cpus int) *record.Record {
	s.Workers, s.Arrivals = 1, nil
	rec := s.New(def.Name, c)
	describe(rec, def, c)
	conclude(ctx, rec, protect(func() error { return predict(ctx, def, c, s, cpus, rec) }))
	return rec
}

// PredictStages does what Stages does, and returns as the time of each stage that on the given number of
// processors, computed from its tasks.
func PredictStages(ctx context.Context, def workload.Def, c workload.Case, s Settings, cpus int) *record.Record {
	return stages(ctx, def, c, s, executor.NewRecorder(cpus))
}

func predict(ctx context.Context, def workload.Def, c workload.Case, s Settings, cpus int, rec *record.Record) (err error) {
	tasks := executor.NewRecorder(cpus)
	ctx = workload.WithExecutor(workload.WithWorkers(workload.WithSRS(ctx, s.srs()), 1), tasks)
	instance, err := setUp(ctx, def, c, s.Samples, 1, s.Seed)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		if closing := instance.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("close: %w", closing))
		}
	}()
	var all []record.Stage
	var refused error // of the last operation that cannot be predicted
	recorded := 0
	run := func(seq uint64, keep bool) error {
		input, err := instance.Input(ctx, seq)
		if err != nil {
			return fmt.Errorf("input %d: %w", seq, err)
		}
		section := tasks.Begin()
		output, err := runner.Recover(func() ([]byte, error) { return instance.Run(ctx, input) })
		trace := section.End()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("operation %d: %w", seq, err)
		}
		if err := instance.Check(ctx, input, output); err != nil {
			return fmt.Errorf("operation %d: wrong result: %w", seq, err)
		}
		if keep {
			one := record.Stage{Name: record.OperationStage, Whose: record.OfOperations}
			if one.Time, one.Predicted, err = stage.Predict(trace, cpus); err != nil {
				refused = fmt.Errorf("%w: the time of operation %d cannot be predicted: %w", zkbench.ErrParams, seq, err)
				return nil
			}
			all = append(all, one)
		}
		return nil
	}
	if err := run(0, false); err != nil { // fills caches
		return err
	}
	for begun, seq := time.Now(), uint64(1); recorded < leastPredicted || recorded < mostPredicted && time.Since(begun) < s.Duration; seq++ {
		if err := run(seq, true); err != nil {
			return err
		}
		recorded++
	}
	if 2*len(all) < recorded {
		return refused
	}
	slices.SortStableFunc(all, func(a, b record.Stage) int { return cmp.Compare(a.Time, b.Time) })
	median := all[len(all)/2]
	rec.Stages = []record.Stage{median}
	rec.Metrics = append(rec.Metrics, record.StageTime(median.Name).Metric(median.Time.Seconds()))
	rec.Findings = append(rec.Findings, predicted())
	return nil
}
