package measure

import (
	"flag"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/workload"
)

// Options are the flags of a test binary. What is not defined there has its default.
type Options struct {
	flags    *flag.FlagSet
	settings Typed
}

// goTestFlags are the settings that go test has flags of, under names of its own.
var goTestFlags = []struct{ name, flag, text, help string }{
	{"workers", "workers", "1", "load tests: comma-separated list of numbers of workers; " + NumCPU + " stands for the number of processors"},
	{"duration", "duration", DefaultDuration.String(), "load tests: time that each case is measured for"},
	{"samples", "setup_samples", strconv.Itoa(DefaultSamples), "inputs built before a case and used in turn; 0: each operation builds its own, timed apart"},
	{"seed", "seed", strconv.Itoa(DefaultSeed), "seed of the inputs"},
}

const profileFlag = "profile"

// smokeDuration is the window of a load test where no flag asks for more.
const smokeDuration = 100 * time.Millisecond

// Flags defines the flags of Benchmark and TestParallel on fs: those of the
// shared axes, of extra ones that have none yet, and -workers -duration
// -setup_samples -profile -seed. The testing package parses them:
//
//	var options = measure.Flags(flag.CommandLine, workloads.NTT().Axes...)
func Flags(fs *flag.FlagSet, extra ...workload.Axis) *Options {
	DefineFlags(fs, append([]workload.Axis{
		workload.CurveAxis(nil, nil), workload.BitsAxis(), workload.InputsAxis(3), workload.OutputsAxis(3), workload.ProofAxis(nil), workload.ExecutorAxis(nil),
	}, extra...)...)
	return OptionsOf(fs)
}

// DefineFlags defines the flags of these axes, one of those that share theirs, and of the
// settings.
func DefineFlags(fs *flag.FlagSet, axes ...workload.Axis) {
	for _, a := range axes {
		if option(fs, a.Flag) == nil {
			fs.Var(&argument.Option{Kind: argument.KindList}, a.Flag, "comma-separated list of "+a.Usage)
		}
	}
	for _, f := range goTestFlags {
		make(Typed).Define(func(option *argument.Option, _, _ string) {
			option.Text = f.text
			fs.Var(option, f.flag, f.help)
		}, f.name)
	}
	fs.Bool(profileFlag, false, "load tests: write "+strings.Join(resources.ProfileKinds(), ", ")+" profiles of each case to "+ProfileRoot)
}

// OptionsOf are the flags that DefineFlags has defined on fs, if it has.
func OptionsOf(fs *flag.FlagSet) *Options {
	o := &Options{flags: fs, settings: make(Typed)}
	for _, f := range goTestFlags {
		if defined := option(fs, f.flag); defined != nil {
			o.settings[f.name] = defined
			continue
		}
		o.settings.Define(func(option *argument.Option, _, _ string) { option.Text = f.text }, f.name)
	}
	return o
}

// option is the flag of that name, if it is one of ours.
func option(fs *flag.FlagSet, name string) *argument.Option {
	if f := fs.Lookup(name); f != nil {
		if o, ok := f.Value.(*argument.Option); ok {
			return o
		}
	}
	return nil
}

// given tells whether an axis was typed.
func (o *Options) given(a workload.Axis) bool {
	typed := option(o.flags, a.Flag)
	return typed != nil && typed.Given
}

// profiled tells whether profiles were asked for.
func (o *Options) profiled() bool {
	if option(o.flags, goTestFlags[0].flag) == nil { // the flag, if any, is another's
		return false
	}
	f := o.flags.Lookup(profileFlag)
	return f != nil && f.Value.String() == "true"
}

// any tells whether one of the flags was given.
func (o *Options) any(def workload.Def) bool {
	return o.profiled() || slices.ContainsFunc(def.Axes, o.given) ||
		slices.ContainsFunc(slices.Collect(maps.Values(o.settings)), func(s *argument.Option) bool { return s.Given })
}

// matrix returns the cases of def that the flags ask for. An axis that no flag
// names takes its default, or its smoke value where smoke is set.
func (o *Options) matrix(def workload.Def, smoke bool) ([]workload.Case, error) {
	lists := make(map[string]string)
	for _, a := range def.Axes {
		switch {
		case o.given(a):
			lists[a.Key] = option(o.flags, a.Flag).Text
		case smoke:
			lists[a.Key] = a.Smoke
		}
	}
	return workload.Cases(def, lists)
}

// NumCPU is the name that the workers' list accepts for the number of
// processors that the program may use.
const NumCPU = "NumCPU"

// WorkersAxis is the number of operations in flight. It belongs to the run, not
// to a workload: it stands in the case's name for load tests only.
func WorkersAxis() workload.Axis {
	axis := workload.IntAxis(workload.Axis{Name: "workers", Usage: "numbers of workers", Smoke: "1"}, 1, runner.MaxWorkers, 1)
	axis.Accepted += ", " + NumCPU
	numbers := axis.Parse
	axis.Parse = func(list string) ([]string, error) {
		items := strings.Split(list, ",")
		for i, item := range items {
			if strings.TrimSpace(item) == NumCPU {
				items[i] = strconv.Itoa(runtime.GOMAXPROCS(0))
			}
		}
		values, err := numbers(strings.Join(items, ","))
		if e, ok := err.(*argument.ValueError); ok {
			e.Accepted = axis.Accepted
		}
		return values, err
	}
	return axis
}
