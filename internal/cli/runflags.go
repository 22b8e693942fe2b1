package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/meter"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// profileRoot is where --profile writes without --out, one directory per case.
const profileRoot = "profiles"

// runFlags are the flags of run as they were typed.
type runFlags struct {
	axes                                      map[string]*option // by the axis' key
	mix                                       *option
	workers, cpus, rate, arrivals, queue, slo *option
	duration, count, warmup, grace, processes *option
	samples, seed, check, arena               *option
	out, json, profile                        *option
	own                                       []string // names of all but the axes', in the order of definition
}

// Bounds of the flags.
const (
	minDuration  = time.Millisecond
	maxDuration  = 24 * time.Hour
	maxCount     = 1 << 40
	maxProcesses = 1000
	maxKept      = 1 << 24
	mebibyte     = 1 << 20
)

// newRunFlags defines the flags of run: those of the axes, and its own.
func newRunFlags(flags *pflag.FlagSet, defs []workload.Def) *runFlags {
	f := &runFlags{axes: defineAxes(flags, defs, "")}
	define := func(name, kind, text, accepted, usage string) *option {
		f.own = append(f.own, name)
		return defineOption(flags, name, kind, text, accepted, usage)
	}
	shapes := make([]string, 0, 4)
	for _, s := range runner.Shapes() {
		shapes = append(shapes, string(s))
	}
	workers, profiles := measure.WorkersAxis(), strings.Join(meter.ProfileKinds(), ", ")
	f.mix = define("mix", kindText, "", "workload=share,..., for example issue=1,transfer=8",
		"run several workloads as one, in these proportions, for example issue=1,transfer=8")
	f.workers = define("workers", kindList, "", workers.Accepted,
		fmt.Sprintf("numbers of workers: %s (default 1, main job %s)", workers.Accepted, measure.NumCPU))
	processors := cpusAxis()
	f.cpus = define(processors.Flag, kindList, "", processors.Accepted,
		processors.Usage+" that a case may use, "+measure.NumCPU+" workers among them: "+processors.Accepted+" (default the machine's)")
	f.rate = define("rate", kindList, "", rateAccepted,
		"open loop: arrivals a second, whether or not a worker is free; a list measures each, is the steps of step; 50..200 is the ramp of ramp")
	f.arrivals = define("arrivals", kindText, string(runner.Constant), strings.Join(shapes, ", "),
		"with --rate or --slo: how arrivals are spaced: "+strings.Join(shapes, ", "))
	f.queue = define("queue", kindNumber, strconv.Itoa(runner.DefaultQueue), fmt.Sprintf("1 to %d", runner.MaxQueue),
		"open loop: operations that may wait for a worker; beyond it they are dropped")
	f.slo = define("slo", kindText, "", "a percentile and a time, for example p99=50ms",
		"find the highest rate whose response times hold this, for example p99=50ms; each trial lasts --duration")
	f.duration = define("duration", kindTime, "", fmt.Sprintf("a time from %v to %v, for example 500ms or 10s", minDuration, maxDuration),
		fmt.Sprintf("window of each case (default %v, main job %v; with --count alone: until that is reached)", measure.DefaultDuration, mainJobDuration))
	f.count = define("count", kindNumber, "", fmt.Sprintf("1 to %d", maxCount), "operations at most of each case's window")
	f.warmup = define("warmup", kindList, "", warmupAccepted,
		"load before the window opens: a time, a number of operations, stationary, or several of them (default a tenth of the window and an operation a worker)")
	f.grace = define("grace", kindTime, "0s", fmt.Sprintf("a time from 0s up to %v", maxDuration),
		"time for operations that run when the window closes; what still runs after it is reported with its age")
	f.processes = define("processes", kindNumber, "1", fmt.Sprintf("1 to %d", maxProcesses), "processes of each case, one after the other in turn; a comparison needs 8 or more a side")
	f.samples = define("samples", kindNumber, strconv.Itoa(measure.DefaultSamples), fmt.Sprintf("0 to %d", runner.MaxSamples),
		"inputs built before a case and used in turn; 0: each operation builds its own, timed apart")
	f.seed = define("seed", kindNumber, strconv.Itoa(measure.DefaultSeed), "0 to 2^64-1", "seed of inputs, arrivals and samples")
	f.check = define("check", kindText, "", fmt.Sprintf("all, none, sample=N with N from 1 to %d", maxKept),
		"results checked after the window: all, none or sample=N (default those that the arena holds, beyond that a sample)")
	f.arena = define("arena", kindNumber, strconv.Itoa(runner.DefaultArena/mebibyte), fmt.Sprintf("1 to %d", runner.MaxArena/mebibyte),
		"MiB for results that wait for their check")
	f.out = define("out", kindFile, "", "the path of a directory without records",
		"write records, reports, plots, HDR logs, CSV and profiles to this directory")
	f.json = define("json", kindFile, "", "the path of a file, which is written anew",
		"write the records as JSON lines to this file, which is written anew")
	f.profile = define("profile", kindList, "", profiles, "write profiles to --out, or to "+profileRoot+"/: "+profiles)
	return f
}

const (
	rateAccepted   = "rates above 0 up to 1000000, lists of them, ranges a..b*k and a..b+k; a..b of ramp"
	warmupAccepted = "a time, a number of operations, stationary, or several of them, for example 2s,stationary"
)

// settings returns the settings of every number of workers at every rate.
func (f *runFlags) settings(workers string, duration time.Duration) ([]measure.Settings, error) {
	counts, err := measure.WorkersAxis().Parse(workers)
	if err != nil {
		return nil, err
	}
	schedules, err := f.schedules()
	if err != nil {
		return nil, err
	}
	var all []measure.Settings
	for _, count := range counts {
		n, err := strconv.Atoi(count)
		if err != nil {
			return nil, err
		}
		s, err := f.setting(n, duration)
		if err != nil {
			return nil, err
		}
		for _, a := range schedules {
			s.Arrivals = a
			if err := s.Validate(); err != nil {
				return nil, err
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// setting returns what the flags say for one number of workers.
func (f *runFlags) setting(workers int, duration time.Duration) (s measure.Settings, err error) {
	if f.duration.given {
		if duration, err = f.duration.duration("duration", minDuration, maxDuration); err != nil {
			return s, err
		}
	}
	s = measure.DefaultSettings(workers, duration)
	if f.count.given {
		if s.Count, err = f.count.number("count", 1, maxCount); err != nil {
			return s, err
		}
		if !f.duration.given {
			s.Duration = 0
		}
	}
	if f.warmup.given {
		if s.Warmup, s.WarmupOps, s.WarmupStationary, err = f.parseWarmup(); err != nil {
			return s, err
		}
	}
	if s.Grace, err = f.grace.duration("grace", 0, maxDuration); err != nil {
		return s, err
	}
	samples, err := f.samples.number("samples", 0, runner.MaxSamples)
	if err != nil {
		return s, err
	}
	queue, err := f.queue.number("queue", 1, runner.MaxQueue)
	if err != nil {
		return s, err
	}
	arena, err := f.arena.number("arena", 1, runner.MaxArena/mebibyte)
	if err != nil {
		return s, err
	}
	s.Samples, s.Queue, s.Arena = int(samples), int(queue), int64(arena)*mebibyte
	if s.Seed, err = f.seed.number("seed", 0, math.MaxUint64); err != nil {
		return s, err
	}
	if f.check.given {
		if s.Check, err = f.parseCheck(); err != nil {
			return s, err
		}
	}
	s.Profiles, err = f.parseProfiles()
	return s, err
}

// schedules returns the schedules that the flags ask for; without a rate the
// closed loop, which is nil.
func (f *runFlags) schedules() ([]*runner.Arrivals, error) {
	shape := runner.Shape(f.arrivals.text)
	if !slices.Contains(runner.Shapes(), shape) {
		return nil, f.arrivals.refuse("arrivals", f.arrivals.text)
	}
	if !f.rate.given {
		if f.arrivals.given && !f.slo.given {
			return nil, &usage.ValueError{Field: "arrivals", Value: f.arrivals.text, Accepted: "together with --rate or --slo only"}
		}
		if f.queue.given && !f.slo.given {
			return nil, &usage.ValueError{Field: "queue", Value: f.queue.text, Accepted: "together with --rate or --slo only"}
		}
		return []*runner.Arrivals{nil}, nil
	}
	if shape == runner.Ramp {
		from, to, ok := strings.Cut(f.rate.text, "..")
		rates, ok1 := parseRates(from + "," + to)
		if !ok || !ok1 || len(rates) != 2 {
			return nil, &usage.ValueError{Field: "rate", Value: f.rate.text, Accepted: "two rates of ramp, for example 50..200"}
		}
		return []*runner.Arrivals{{Shape: shape, Rates: rates}}, nil
	}
	rates, ok := parseRates(f.rate.text)
	if !ok {
		return nil, f.rate.refuse("rate", f.rate.text)
	}
	if shape == runner.Step {
		return []*runner.Arrivals{{Shape: shape, Rates: rates}}, nil
	}
	var all []*runner.Arrivals
	for _, r := range rates {
		all = append(all, &runner.Arrivals{Shape: shape, Rates: []float64{r}})
	}
	return all, nil
}

// parseRates reads a list of rates, ranges of whole ones included.
func parseRates(list string) (rates []float64, ok bool) {
	for item := range strings.SplitSeq(list, ",") {
		item = strings.TrimSpace(item)
		if values, ok := usage.Expand(item); ok && strings.Contains(item, "..") {
			for _, v := range values {
				rates = append(rates, float64(v))
			}
			continue
		}
		r, err := strconv.ParseFloat(item, 64)
		if err != nil {
			return nil, false
		}
		rates = append(rates, r)
	}
	return rates, !slices.ContainsFunc(rates, func(r float64) bool { return !(r > 0 && r <= runner.MaxRate) })
}

func (f *runFlags) parseWarmup() (d time.Duration, ops int, stationary bool, err error) {
	for item := range strings.SplitSeq(f.warmup.text, ",") {
		item = strings.TrimSpace(item)
		n, errN := strconv.Atoi(item)
		t, errT := time.ParseDuration(item)
		switch {
		case item == "stationary":
			stationary = true
		case errN == nil && n >= 0:
			ops = n
		case errN != nil && errT == nil && t >= 0 && t <= maxDuration:
			d = t
		default:
			return 0, 0, false, f.warmup.refuse("warmup", item)
		}
	}
	return d, ops, stationary, nil
}

func (f *runFlags) parseCheck() (runner.Check, error) {
	switch policy := runner.Policy(f.check.text); policy {
	case runner.CheckAll, runner.CheckNone:
		return runner.Check{Policy: policy}, nil
	}
	number, sampled := strings.CutPrefix(f.check.text, "sample=")
	n, err := strconv.Atoi(number)
	if !sampled || err != nil || n < 1 || n > maxKept {
		return runner.Check{}, f.check.refuse("check", f.check.text)
	}
	return runner.Check{Policy: runner.CheckSample, N: n}, nil
}

func (f *runFlags) parseProfiles() (kinds []string, err error) {
	if !f.profile.given {
		return nil, nil
	}
	for kind := range strings.SplitSeq(f.profile.text, ",") {
		kind = strings.TrimSpace(kind)
		if !slices.Contains(meter.ProfileKinds(), kind) {
			return nil, f.profile.refuse("profile", kind)
		}
		if !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds, nil
}

// objective is what --slo asks for; false where it was not given.
func (f *runFlags) objective() (runner.SLO, bool, error) {
	if !f.slo.given {
		return runner.SLO{}, false, nil
	}
	slo, err := runner.ParseSLO(f.slo.text)
	if err != nil {
		return slo, false, f.slo.refuse("slo", f.slo.text)
	}
	refuse := func(field, value, accepted string) (runner.SLO, bool, error) {
		return slo, false, &usage.ValueError{Field: field, Value: value, Accepted: accepted}
	}
	duration := measure.DefaultDuration
	if f.duration.given {
		if duration, err = f.duration.duration("duration", minDuration, maxDuration); err != nil {
			return slo, false, err
		}
	}
	if duration < slo.MinWindow() {
		return refuse("duration", duration.String(), fmt.Sprintf("at least %v with --slo %s", slo.MinWindow(), slo))
	}
	if shape := runner.Shape(f.arrivals.text); shape != runner.Constant && shape != runner.Poisson {
		return refuse("arrivals", f.arrivals.text, "constant, poisson with --slo")
	}
	if f.rate.given {
		if rates, ok := parseRates(f.rate.text); !ok || len(rates) != 1 {
			return refuse("rate", f.rate.text, "one rate with --slo: where the search begins")
		}
	}
	if samples, err := f.samples.number("samples", 1, runner.MaxSamples); err != nil || samples == 0 {
		return refuse("samples", f.samples.text, fmt.Sprintf("1 to %d with --slo", runner.MaxSamples))
	}
	for _, other := range []struct {
		name string
		o    *option
	}{{"count", f.count}, {"processes", f.processes}, {"profile", f.profile}} {
		if other.o.given {
			return refuse(other.name, other.o.text, "not with --slo, whose trials last --duration each")
		}
	}
	return slo, true, nil
}
