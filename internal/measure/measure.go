// Package measure measures the cases of workloads. The function Case measures a case under load,
// Leak tests it for timing leaks, and Stages measures each of its stages. A case can run in the
// calling process or in a child process (Job, Program). Under `go test`, Benchmark runs benchmarks
// and TestParallel runs load tests.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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

// Case sets up the case c of the workload def, runs it under load and returns its record. Errors
// are not returned: they are in the record, as its status, error and findings. If ctx ends, the
// record holds what was measured until then.
func Case(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	rec := s.New(def.Name, c)
	describe(rec, def, c)
	defer pprof.SetGoroutineLabels(ctx)
	conclude(ctx, rec, protect(func() error { return load(ctx, def, c, s, rec) }))
	return rec
}

// protect runs f. If f panics or ends its goroutine, protect returns that as an error.
func protect(f func() error) error {
	_, err := runner.Protect(func() (struct{}, error) { return struct{}{}, f() })
	return err
}

// describe writes the properties of the case's proof system, if they are known, into the record.
func describe(rec *record.Record, def workload.Def, c workload.Case) {
	if def.Properties != nil {
		if p := def.Properties(c); p != (record.Properties{}) {
			rec.Properties = &p
		}
	}
}

// conclude writes the error with which a case ended, if any, into the record.
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
		rec.Findings = append(rec.Findings, record.Finding{Name: record.Refused, Text: "nothing was measured: the request is not accepted"})
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
			if record.CheckOnce(sizes, m) == nil { // the workload's own value has precedence
				sizes = append(sizes, m)
			}
		}
	}
	setup.End(sizes...)

	config := s.config(c, instance)
	config.Stages, config.Profiler = stages, profiler
	result, err := runner.Run(ctx, config, instance)
	rec.Stages = stages.Stages()
	prover, others := instance.(workload.Measured)
	var figures []record.Metric
	if others {
		for i := range rec.Stages {
			rec.Stages[i].Whose = record.OfZkbench
		}
		var findings []record.Finding
		figures, findings = prover.Measured()
		rec.Findings = append(rec.Findings, findings...)
	}
	if err != nil {
		return err
	}
	if err := result.Fill(rec); err != nil {
		return err
	}
	if others {
		dropOwnFigures(rec, figures, prover.Whose())
	}
	err = rec.Add(append(figures, sizes...)...)
	rec.SetWhose(record.OfOperations)
	if err != nil {
		return err
	}
	noteIdle(rec, s.Named(c))
	if s.Measured != nil {
		s.Measured(rec)
	}
	rec.Findings = append(rec.Findings, result.Doubt(ctx)...)
	return nil
}

// dropOwnFigures removes this process' memory, collections and waits from a record whose operations
// the processes whose ran, and every figure that these report themselves. The processor time stays:
// the runner's covers adopted children, if there are any.
func dropOwnFigures(rec *record.Record, figures []record.Metric, whose record.Whose) {
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(own record.Metric) bool {
		reported := slices.ContainsFunc(figures, func(m record.Metric) bool { return own.Name() == m.Name() })
		return reported || own.Group() == record.Memory || own.Group() == record.Runtime || own.Name() == record.ProcessWait.Name()
	})
	rec.Series = slices.DeleteFunc(rec.Series, record.Series.OfAProcess)
	rec.Findings = slices.DeleteFunc(rec.Findings, func(f record.Finding) bool { return f.Name == record.PeakSampled })
	markShared(rec, whose)
	rec.SetWhose(whose)
}

// markShared marks the metrics that count this process together with those that it started.
func markShared(rec *record.Record, whose record.Whose) {
	for i, m := range rec.Metrics {
		if m.Name() == record.Processors.Name() || m.Name() == record.Preempted.Name() {
			rec.Metrics[i] = m.WithWhose(whose.WithZkbench())
		}
	}
}

// setUp creates the instance of a case for the given numbers of inputs and workers. If there is not
// enough memory, it returns a *zkbench.LimitError before it allocates anything.
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

// Stages runs each stage of the case c once, with the seed s.Seed, and returns a record. The record
// has a metric for the time of each stage, and a list of the stages with their memory and sizes. If
// a stage fails, the error is in the record, together with the stages that had ended before.
func Stages(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	return stages(ctx, def, c, s, nil)
}

// stages is like Stages. If tasks is not nil, operations run on it, and times are computed for as many
// processors as it is wide.
func stages(ctx context.Context, def workload.Def, c workload.Case, s Settings, tasks *executor.Recorder) *record.Record {
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def.Name, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	describe(rec, def, c)
	if s.SRS != "" { // stages have no other settings
		rec.Settings, _ = json.Marshal(Settings{SRS: s.SRS, SRSHash: s.SRSHash})
	}
	if def.Stages == nil {
		conclude(ctx, rec, &argument.ValueError{Field: "workload", Value: def.ID(), Accepted: "one that has stages"})
		return rec
	}
	stages := stage.New()
	if tasks != nil {
		stages, ctx = stage.NewPredicted(tasks), workload.WithExecutor(ctx, tasks)
		rec.Findings = append(rec.Findings, predicted())
	}
	machine := resources.Watch()
	staged, err := runner.Protect(func() (workload.Staged, error) {
		return def.Stages(workload.WithSRS(resources.Phase(ctx, "stages"), s.srs()), c, s.Seed, stages)
	})
	rec.Stages = stages.Stages()
	unfit := stages.Unfit()
	for _, name := range slices.Sorted(maps.Keys(unfit)) {
		rec.Findings = append(rec.Findings, record.Finding{Name: record.FindingUnpredicted, Text: fmt.Sprintf("%s: %v", name, unfit[name])})
	}
	for _, one := range rec.Stages {
		q := record.StageTime(one.Name)
		if i := slices.IndexFunc(rec.Metrics, func(m record.Metric) bool { return m.Name() == q.Name() }); i >= 0 {
			rec.Metrics[i].Value += one.Time.Seconds() // the stage ran more than once
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
		markShared(rec, record.OfProver)
	}
	rec.SetWhose(record.OfOperations)
	rec.Findings = append(rec.Findings, staged.Findings...)
	if tasks == nil {
		noteIdle(rec, c)
	}
	conclude(ctx, rec, err)
	return rec
}
