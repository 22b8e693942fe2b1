package measure

import (
	"flag"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// Options are the flags of a test binary.
type Options struct {
	flags    *flag.FlagSet
	lists    map[string]*string // what was typed, by the axis' key
	settings Typed
	profile  *bool
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
	axes := append([]workload.Axis{
		workload.CurveAxis(nil, nil), workload.BitsAxis(), workload.InputsAxis(3), workload.OutputsAxis(3), workload.ProofAxis(nil), workload.ExecutorAxis(nil),
	}, extra...)
	o := &Options{flags: fs, lists: make(map[string]*string)}
	for _, a := range axes {
		if o.lists[a.Key] == nil {
			o.lists[a.Key] = fs.String(a.Flag, "", "comma-separated list of "+a.Usage)
		}
	}
	o.settings = make(Typed)
	for _, f := range goTestFlags {
		o.settings.Define(func(option *usage.Option, _, _ string) {
			option.Text = f.text
			fs.Var(option, f.flag, f.help)
		}, f.name)
	}
	o.profile = fs.Bool(profileFlag, false, "load tests: write "+strings.Join(meter.ProfileKinds(), ", ")+" profiles of each case to "+ProfileRoot)
	return o
}

// typed tells which flags were given.
func (o *Options) typed() map[string]bool {
	given := make(map[string]bool)
	o.flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given
}

// any tells whether one of the flags that Flags defined was given.
func (o *Options) any(def workload.Def) bool {
	given := o.typed()
	if given[profileFlag] {
		return true
	}
	for _, f := range goTestFlags {
		if given[f.flag] {
			return true
		}
	}
	for _, a := range def.Axes {
		if given[a.Flag] {
			return true
		}
	}
	return false
}

// matrix returns the cases of def that the flags ask for. An axis that no flag
// names takes its default, or its smoke value where smoke is set.
func (o *Options) matrix(def workload.Def, smoke bool) ([]workload.Case, error) {
	given := o.typed()
	lists := make(map[string]string)
	for _, a := range def.Axes {
		switch {
		case given[a.Flag] && o.lists[a.Key] != nil:
			lists[a.Key] = *o.lists[a.Key]
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
		if e, ok := err.(*usage.ValueError); ok {
			e.Accepted = axis.Accepted
		}
		return values, err
	}
	return axis
}
