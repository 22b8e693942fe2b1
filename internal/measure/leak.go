package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// LeakThreshold is the absolute value of Welch's t above which a timing test says that an
// operation's time depends on its witness (Reparaz, Balasch, Verbauwhede 2016, section 3).
const LeakThreshold = 4.5

// leakBatch is the number of operations whose inputs are built together, so that no input is built
// between two timings.
const leakBatch = 32

// leakCalibration is the number of measurements, at the start, that set the crops.
const leakCalibration = 200

// Leak tests whether the operation's time depends on its witness. One worker runs the operation
// with a fixed witness and with random ones, in random order; Leak compares the times by Welch's
// t-test. Leak stops when s.Duration has passed and there are enough samples. It also stops after
// s.Count operations. If s.Duration or s.Count is 0, it sets no limit.
//
// The metric leak-t of the record is Welch's t. The record's counters leak-fixed and leak-random
// are the numbers of samples with the fixed witness and with random ones. If there are too few
// samples, the record has the status "partial" and no metric leak-t. If the workload has no
// witness, the record has the status "failed" and the text of an *argument.ValueError as its error.
func Leak(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	s.Workers, s.Arrivals = 1, nil
	rec := s.New(def.Name, c)
	err := protect(func() error { return leak(ctx, def, c, s, rec) })
	conclude(ctx, rec, err)
	if err == nil && ctx.Err() != nil {
		rec.Status, rec.Error = record.Partial, "interrupted"
	}
	return rec
}

func leak(ctx context.Context, def workload.Def, c workload.Case, s Settings, rec *record.Record) (err error) {
	instance, err := setUp(ctx, def, c, leakBatch, 1, s.Seed)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		if closing := instance.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("close: %w", closing))
		}
	}()
	secret, ok := instance.(workload.Secret)
	if !ok {
		return &argument.ValueError{Field: "workload", Value: def.ID(), Accepted: "one whose operation has a witness"}
	}
	// Collections would fall into some timings and not into others.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	test := stat.NewLeak(leakCalibration)
	order := rand.New(rand.NewPCG(s.Seed, 0))
	begin := time.Now()
	var seq uint64
	over := func() bool {
		return ctx.Err() != nil || s.Duration > 0 && time.Since(begin) >= s.Duration && test.Enough() || s.Count > 0 && seq >= s.Count
	}
	for !over() {
		runtime.GC()
		inputs := make([]any, leakBatch)
		if s.Count > 0 {
			inputs = inputs[:min(leakBatch, s.Count-seq)]
		}
		classes := make([]int, len(inputs))
		for i := range inputs {
			classes[i] = order.IntN(2)
			if inputs[i], err = secret.SecretInput(ctx, seq+uint64(i), classes[i] == 0); err != nil {
				return fmt.Errorf("input %d: %w", seq+uint64(i), err)
			}
		}
		for i, input := range inputs {
			if over() {
				break
			}
			start := time.Now()
			_, err := runner.Recover(func() ([]byte, error) { return instance.Run(ctx, input) })
			took := time.Since(start)
			if ctx.Err() != nil {
				break
			}
			if err != nil {
				return fmt.Errorf("operation %d: %w", seq, err)
			}
			test.Add(classes[i], float64(took))
			seq++
		}
	}
	t, crop, n := test.T()
	rec.Counters = append(rec.Counters,
		record.Counter{Name: record.CountDone, Value: seq},
		record.Counter{Name: record.CountLeakFixed, Value: n[0]},
		record.Counter{Name: record.CountLeakRandom, Value: n[1]})
	if min(n[0], n[1]) < stat.LeakSamples {
		rec.Status = record.Partial
		rec.Error = fmt.Sprintf("too few samples for a test: %d with the fixed witness and %d with random ones, %d of each are needed", n[0], n[1], stat.LeakSamples)
		return nil
	}
	rec.Metrics = append(rec.Metrics, record.LeakT.Metric(t))
	rec.Findings = append(rec.Findings, record.Finding{Name: "leak", Text: fmt.Sprintf("the largest |t| is that of %s", crop)})
	return nil
}
