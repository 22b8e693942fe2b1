package measure

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// parse reads flags as a command does.
func parse(args []string) ([]Settings, error) {
	flags := pflag.NewFlagSet("run", pflag.ContinueOnError)
	typed := make(Typed)
	for _, row := range settings() {
		typed.Define(func(o *argument.Option, name, help string) { flags.Var(o, name, help) }, row.name)
	}
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	return typed.Settings(typed["workers"].Text, DefaultDuration)
}

// TestFlagsAreTheSettings: what is printed for settings is read as those settings.
func TestFlagsAreTheSettings(t *testing.T) {
	durations := rapid.Custom(func(rt *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(int64(MinDuration), int64(MaxDuration)).Draw(rt, "ns"))
	})
	rapid.Check(t, func(rt *rapid.T) {
		window := durations.Draw(rt, "window")
		s := DefaultSettings(rapid.IntRange(1, runner.MaxWorkers).Draw(rt, "workers"), window)
		s.Queue, s.Arena = runner.DefaultQueue, runner.DefaultArena
		sometimes := func(name string, change func()) {
			if rapid.Bool().Draw(rt, name) {
				change()
			}
		}
		sometimes("count", func() { s.Count = rapid.Uint64Range(1, MaxCount).Draw(rt, "operations") })
		sometimes("warm-up", func() {
			s.Warmup = runner.Warmup{
				Time: rapid.OneOf(rapid.Just(time.Duration(0)), durations).Draw(rt, "time"),
				Ops:  rapid.Uint64Range(0, 1<<40).Draw(rt, "ops"), Stationary: rapid.Bool().Draw(rt, "stationary"),
			}
		})
		sometimes("grace", func() { s.Grace = durations.Draw(rt, "grace") })
		sometimes("samples", func() { s.Samples = rapid.IntRange(1, runner.MaxSamples).Draw(rt, "inputs") })
		sometimes("seed", func() { s.Seed = rapid.Uint64().Draw(rt, "seed") })
		sometimes("arena", func() { s.Arena = mebibyte * rapid.Int64Range(1, runner.MaxArena/mebibyte).Draw(rt, "MiB") })
		sometimes("string", func() { s.SRS = "powers.ptau" })
		sometimes("hash", func() { s.SRSHash = strings.Repeat("0f", 64) })
		sometimes("profiles", func() { s.Profiles = rapid.Permutation(resources.ProfileKinds()).Draw(rt, "kinds")[:2] })
		switch rapid.IntRange(0, 3).Draw(rt, "check") {
		case 1:
			s.Check = runner.Check{Policy: runner.CheckNone}
		case 2:
			s.Check = runner.Check{Policy: runner.CheckAll}
		case 3:
			s.Check = runner.Check{Policy: runner.CheckSample, N: rapid.IntRange(1, maxKept).Draw(rt, "kept")}
		}
		if shape := rapid.IntRange(-1, len(runner.Shapes())-1).Draw(rt, "shape"); shape >= 0 {
			rates := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), 2, 4).Draw(rt, "rates")
			a := runner.Arrivals{Shape: runner.Shapes()[shape], Rates: rates}
			switch a.Shape {
			case runner.Constant, runner.Poisson:
				a.Rates = rates[:1]
			case runner.Ramp:
				a.Rates = rates[:2]
			}
			s.Arrivals = &a
			s.Queue = rapid.IntRange(1, runner.MaxQueue).Draw(rt, "queue")
		} else {
			sometimes("no corpus", func() { s.Samples = 0 })
			sometimes("count alone", func() {
				s.Count, s.Duration = max(s.Count, 1), 0
				s.Warmup = DefaultSettings(s.Workers, DefaultDuration).Warmup
			})
		}
		if s.Validate() != nil {
			rt.Skip("the runner refuses it")
		}
		var args []string
		for _, f := range s.Flags() {
			args = append(args, "--"+f.Name, f.Value)
		}
		got, err := parse(args)
		if err != nil {
			rt.Fatalf("%q: %v", args, err)
		}
		golden.Equal(rt, fmt.Sprintf("%q", args), []Settings{s}, got)
	})
}
