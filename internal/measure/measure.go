// Package measure measures workloads: under load (Case), for timing leaks (Leak) and stage
// by stage (Stages), in this process or in one of its own (Job, Program), and under go test
// as a benchmark (Benchmark) and as a load test (TestParallel).
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/sys/memory"
	"github.com/zkbench/zkbench/internal/workload"
)

// Case sets up the case, runs it and returns its record. What goes wrong is
// in the record: its status, error and findings. When ctx ends, the record holds
// what was measured.
func Case(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	rec := s.New(def.Name, c)
	describe(rec, def, c)
	defer pprof.SetGoroutineLabels(ctx)
	conclude(ctx, rec, protect(func() error { return load(ctx, def, c, s, rec) }))
	return rec
}

// protect has a panic of f be its error, and a goroutine that it ends.
func protect(f func() error) error {
	_, err := runner.Protect(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// describe writes what is known of the case's proof system into its record.
func describe(rec *record.Record, def workload.Def, c workload.Case) {
	if def.Properties != nil {
		if p := def.Properties(c); p != (record.Properties{}) {
			rec.Properties = &p
		}
	}
}

// conclude writes the error, if any, with which a case ended into its record.
func conclude(ctx context.Context, rec *record.Record, err error) {
	if err == nil {
		return
	}
	rec.Status, rec.Error = record.Failed, err.Error()
	if p, ok := errors.AsType[*executor.PanicError](err); ok {
		rec.Findings = append(rec.Findings, record.Finding{Name: "error", Text: string(p.Stack)})
	}
	switch {
	case ctx.Err() != nil:
		rec.Status = record.Partial
	case errors.Is(err, zkbench.ErrParams) || errors.Is(err, zkbench.ErrLimit):
		rec.Findings = append(rec.Findings, record.Finding{Name: record.Refused, Text: "nothing was measured: what was asked for is not accepted"})
	}
}

func load(ctx context.Context, def workload.Def, c workload.Case, s Settings, rec *record.Record) (err error) {
	also := func(what string, f func() error) {
		if closing := f(); closing != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", what, closing))
		}
	}
	var profiler *resources.Profiler
	if len(s.Profiles) > 0 {
		if profiler, err = resources.NewProfiler(s.ProfileDir, s.Profiles); err != nil {
			return fmt.Errorf("profiles: %w", err)
		}
		rec.Findings = append(rec.Findings, record.Finding{
			Name: "profiled",
			Text: fmt.Sprintf("profiles were taken during the window and cost time of their own; they are in %s", s.ProfileDir),
		})
	}
	defer also("profiles", profiler.Close)

	stages := stage.New()
	setup := stages.Start("set-up")
	instance, err := setUp(workload.WithWorkers(workload.WithSRS(resources.Phase(ctx, "set-up"), s.srs()), s.Workers), def, c, s.Samples, s.Workers, s.Seed)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer also("close", instance.Close)
	if noted, ok := instance.(workload.Noted); ok {
		rec.Findings = append(rec.Findings, noted.Findings()...)
	}
	sizes, err := instance.Metrics(ctx)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	for i, m := range sizes {
		if err := record.CheckOnce(sizes[:i], m); err != nil {
			return fmt.Errorf("metrics: %w", err)
		}
	}
	isInstructions := func(m record.Metric) bool { return m.Name() == record.Instructions.Name() }
	if s.Instructions && !slices.ContainsFunc(sizes, isInstructions) {
		counted, err := hwcounter.Counters(ctx, instance)
		if err != nil {
			return fmt.Errorf("instructions: %w", err)
		}
		for _, m := range counted {
			if record.CheckOnce(sizes, m) == nil { // the workload knows better
				sizes = append(sizes, m)
			}
		}
	}
	setup.End(sizes...)

	config := s.config(c, instance)
	config.Stages, config.Profiler = stages, profiler
	result, err := runner.Run(ctx, config, instance)
	rec.Stages = stages.Stages()
	of, others := instance.(workload.Measured)
	var figures []record.Metric
	if others {
		for i := range rec.Stages {
			rec.Stages[i].Whose = record.OfZkbench
		}
		var findings []record.Finding
		figures, findings = of.Measured()
		rec.Findings = append(rec.Findings, findings...)
	}
	if err != nil {
		return err
	}
	if err := result.Fill(rec); err != nil {
		return err
	}
	if others {
		ofAnother(rec, figures)
	}
	err = rec.Add(append(figures, sizes...)...)
	rec.SetWhose(record.OfOperations)
	if err != nil {
		return err
	}
	if s.Measured != nil {
		s.Measured(rec)
	}
	rec.Findings = append(rec.Findings, result.Doubt(ctx)...)
	return nil
}

// ofAnother leaves in the record what is known of another program, which ran the operations and
// tells figures of its own: memory, collections and waits of this process are not what was
// measured. The runner's processor time is that of adopted children, where there are any.
func ofAnother(rec *record.Record, figures []record.Metric) {
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(own record.Metric) bool {
		told := slices.ContainsFunc(figures, func(m record.Metric) bool { return own.Name() == m.Name() })
		return told || own.Group() == record.Memory || own.Group() == record.Runtime || own.Name() == record.ProcessWait.Name()
	})
	rec.Series = slices.DeleteFunc(rec.Series, record.Series.OfAProcess)
	rec.Findings = slices.DeleteFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.PeakSampled })
	ofBoth(rec)
	rec.SetWhose(record.OfProver)
}

// ofBoth says which of the figures count this process too beside the program that it started.
func ofBoth(rec *record.Record) {
	for i, m := range rec.Metrics {
		if m.Name() == record.Processors.Name() || m.Name() == record.Preempted.Name() {
			rec.Metrics[i] = m.WithWhose(record.OfProverAndZkbench)
		}
	}
}

// setUp makes the instance of a case that is to have so many inputs and workers. One for which there is not the
// memory is a *zkbench.LimitError, before anything is allocated.
func setUp(ctx context.Context, def workload.Def, c workload.Case, inputs, workers int, seed uint64) (workload.Instance, error) {
	if def.Memory != nil {
		need, err := def.Memory(c)
		if err != nil {
			return nil, err
		}
		what := fmt.Sprintf("memory for the case with %s and %s", format.Plural(inputs, "input"), format.Plural(workers, "worker"))
		if err := memory.Fits(what, need.Bytes(inputs, workers)); err != nil {
			return nil, err
		}
	}
	return def.New(ctx, c, seed)
}

// Stages goes once through the stages of a case, with the settings' seed, and
// returns its record: a metric for the time of each stage, and the stages with their
// memory and sizes. What goes wrong is in the record, with the stages that had ended by
// then.
func Stages(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def.Name, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	describe(rec, def, c)
	if s.SRS != "" { // the other settings are none of its stages
		rec.Settings, _ = json.Marshal(Settings{SRS: s.SRS, SRSHash: s.SRSHash})
	}
	if def.Stages == nil {
		conclude(ctx, rec, &argument.ValueError{Field: "workload", Value: def.ID(), Accepted: "one that has stages"})
		return rec
	}
	stages := stage.New()
	machine := resources.Watch()
	staged, err := runner.Protect(func() (workload.Staged, error) {
		return def.Stages(workload.WithSRS(resources.Phase(ctx, "stages"), s.srs()), c, s.Seed, stages)
	})
	rec.Stages = stages.Stages()
	for _, one := range rec.Stages {
		q := record.StageTime(one.Name)
		if i := slices.IndexFunc(rec.Metrics, func(m record.Metric) bool { return m.Name() == q.Name() }); i >= 0 {
			rec.Metrics[i].Value += one.Time.Seconds() // a stage that was gone through more than once
		} else {
			rec.Metrics = append(rec.Metrics, q.Metric(one.Time.Seconds()))
		}
	}
	err = errors.Join(err, rec.Add(staged.Metrics...))
	if m := machine(); m != nil {
		runner.FillMachine(m, func(q record.Quantity, v float64) { rec.Metrics = append(rec.Metrics, q.Metric(v)) })
		if f, found := runner.DisturbedFinding(m); found {
			rec.Findings = append(rec.Findings, f)
		}
	}
	if def.Spec != nil {
		rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool { return m.Name() == record.ProcessWait.Name() })
		ofBoth(rec)
	}
	rec.SetWhose(record.OfOperations)
	rec.Findings = append(rec.Findings, staged.Findings...)
	conclude(ctx, rec, err)
	return rec
}
