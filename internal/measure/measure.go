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
	"strconv"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/memory"
	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/stage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Settings say how one case is measured. They travel to a child process as JSON,
// durations in ns, and to the child of another version too, when versions are
// compared: fields are only added, and keep their meaning.
type Settings struct {
	Workers          int              `json:"workers"`
	Arrivals         *runner.Arrivals `json:"arrivals,omitempty"` // nil: closed loop
	Queue            int              `json:"queue,omitempty"`    // open loop: tickets that may wait; 0: runner.DefaultQueue
	Duration         time.Duration    `json:"duration"`           // 0: until Count operations have ended
	Count            uint64           `json:"count,omitempty"`    // operations at most; 0: no bound
	Warmup           time.Duration    `json:"warmup"`
	WarmupOps        int              `json:"warmup_ops"`
	WarmupStationary bool             `json:"warmup_stationary,omitempty"`
	Grace            time.Duration    `json:"grace"`
	Samples          int              `json:"samples"` // inputs built before the run; 0: each operation builds its own
	Check            runner.Check     `json:"check"`
	Arena            int64            `json:"arena,omitempty"` // bytes; 0: runner.DefaultArena
	Seed             uint64           `json:"seed"`

	Profiles   []string `json:"profiles,omitempty"` // kinds; meter.ProfileKinds
	ProfileDir string   `json:"profile_dir,omitempty"`
}

// Defaults of the settings.
const (
	DefaultDuration = time.Second
	DefaultSamples  = 8
	DefaultSeed     = 1
)

// DefaultSettings measures for d with so many workers: a warm-up of a tenth of d
// (at most a second) and an operation per worker; results checked as far as the
// arena holds them.
func DefaultSettings(workers int, d time.Duration) Settings {
	return Settings{
		Workers: workers, Duration: d,
		Warmup: min(d/10, time.Second), WarmupOps: workers,
		Samples: DefaultSamples, Seed: DefaultSeed,
	}
}

// Of returns the case as it is measured with these settings: with the number of
// workers, and in an open loop rate and arrivals, as its last coordinates.
func (s Settings) Of(c workload.Case) workload.Case {
	c = c.With(WorkersAxis().Key, strconv.Itoa(s.Workers))
	if s.Arrivals != nil {
		c = c.With("rate", s.Arrivals.Rate()).With("arrivals", string(s.Arrivals.Shape))
	}
	return c
}

// New returns the record of a case of def that nothing was measured of yet.
func (s Settings) New(def string, c workload.Case) *record.Record {
	c = s.Of(c)
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	rec.Settings, _ = json.Marshal(s) // numbers, strings and lists of them
	return rec
}

// Case sets up the case, runs it and returns its record. What goes wrong is
// in the record: its status, error and findings. When ctx ends, the record holds
// what was measured.
func Case(ctx context.Context, def workload.Def, c workload.Case, s Settings) *record.Record {
	rec := s.New(def.Name, c)
	defer pprof.SetGoroutineLabels(ctx)
	conclude(ctx, rec, load(ctx, def, c, s, rec))
	return rec
}

// conclude writes the error, if any, with which a case ended into its record.
func conclude(ctx context.Context, rec *record.Record, err error) {
	if err == nil {
		return
	}
	rec.Status, rec.Error = record.Failed, err.Error()
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
	var profiler *meter.Profiler
	if len(s.Profiles) > 0 {
		if profiler, err = meter.NewProfiler(s.ProfileDir, s.Profiles); err != nil {
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
	instance, err := def.New(meter.Phase(ctx, "set-up"), c, s.Seed)
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
	setup.End(sizes...)

	config := s.config(c, instance)
	config.Stages, config.Profiler = stages, profiler
	result, err := runner.Run(ctx, config, instance)
	rec.Stages = stages.Stages()
	if err != nil {
		return err
	}
	if err := result.Fill(rec); err != nil {
		return err
	}
	rec.Metrics = append(rec.Metrics, sizes...)
	return nil
}

// Validate returns the error with which the load runner would refuse the settings,
// before anything is set up.
func (s Settings) Validate() error {
	config := s.config(workload.Case{}, nil)
	return config.Validate()
}

// config returns the runner's configuration for an instance of the case.
func (s Settings) config(c workload.Case, instance workload.Instance) runner.Config {
	config := runner.Config{
		Workers: s.Workers, Arrivals: s.Arrivals, Queue: s.Queue,
		Duration: s.Duration, Count: s.Count, Grace: s.Grace,
		Warmup:  runner.Warmup{Time: s.Warmup, Ops: uint64(max(s.WarmupOps, 0)), Stationary: s.WarmupStationary},
		Samples: s.Samples, Available: memory.Available(), Check: s.Check, Arena: s.Arena, Seed: s.Seed,
	}
	if s.Arrivals != nil && s.Queue == 0 {
		config.Queue = runner.DefaultQueue
	}
	mix, mixed := instance.(workload.Mixed)
	if mixed {
		config.Classes, config.Class = mix.Classes(), mix.Class
		// Whole turns of the mix, so that inputs used again keep its proportions.
		turn := mix.Turn()
		config.Samples = (s.Samples + turn - 1) / turn * turn
		if config.Samples > runner.MaxSamples {
			config.Samples -= turn
		}
	}
	// Elsewhere goroutines, and the pools of their processors, change the counts.
	exec := c.Get("exec")
	_, collective := instance.(workload.Collective)
	config.Alone = !mixed && !collective && (exec == "" || exec == "serial")
	return config
}
