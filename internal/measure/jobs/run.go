package jobs

import (
	"cmp"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/view/outdir"
	"github.com/zkbench/zkbench/internal/workload"
)

// RunFlags are the flags of the run command, as the user typed them.
type RunFlags struct {
	defs                                       []workload.Def
	main                                       *MainJob
	axes                                       map[string]*argument.Option // by the axis' key
	settings                                   measure.Typed
	mix, matrix, cpus, slo, timeout, processes *argument.Option
	budget, listen, Baseline, predict          *argument.Option
	Out, JSON                                  *argument.Option
}

// Values of --matrix: what axes without a flag are.
const (
	MatrixSmall = "small" // one small value for each
	MatrixStudy = "study" // all defaults; for tokens, those of the study of confidential tokens
	matrices    = MatrixSmall + " (one value) or " + MatrixStudy + " (all defaults; can take hours)"
)

var acceptedTimeout = fmt.Sprintf("a time from 0s up to %v, for example 10m", measure.MaxDuration)

// searchBudget is the default time of a search for the highest rate.
const searchBudget = 2 * time.Minute

// MaxProcesses is the maximum value of the flag --processes, the number of processes in which each
// case is run.
const MaxProcesses = 1000

// NewRunFlags adds the flags of the run command to a flag set: a flag for each axis of the
// workloads defs, and the command's own flags. If a command line names no workloads, the run
// command measures the given main job. If there is no main job (main is nil), it measures a small
// case of each workload.
func NewRunFlags(flags *pflag.FlagSet, defs []workload.Def, main *MainJob) *RunFlags {
	f := &RunFlags{defs: defs, main: main, axes: DefineAxes(flags, defs), settings: make(measure.Typed)}
	title := ""
	define := func(name, kind, text, accepted, help string) *argument.Option {
		o := argument.Define(flags, name, kind, text, accepted, help)
		argument.Group(flags, title, name)
		return o
	}
	settings := func(names ...string) {
		f.settings.Define(func(o *argument.Option, name, help string) {
			flags.Var(o, name, help)
			argument.Group(flags, title, name)
		}, names...)
	}

	title = "Load"
	f.matrix = define("matrix", argument.KindText, MatrixSmall, matrices, "axes without a flag: small (one value) or study (all)")
	f.mix = define("mix", argument.KindText, "", "workload=share,..., for example issue=1,transfer=8", "run several workloads as one, for example issue=1,transfer=8")
	settings("workers")
	processors := ProcessorsAxis()
	f.cpus = define(processors.Flag, argument.KindList, "", processors.Accepted, "numbers of processors of a case, also "+measure.NumCPU+" of --workers")
	f.cpus.Default = "all"
	f.predict = definePredict(define)
	settings("duration", "count", "least", "warmup", "grace")
	f.timeout = define("timeout", argument.KindTime, "0s", acceptedTimeout, "stop a case after this time, checks included")
	f.timeout.Default = "three windows + 3m"
	f.processes = define("processes", argument.KindNumber, "1", fmt.Sprintf("1 to %d", MaxProcesses), "processes of each case, interleaved; comparisons need 8 per side")
	settings("samples", "seed", "srs", "srs-hash")

	title = "Open loop"
	settings("rate", "arrivals", "starts", "queue")
	f.slo = define("slo", argument.KindText, "", "a percentile and a time, for example p99=50ms", "find the highest rate that keeps this objective, for example p99=50ms")
	f.budget = define("budget", argument.KindTime, searchBudget.String(), acceptedTimeout, "with --slo: how long to search in each case")

	title = "Results"
	settings("check", "arena", "fail-if")

	title = "Output"
	f.Out = define("out", argument.KindFile, "", "the path of a directory without records", "write records, reports, plots, HDR logs, CSV and profiles to this directory")
	f.JSON = define("json", argument.KindFile, "", "the path of a file, which is overwritten", "write records as JSON lines to this file (overwritten)")
	f.Baseline = define("save-baseline", argument.KindText, "", "a name, for example main", "save the records under this name, for compare --baseline")
	settings("profile")
	f.listen = define("listen", argument.KindText, "", measure.ListenAccepted, "serve figures to Prometheus at this address, for example localhost:9100")
	return f
}

// Plan says what a command line asks to measure.
type Plan struct {
	Jobs       []measure.Job
	Processes  int
	SLO        runner.SLO
	TrialLimit time.Duration // the longest trial of a search; 0: --duration was not given
	Budget     time.Duration // of the search for each case
	Predicted  bool          // times are computed for processors that need not be there
	Search     bool          // find the highest rate that keeps SLO
	Shape      runner.Shape  // arrivals of the search's trials
}

// Summary returns a line that says how many cases and processes the plan has and about how long
// they take together.
func (p *Plan) Summary() string {
	var expected time.Duration
	for _, job := range p.Jobs {
		expected += job.Expected() * time.Duration(p.Processes)
	}
	text := format.Plural(len(p.Jobs), "case")
	if p.Processes > 1 {
		text += ", " + format.Plural(len(p.Jobs)*p.Processes, "process")
	}
	if p.Search {
		return text + ", each measured until its highest rate is found"
	}
	return text + ", about " + format.Roughly(expected)
}

// Plan makes a plan from the parsed flags and from args, the command's arguments, which are names
// of workloads.
func (f *RunFlags) Plan(args []string) (*Plan, error) {
	typed := TypedAxes(f.axes)
	duration, workers := measure.DefaultDuration, "1"
	var all []workload.Plan
	var err error
	plans := SmallPlans
	switch strings.ToLower(f.matrix.Text) {
	case MatrixSmall:
	case MatrixStudy:
		plans = Plans
	default:
		return nil, f.matrix.Refuse("matrix", f.matrix.Text)
	}
	switch {
	case f.mix.Given && len(args) > 0:
		return nil, &argument.ValueError{Field: "workload", Value: args[0], Accepted: "none beside --mix, which names them"}
	case f.mix.Given:
		var mix workload.Def
		if mix, err = workload.Mix(f.defs, f.mix.Text); err == nil {
			all, err = plans([]workload.Def{mix}, []string{mix.ID()}, typed)
		}
	case len(args) == 0 && f.main != nil:
		duration, workers = measure.MainJobDuration, measure.NumCPU
		all, err = f.main.Plans(f.defs, typed)
	case len(args) == 0:
		all, err = plans(f.defs, strings.Split(workload.IDs(f.defs), ", "), typed)
	default:
		all, err = plans(f.defs, args, typed)
	}
	if err != nil {
		return nil, err
	}
	if err := checkSRS(f.settings, all); err != nil {
		return nil, err
	}
	if o := f.settings["workers"]; o.Given {
		workers = o.Text
	}
	if f.predict.Given {
		if err := f.checkPredict(); err != nil {
			return nil, err
		}
	}
	plan := new(Plan)
	if plan.SLO, plan.Search, err = f.objective(); err != nil {
		return nil, err
	}
	if o := f.settings["duration"]; plan.Search && o.Given {
		if plan.TrialLimit, err = o.Duration("duration", measure.MinDuration, measure.MaxDuration); err != nil {
			return nil, err
		}
	}
	if f.budget.Given && !plan.Search {
		return nil, &argument.ValueError{Field: "budget", Value: f.budget.Text, Accepted: "together with --slo only"}
	}
	if plan.Budget, err = f.budget.Duration("budget", 0, measure.MaxDuration); err != nil {
		return nil, err
	}
	for _, name := range []string{"arrivals", "starts", "queue"} {
		if o := f.settings[name]; o.Given && !plan.Search && !f.settings["rate"].Given {
			return nil, &argument.ValueError{Field: name, Value: o.Text, Accepted: "together with --rate or --slo only"}
		}
	}
	if plan.Shape = runner.Poisson; f.settings["arrivals"].Given {
		plan.Shape = runner.Shape(f.settings["arrivals"].Text)
	}
	processes, err := f.processes.Number("processes", 1, MaxProcesses)
	if err != nil {
		return nil, err
	}
	plan.Processes = int(processes)
	if err := f.checkListen(); err != nil {
		return nil, err
	}
	timeout, err := f.timeout.Duration("timeout", 0, measure.MaxDuration)
	if err != nil {
		return nil, err
	}
	counts, err := f.processors()
	if err != nil {
		return nil, err
	}
	for _, procs := range counts {
		loads := workers
		if procs > 0 {
			loads = strings.ReplaceAll(workers, measure.NumCPU, strconv.Itoa(procs))
		}
		settings, err := f.settings.Settings(loads, duration)
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			for _, c := range p.Cases {
				if procs > 0 {
					c = c.With(ProcessorsAxis().Key, strconv.Itoa(procs))
				}
				for _, s := range settings {
					if len(s.Profiles) > 0 {
						s.ProfileDir = f.profileDir(p.Def, s.Named(c))
					}
					plan.Jobs = append(plan.Jobs, measure.Job{Workload: p.Def.Name, Spec: p.Def.Spec, Case: c, Settings: s, Deadline: cmp.Or(timeout, measure.Deadline(s)+p.Def.SetUp), Procs: procs, Listen: f.listen.Text})
				}
			}
		}
	}
	if f.predict.Given {
		if plan.Jobs, err = predictions(plan.Jobs, f.predict); err != nil {
			return nil, err
		}
		plan.Predicted = true
	}
	return plan, nil
}

// checkPredict returns an error if a flag was given that --predict-cpus leaves no room for.
func (f *RunFlags) checkPredict() error {
	given := map[string]*argument.Option{
		"cpus": f.cpus, "slo": f.slo, "listen": f.listen, "save-baseline": f.Baseline, "mix": f.mix, "processes": f.processes, "out": f.Out,
	}
	for _, name := range []string{"workers", "rate", "count", "least", "warmup", "grace", "profile", "fail-if", "check", "arena"} {
		given[name] = f.settings[name]
	}
	return refusePredict(given)
}

// checkListen returns an error unless --listen is an address that is free.
func (f *RunFlags) checkListen() error {
	if !f.listen.Given {
		return nil
	}
	_, port, err := net.SplitHostPort(f.listen.Text)
	if err != nil || port == "0" { // nobody would know the port
		return f.listen.Refuse("listen", f.listen.Text)
	}
	l, err := net.Listen("tcp", f.listen.Text)
	if err != nil {
		return f.listen.Refuse("listen", f.listen.Text)
	}
	return l.Close()
}

// processors returns the numbers of processors that cases may use. 0 means all of the machine's.
func (f *RunFlags) processors() ([]int, error) {
	if !f.cpus.Given {
		return []int{0}, nil
	}
	return ParseProcessors(f.cpus.Text)
}

// profileDir returns the directory of a measured case's profiles.
func (f *RunFlags) profileDir(def workload.Def, c workload.Case) string {
	if f.Out.Given {
		return outdir.CaseDir(f.Out.Text, def.Name, c.String())
	}
	return measure.ProfileDir(measure.ProfileRoot, def, c)
}

// objective returns the objective of --slo. It returns false if --slo was not given.
func (f *RunFlags) objective() (runner.SLO, bool, error) {
	if !f.slo.Given {
		return runner.SLO{}, false, nil
	}
	slo, err := runner.ParseSLO(f.slo.Text)
	if err != nil {
		return slo, false, f.slo.Refuse("slo", f.slo.Text)
	}
	refuse := func(field, value, accepted string) (runner.SLO, bool, error) {
		return slo, false, &argument.ValueError{Field: field, Value: value, Accepted: accepted}
	}
	if f.settings["duration"].Given {
		duration, err := f.settings["duration"].Duration("duration", measure.MinDuration, measure.MaxDuration)
		if err != nil {
			return slo, false, err
		}
		if duration < slo.MinWindow() {
			return refuse("duration", duration.String(), fmt.Sprintf("at least %v with --slo %s", slo.MinWindow(), slo))
		}
	}
	if shape := runner.Shape(f.settings["arrivals"].Text); shape != runner.Constant && shape != runner.Poisson {
		return refuse("arrivals", f.settings["arrivals"].Text, "constant, poisson with --slo")
	}
	if f.settings["rate"].Given {
		if rates, ok := measure.ParseRates(f.settings["rate"].Text); !ok || len(rates) != 1 {
			return refuse("rate", f.settings["rate"].Text, "one rate with --slo: where the search begins")
		}
	}
	if samples, err := f.settings["samples"].Number("samples", 1, runner.MaxSamples); err != nil || samples == 0 {
		return refuse("samples", f.settings["samples"].Text, fmt.Sprintf("1 to %d with --slo", runner.MaxSamples))
	}
	for _, other := range []struct {
		name string
		o    *argument.Option
	}{{"count", f.settings["count"]}, {"processes", f.processes}, {"profile", f.settings["profile"]}, {"fail-if", f.settings["fail-if"]}, {"save-baseline", f.Baseline}} {
		if other.o.Given {
			return refuse(other.name, other.o.Text, "not with --slo, which chooses its trials itself")
		}
	}
	return slo, true, nil
}
