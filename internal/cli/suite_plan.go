package cli

import (
	"crypto/rand"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/figure"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// suitePlan is what a suite measures on this machine.
type suitePlan struct {
	cases  []suite.Case // each once
	notes  []string     // what is left out
	header suite.Header
}

// expandSuite returns the cases of a suite on a machine with most processors.
func expandSuite(defs []workload.Def, file *suite.File, name string, most int) (*suitePlan, error) {
	p := &suitePlan{}
	cut := make(map[int]bool)
	seen := make(map[string]string) // settings by the case's key
	others := 0
	var err error
	p.cases, err = suite.Expand(name, file, func(e suite.Entry) ([]suite.Case, error) {
		planned, err := entryJobs(defs, e, most, cut)
		if err != nil {
			return nil, err
		}
		var cases []suite.Case
		for _, job := range planned {
			c := suite.Case{Job: job, Expected: e.Expected}
			if c.Expected == 0 {
				c.Expected = expectedOf(job)
			}
			settings := fmt.Sprintf("%+v", job.Settings)
			switch before, there := seen[c.Key()]; {
			case !there:
				cases = append(cases, c)
				seen[c.Key()] = settings
			case before != settings:
				others++
			}
		}
		return cases, nil
	})
	if others > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%s left out: the same with other settings comes before", figure.Plural(others, "case")))
	}
	if len(cut) > 0 {
		var counts []string
		for _, n := range slices.Sorted(maps.Keys(cut)) {
			counts = append(counts, strconv.Itoa(n))
		}
		p.notes = append(p.notes, fmt.Sprintf("%s processors: left out, this machine has %d", strings.Join(counts, ", "), most))
	}
	return p, err
}

// expectedOf is about how long a case takes of which nothing is known but its settings.
func expectedOf(job measure.Job) time.Duration {
	if job.Stages || job.Settings.Duration == 0 {
		return 10 * time.Second
	}
	// Set-up, and checks, which run on all workers after the window.
	return job.Settings.Warmup.Time + job.Settings.Duration*5/4 + time.Second
}

// notInSuites are flags of run and stages that say where results go or how often a case
// runs, which the suite decides, or make one case a search of several.
var notInSuites = []string{"out", "json", "profile", "processes", "slo", "mix"}

// entryJobs are the cases of an entry, those of more than most processors left out; their
// numbers are added to cut.
func entryJobs(defs []workload.Def, e suite.Entry, most int, cut map[int]bool) ([]measure.Job, error) {
	flags := pflag.NewFlagSet(e.Command, pflag.ContinueOnError)
	var plan func() ([]measure.Job, error)
	if e.Command == suite.CommandStages {
		f := jobs.NewStagesFlags(flags, defs)
		plan = func() ([]measure.Job, error) {
			planned, _, err := f.Plan(e.IDs())
			return planned, err
		}
	} else {
		f := jobs.NewRunFlags(flags, defs)
		plan = func() ([]measure.Job, error) {
			p, err := f.Plan(defs, e.IDs())
			if err != nil {
				return nil, err
			}
			return p.Jobs, nil
		}
	}
	cpus := strconv.Itoa(most)
	for _, f := range e.Flags {
		name := strings.ReplaceAll(f.Name, "_", "-")
		flag := flags.Lookup(name)
		if flag == nil || slices.Contains(notInSuites, name) {
			return nil, &usage.ValueError{Field: f.Name, Value: f.Text(), Accepted: "as keys: " + e.Command + ", expected, " + suiteKeys(flags)}
		}
		if name == jobs.ProcessorsAxis().Flag {
			cpus = f.Text()
			continue
		}
		if err := flag.Value.Set(f.Text()); err != nil {
			return nil, &usage.ValueError{Field: name, Value: f.Text(), Accepted: "one value or list"}
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
		here = []string{strconv.Itoa(most)} // what else is wrong is told all the same
	}
	if err := flags.Lookup(jobs.ProcessorsAxis().Flag).Value.Set(strings.Join(here, ",")); err != nil {
		return nil, err
	}
	planned, err := plan()
	if err != nil || slices.Min(counts) > most {
		return nil, err
	}
	return planned, nil
}

// suiteKeys are the flags that a case of a suite may have.
func suiteKeys(flags *pflag.FlagSet) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(notInSuites, f.Name) {
			names = append(names, f.Name)
		}
	})
	return strings.Join(names, ", ")
}

// maxSuite bounds the processes of a suite: at one a second they would take a day.
const maxSuite = 100_000

// read returns the plan of a suite as the flags have it.
func (f *suiteFlags) read(defs []workload.Def, file *suite.File, name string) (*suitePlan, error) {
	p, err := expandSuite(defs, file, name, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	if err := f.named(defs, p); err != nil {
		return nil, err
	}
	repetitions := file.Repetitions
	if f.repetitions.Given {
		n, err := f.repetitions.Number("repetitions", 1, suite.MaxRepetitions)
		if err != nil {
			return nil, err
		}
		repetitions = int(n)
	}
	timeout, err := f.timeout.Duration("timeout", 0, measure.MaxDuration)
	if err != nil {
		return nil, err
	}
	for i := range p.cases {
		if job := &p.cases[i].Job; timeout > 0 {
			job.Deadline = min(job.Deadline, timeout)
		}
	}
	if n := len(p.cases) * repetitions; n > maxSuite {
		return nil, &zkbench.LimitError{What: "processes of a suite", Estimate: int64(n), Max: maxSuite}
	}
	p.header = suite.Header{
		Suite: file.Name, Session: rand.Text(), Begun: time.Now().Truncate(time.Second),
		Plan: suite.Interleave(p.cases, repetitions),
	}
	if p.header.Suite == "" {
		p.header.Suite = strings.TrimSuffix(name, ".yaml")
	}
	if len(p.header.Plan) == 0 {
		return nil, &usage.ValueError{Field: "suite", Value: name, Accepted: fmt.Sprintf("cases for %d processors or fewer", runtime.GOMAXPROCS(0))}
	}
	return p, nil
}

// summary says how much is to be measured, and what of it not.
func (p *suitePlan) summary(w io.Writer) error {
	for _, n := range p.notes {
		fmt.Fprintln(w, n)
	}
	if env.Read().Commit == "" {
		fmt.Fprintln(w, "this program was built without its commit (go run, or -buildvcs=false), so the history will not name it")
	}
	_, err := fmt.Fprintf(w, "suite %s: %s, %s, about %s\n", p.header.Suite, figure.Plural(p.distinct(), "case"), figure.Plural(len(p.header.Plan), "process"),
		about(suite.NewEstimate(p.header.Plan).From(0)))
	return err
}

func (p *suitePlan) distinct() int {
	names := make(map[string]bool)
	for i := range p.header.Plan {
		names[p.header.Plan[i].Name()] = true
	}
	return len(names)
}

// show writes the cases.
func (p *suitePlan) show(w io.Writer) error {
	times := make(map[string]int)
	for i := range p.header.Plan {
		times[p.header.Plan[i].Name()]++
	}
	for i := range p.header.Plan {
		c := &p.header.Plan[i]
		if c.Repetition == 0 {
			fmt.Fprintf(w, "%3d x %6s  %s\n", times[c.Name()], about(c.Expected), c.Name())
		}
	}
	return p.summary(w)
}
