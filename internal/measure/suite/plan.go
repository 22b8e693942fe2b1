package suite

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// maxProcesses is the maximum number of processes of a suite. At one per second they take a day.
const maxProcesses = 100_000

// Options are what a user chooses when running a suite, in addition to what the suite's file says.
type Options struct {
	Only        []string      // workloads to keep; nil: all
	Repetitions int           // processes of each case; 0: the file's
	Timeout     time.Duration // stop the process of a case after this time; 0: no limit
	On          []Machine     // each runs all cases; nil: this machine does
	HostWait    time.Duration // how long to wait for a machine of On whose connection is lost
	Noise
}

// Machine is a machine for which cases are planned. A plan leaves out cases that need more
// processors than the machine has. If Processors is jobs.MaxProcessors, the plan leaves out no
// case.
type Machine struct {
	Host       string      // empty: this machine
	Processors int         // a case uses at most jobs.MaxProcessors of them
	Env        *record.Env // nil: not known
}

func byProcessors(a, b Machine) int { return cmp.Compare(a.Processors, b.Processors) }

func (m Machine) String() string { return cmp.Or(m.Host, "this machine") }

// Plan says which cases a suite measures, on one or several machines.
type Plan struct {
	Header Header
	Notes  []string // lines that say what is left out
}

// NewPlan plans the suite that the contents of file describe. The parameter name is the suite's
// name in messages. If o.On is not nil, the plan is for the machines in o.On; otherwise it is for
// this machine, with the given number of processors. NewPlan returns a *yamlfile.Error if the file
// has mistakes, a *zkbench.LimitError if the plan would have too many processes, and an
// *argument.ValueError if the plan would have no case.
func NewPlan(defs []workload.Def, file *File, name string, processors int, o Options) (*Plan, error) {
	machines := o.On
	if machines == nil {
		machines = []Machine{{Processors: processors}}
	}
	var cases []Case
	var notes []string
	var headline *record.Headline
	for _, m := range machines {
		some, chosen, left, err := planCases(defs, file, name, m)
		if err != nil {
			return nil, err
		}
		cases = append(cases, some...)
		if headline == nil {
			headline = chosen
		}
		for _, note := range left {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
	}
	var err error
	if cases, err = keepOnly(defs, cases, o.Only); err != nil {
		return nil, err
	}
	if o.Timeout > 0 {
		for i := range cases {
			cases[i].Deadline = min(cases[i].Deadline, o.Timeout)
		}
	}
	repetitions := cmp.Or(o.Repetitions, file.Repetitions)
	if n := len(cases) * repetitions; n > maxProcesses {
		return nil, &zkbench.LimitError{What: "processes of a suite", Estimate: int64(n), Max: maxProcesses}
	}
	if len(cases) == 0 {
		return nil, &argument.ValueError{Field: "suite", Value: name, Accepted: fmt.Sprintf("cases for %d processors or fewer", slices.MaxFunc(machines, byProcessors).Processors)}
	}
	hosts := make(map[string]record.Env)
	for _, m := range machines {
		if m.Env != nil {
			hosts[m.Host] = *m.Env
		}
	}
	return &Plan{Notes: notes, Header: Header{
		Suite: cmp.Or(file.Name, strings.TrimSuffix(name, ".yaml")), Session: rand.Text(), Begun: time.Now().Truncate(time.Second),
		Plan: Interleave(cases, repetitions), Headline: headline, Hosts: hosts, HostWait: o.HostWait, Noise: o.Noise,
	}}, nil
}

// planCases returns the cases of a suite on a machine, each once, the choice of the case that the report begins with,
// and notes on what is left out.
func planCases(defs []workload.Def, file *File, name string, on Machine) (cases []Case, headline *record.Headline, notes []string, err error) {
	cut := make(map[int]bool)
	seen := make(map[string]string) // settings as JSON by the case's key
	others := 0
	cases, err = Expand(name, file, func(e Entry) ([]Case, error) {
		planned, err := entryJobs(defs, e, min(on.Processors, jobs.MaxProcessors), cut)
		if err != nil {
			return nil, err
		}
		var some []Case
		for _, job := range planned {
			if on.Host != "" && job.Settings.SRS != "" {
				return nil, &argument.ValueError{Field: "srs", Value: job.Settings.SRS, Accepted: "none with --on, since other machines do not have the file"}
			}
			c := Case{Job: job, Expected: e.Expected, Host: on.Host}
			if c.Expected == 0 {
				c.Expected = job.Expected()
			}
			settings, err := json.Marshal(job.Settings)
			if err != nil {
				return nil, err
			}
			switch before, known := seen[c.Key()]; {
			case !known:
				some = append(some, c)
				seen[c.Key()] = string(settings)
			case before != string(settings):
				others++
			}
		}
		return some, nil
	})
	headline, wrong := file.headline(defs, cases, err == nil)
	if wrong != nil && err == nil && len(cut) > 0 { // the case may be among those that are left out
		if _, _, _, err := planCases(defs, file, name, Machine{Host: on.Host, Processors: jobs.MaxProcessors}); err == nil {
			wrong = nil
		}
	}
	if wrong != nil {
		err = withMistake(name, err, file.Headline.Line, wrong)
	}
	if others > 0 {
		notes = append(notes, format.Plural(others, "case")+" left out: the same case with other settings comes before")
	}
	if len(cut) > 0 {
		var counts []string
		for _, n := range slices.Sorted(maps.Keys(cut)) {
			counts = append(counts, strconv.Itoa(n))
		}
		notes = append(notes, fmt.Sprintf("%s processors: left out, %s has %d", strings.Join(counts, ", "), on, on.Processors))
	}
	return cases, headline, notes, err
}

// keepOnly returns the cases whose workload is in only, or all if only is nil.
func keepOnly(defs []workload.Def, cases []Case, only []string) ([]Case, error) {
	if only == nil {
		return cases, nil
	}
	var names []string
	for _, id := range only {
		def, err := workload.Find(defs, strings.TrimSpace(id))
		if err != nil {
			return nil, argument.Unknown("only", id, strings.Split(workload.IDs(defs), ", "), "list")
		}
		names = append(names, def.Name)
	}
	cases = slices.DeleteFunc(cases, func(c Case) bool { return !slices.Contains(names, c.Workload) })
	if len(cases) == 0 {
		return nil, &argument.ValueError{Field: "only", Value: strings.Join(only, ","), Accepted: "workloads that the suite has cases of"}
	}
	return cases, nil
}

// notInSuites are the flags of run and stages that a suite's file may not have. They say where
// results go or how often a case runs, which the suite decides, or they make one case out of
// several.
var notInSuites = []string{"out", "json", "profile", "processes", "slo", "mix"}

// entryJobs returns the jobs of an entry. Cases for more than most processors are left out, and
// their numbers of processors added to cut.
func entryJobs(defs []workload.Def, e Entry, most int, cut map[int]bool) ([]measure.Job, error) {
	flags := pflag.NewFlagSet(e.Command, pflag.ContinueOnError)
	plan := jobs.Planner(e.Command, flags, defs)
	cpus := strconv.Itoa(most)
	for _, f := range e.Flags {
		name := strings.ToLower(strings.ReplaceAll(f.Name, "_", "-"))
		flag := flags.Lookup(name)
		if flag == nil || slices.Contains(notInSuites, name) {
			return nil, &argument.ValueError{
				Field: f.Name, Value: f.Text(), Near: argument.Near(name, acceptedKeys(flags)),
				Accepted: "as keys: " + e.Command + ", expected, the flags of the command " + e.Command + " that measure, and the axes of its workloads",
			}
		}
		if name == jobs.ProcessorsAxis().Flag {
			cpus = f.Text()
			continue
		}
		if err := flag.Value.Set(f.Text()); err != nil {
			return nil, &argument.ValueError{Field: name, Value: f.Text(), Accepted: "one value or list"}
		}
	}
	counts, err := jobs.ParseProcessors(cpus)
	if err != nil {
		return nil, err
	}
	var here []string
	for _, n := range counts {
		if n > most {
			cut[n] = true
			continue
		}
		here = append(here, strconv.Itoa(n))
	}
	if len(here) == 0 {
		here = []string{strconv.Itoa(most)} // so that other mistakes are reported too
	}
	if err := flags.Lookup(jobs.ProcessorsAxis().Flag).Value.Set(strings.Join(here, ",")); err != nil {
		return nil, err
	}
	planned, err := plan(e.IDs())
	if err != nil || slices.Min(counts) > most {
		return nil, err
	}
	return planned.Jobs, nil
}

// acceptedKeys returns the names of the flags that a case of a suite may have.
func acceptedKeys(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notInSuites, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

// WriteSummary writes the plan's notes, and then a line with the number of cases, the number of
// processes and the estimated time.
func (p *Plan) WriteSummary(w io.Writer) error {
	for _, n := range p.Notes {
		fmt.Fprintln(w, n)
	}
	if env.Read().Commit == "" {
		fmt.Fprintln(w, "this program does not know its commit (go run, or -buildvcs=false), so the history will not show it")
	}
	all := p.Header.Plan
	where := ""
	if hosts := strings.Join(Hosts(all), ", "); hosts != "" {
		where = " on " + hosts
	}
	_, err := fmt.Fprintf(w, "suite %s%s: %s, %s, about %s\n", p.Header.Suite, where,
		format.Plural(len(p.repetitions()), "case"), format.Plural(len(all), "process"), format.Roughly(NewEstimate(all).Remaining()))
	return err
}

// repetitions returns the number of processes of each case, by the case's name.
func (p *Plan) repetitions() map[string]int {
	times := make(map[string]int)
	for i := range p.Header.Plan {
		times[p.Header.Plan[i].Name()]++
	}
	return times
}

// Write writes a line for each case of the plan, and then what WriteSummary writes.
func (p *Plan) Write(w io.Writer) error {
	times := p.repetitions()
	for i := range p.Header.Plan {
		c := &p.Header.Plan[i]
		if c.Repetition == 0 {
			fmt.Fprintf(w, "%3d x %6s  %s\n", times[c.Name()], format.Roughly(c.Expected), c.Name())
		}
	}
	return p.WriteSummary(w)
}
