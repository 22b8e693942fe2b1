package workload

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
)

// Settings say how one case is measured. They travel to a child process as
// JSON, durations in ns.
type Settings struct {
	Workers   int           `json:"workers"`
	Duration  time.Duration `json:"duration"`
	Warmup    time.Duration `json:"warmup"`
	WarmupOps int           `json:"warmup_ops"`
	Grace     time.Duration `json:"grace"`
	Samples   int           `json:"samples"` // inputs built before the run; 0: each operation builds its own
	Keep      int           `json:"keep"`    // results kept for the check; 0: none is checked
	Seed      uint64        `json:"seed"`

	Profiles   []string `json:"profiles,omitempty"` // kinds; meter.ProfileKinds
	ProfileDir string   `json:"profile_dir,omitempty"`
}

// Defaults of the settings.
const (
	DefaultDuration = time.Second
	DefaultSamples  = 8
	DefaultSeed     = 1
	KeepAll         = 1 << 16 // results kept where all are to be checked; beyond it a sample
)

// DefaultSettings measures for d with so many workers: a warm-up of a tenth of d
// (at most a second) and an operation per worker, all results checked.
// Operations in flight when the window closes have 1 to 10 seconds to end, as
// long as the window: cutting them off would favour the short ones.
func DefaultSettings(workers int, d time.Duration) Settings {
	return Settings{
		Workers: workers, Duration: d,
		Warmup: min(d/10, time.Second), WarmupOps: workers,
		Grace:   min(max(d, time.Second), 10*time.Second),
		Samples: DefaultSamples, Keep: KeepAll, Seed: DefaultSeed,
	}
}

// Plan is a workload with the cases to be run.
type Plan struct {
	Def   Def
	Cases []Case
}

// Measure sets up the case, runs it and returns its record, whose case has the
// number of workers as last axis. What goes wrong is in the record: its status,
// error and findings. When ctx ends, the record holds what was measured.
func Measure(ctx context.Context, def Def, c Case, s Settings) *record.Record {
	c = c.With(WorkersAxis().Key, strconv.Itoa(s.Workers))
	rec := record.New()
	rec.Workload, rec.Case, rec.Axes = def.Name, c.String(), c.Axes()
	rec.Env, rec.Seed = env.Read(), s.Seed
	if err := measure(ctx, def, c, s, rec); err != nil {
		rec.Status, rec.Error = record.Failed, err.Error()
		if ctx.Err() != nil {
			rec.Status = record.Partial
		}
	}
	return rec
}

func measure(ctx context.Context, def Def, c Case, s Settings, rec *record.Record) (err error) {
	instance, err := def.New(ctx, c, s.Seed)
	if err != nil {
		return fmt.Errorf("set-up: %w", err)
	}
	defer func() {
		if closing := instance.Close(); closing != nil {
			err = errors.Join(err, fmt.Errorf("close: %w", closing))
		}
	}()
	config := runner.Config{
		Workers: s.Workers, Duration: s.Duration,
		Warmup: s.Warmup, WarmupOps: s.WarmupOps, Grace: s.Grace,
		Samples: s.Samples, Keep: s.Keep, Seed: s.Seed,
	}
	if len(s.Profiles) > 0 {
		config.Observe = func() (func() error, error) { return meter.Profile(s.ProfileDir, s.Profiles) }
		rec.Findings = append(rec.Findings, record.Finding{
			Name: "profiled",
			Text: fmt.Sprintf("profiles were taken during the window and cost time of their own; they are in %s", s.ProfileDir),
		})
	}
	result, err := runner.Run(ctx, config, instance)
	if err != nil {
		return err
	}
	if err := result.Fill(rec); err != nil {
		return err
	}
	sizes, err := instance.Metrics(ctx)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	rec.Metrics = append(rec.Metrics, sizes...)
	return nil
}
