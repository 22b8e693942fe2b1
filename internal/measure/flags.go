package measure

import (
	"cmp"
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

// Options are the values of a test binary's flags. If the binary does not define a flag, the option
// for it has the flag's default value.
type Options struct {
	flags    *flag.FlagSet
	settings Typed
}

// goTestFlags are the settings with a flag under go test. The flags' names may differ from those of
// the command.
var goTestFlags = []struct{ name, flag, text, help string }{
	{"workers", "workers", "1", "load tests: numbers of workers, separated by commas; " + NumCPU + " is the number of processors"},
	{"duration", "duration", DefaultDuration.String(), "load tests: measure each case for this time"},
	{"samples", "setup_samples", strconv.Itoa(DefaultSamples), "inputs to build before a case and use in turn; 0: each operation builds its own, timed separately"},
	{"seed", "seed", strconv.Itoa(DefaultSeed), "seed of the inputs"},
}

const profileFlag = "profile"

// smokeDuration is the window of a load test if no flag is given.
const smokeDuration = 100 * time.Millisecond

// Flags defines on fs the flags that Benchmark and TestParallel use for the workloads defs. There is a flag for each
// axis (parameter of a workload) of defs. There is also a flag for each axis that workloads of tokens share: curve,
// bits, inputs, outputs, proof type and executor, so that one command line fits several packages. The other flags are
// -workers, -duration, -setup_samples, -profile and -seed. The testing package parses the flags if fs is
// flag.CommandLine:
//
//	var options = measure.Flags(flag.CommandLine, workloads.NTT())
func Flags(fs *flag.FlagSet, defs ...workload.Def) *Options {
	DefineFlags(fs, defs...)
	for _, a := range []workload.Axis{
		workload.CurveAxis(nil, nil), workload.BitsAxis(), workload.InputsAxis(3), workload.OutputsAxis(3), workload.ProofAxis(nil), workload.ExecutorAxis(nil),
	} {
		if option(fs, a.Flag) == nil {
			fs.Var(&argument.Option{Kind: argument.KindList}, a.Flag, a.Usage+": no workload of this package has them")
		}
	}
	return OptionsOf(fs)
}

// DefineFlags defines flags on fs: one for each axis of the workloads defs, and the flags for settings, which are
// listed in the comment of Flags. If several workloads have an axis with the same flag, they share it.
func DefineFlags(fs *flag.FlagSet, defs ...workload.Def) {
	usage := make(map[string][]string) // by flag
	for _, a := range workload.DistinctAxes(defs) {
		text := a.Usage + ", separated by commas: " + a.Accepted + " (default of benchmarks " + cmp.Or(a.Depends, strings.Join(a.Default, ", "))
		if a.Smoke != workload.Own {
			text += ", of load tests " + a.Smoke
		}
		usage[a.Flag] = append(usage[a.Flag], text+")")
	}
	for name, texts := range usage {
		fs.Var(&argument.Option{Kind: argument.KindList}, name, strings.Join(texts, "; "))
	}
	for _, f := range goTestFlags {
		make(Typed).Define(func(option *argument.Option, _, _ string) {
			option.Text = f.text
			fs.Var(option, f.flag, f.help)
		}, f.name)
	}
	fs.Bool(profileFlag, false, "load tests: write "+strings.Join(resources.ProfileKinds(), ", ")+" profiles of each case to "+ProfileRoot)
}

// OptionsOf returns the values of the flags that DefineFlags defined on fs. If DefineFlags was not
// called, all flags have their default values.
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

// option returns the flag with the given name if DefineFlags defined it, and nil otherwise.
func option(fs *flag.FlagSet, name string) *argument.Option {
	if f := fs.Lookup(name); f != nil {
		if o, ok := f.Value.(*argument.Option); ok {
			return o
		}
	}
	return nil
}

// given reports whether the axis' flag was given.
func (o *Options) given(a workload.Axis) bool {
	typed := option(o.flags, a.Flag)
	return typed != nil && typed.Given
}

// profiled reports whether profiles were asked for.
func (o *Options) profiled() bool {
	if option(o.flags, goTestFlags[0].flag) == nil { // the flag, if any, is another's
		return false
	}
	f := o.flags.Lookup(profileFlag)
	return f != nil && f.Value.String() == "true"
}

// any reports whether one of the flags was given.
func (o *Options) any(def workload.Def) bool {
	return o.profiled() || slices.ContainsFunc(def.Axes, o.given) ||
		slices.ContainsFunc(slices.Collect(maps.Values(o.settings)), func(s *argument.Option) bool { return s.Given })
}

// matrix returns the cases of def that the flags ask for. An axis whose flag was not given takes
// its smoke value if smoke is set, and all its defaults otherwise.
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

// NumCPU is the word that a list of numbers of workers accepts in place of a number. It means the
// number of processors that the program may use.
const NumCPU = "NumCPU"

// WorkersAxis returns the axis (parameter of a case) for the number of workers, which is the number
// of operations that run at the same time. This axis belongs to the run, not to a workload.
// Therefore it appears in the name of a case only if the case is run as a load test.
func WorkersAxis() workload.Axis {
	axis := workload.IntAxis(workload.Axis{Name: "workers", Usage: "numbers of workers", Smoke: "1"}, 1, runner.MaxWorkers, 1)
	axis.Accepted += ", " + NumCPU
	numbers := axis.Parse
	axis.Parse = func(list string) ([]string, error) {
		items := strings.Split(list, ",")
		for i, item := range items {
			if strings.EqualFold(strings.TrimSpace(item), NumCPU) {
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
