package zkbench

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// expanded returns the cases of a suite of this program on a machine with most processors.
func expanded(t *testing.T, name string, most int) []suite.Case {
	t.Helper()
	file, err := Program().Suites.Find(name)
	must.Do(t, err, name)
	p, err := suite.NewPlan(Program().Defs(), file, name, most, suite.Options{Repetitions: 1})
	must.Do(t, err, name)
	if file.Name != name || file.About == "" {
		t.Errorf("%s: name %q, about %q", name, file.Name, file.About)
	}
	return p.Header.Plan
}

// TestSuites: each of our suites is accepted whole on every machine, full has every
// workload, and no case comes twice.
func TestSuites(t *testing.T) {
	for _, name := range Program().Suites.Names() {
		for _, most := range []int{1, 2, 32} {
			keys := make(map[string]bool)
			cases := expanded(t, name, most)
			for i := range cases {
				c := &cases[i]
				if keys[c.Key()] {
					t.Errorf("%s: %s twice", name, c.Key())
				}
				keys[c.Key()] = true
				if c.Job.Procs < 1 || c.Job.Procs > most || c.Expected <= 0 || c.Job.Deadline <= c.Expected {
					t.Errorf("%s: %s: %d of %d processors, expected %v, deadline %v", name, c.Key(), c.Job.Procs, most, c.Expected, c.Job.Deadline)
				}
			}
		}
	}
	full := expanded(t, suite.Full, 2)
	for _, d := range Program().Defs() {
		if !slices.ContainsFunc(full, func(c suite.Case) bool { return c.Job.Workload == d.Name }) {
			t.Errorf("%s is not in %s", d.Name, suite.Full)
		}
	}
	// One that a later room brings joins full without a word of it anywhere else.
	defs := append(Program().Defs(), workload.Def{Name: "Later", Axes: []workload.Axis{workload.BitsAxis()}})
	file := must.Get(suite.Collection{Families: []suite.Family{{Name: "later", Defs: defs[len(defs)-1:]}}}.Find("later"))(t)
	p, err := suite.NewPlan(defs, file, "later", 2, suite.Options{Repetitions: 1})
	if err != nil || len(p.Header.Plan) != 1 || p.Header.Plan[0].Name() != "Later/bits=32/cpus=2/workers=1" {
		t.Errorf("a later room: %+v, error %v", p, err)
	}
}

// TestHeadlines: each suite that is a file, and full, chooses a case that the smallest machine measures. For transfers it
// is one with two inputs and two outputs.
func TestHeadlines(t *testing.T) {
	files := must.Get(fs.Glob(Program().Suites.Files, "*.yaml"))(t)
	names := []string{suite.Full}
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f, ".yaml"))
	}
	for _, name := range names {
		file := must.Get(Program().Suites.Find(name))(t)
		p := must.Get(suite.NewPlan(Program().Defs(), file, name, 1, suite.Options{Repetitions: 1}))(t)
		h := p.Header.Headline
		if h == nil {
			t.Errorf("%s: no headline", name)
			continue
		}
		if in, ok := h.Axes.Get("in"); h.Workload == "Sender" && (in != "2" || !ok) {
			t.Errorf("%s: the headline is %s", name, h)
		}
	}
}

// TestStudySuite: the study's nine benchmarks, each on 1, 2, 4, 8, 16 and 32 processors
// with as many workers.
func TestStudySuite(t *testing.T) {
	got := make(map[string][]string)
	for _, c := range expanded(t, studySuite, 64) {
		if c.Job.Settings.Samples == 128 && c.Job.Case.Get("exec") == "serial" {
			got[c.Job.Workload] = append(got[c.Job.Workload], c.Job.Case.Get("cpus"))
			if c.Job.Settings.Workers != c.Job.Procs || c.Job.Case.Get("curve") != "BLS12_381_BBS_GURVY" {
				t.Errorf("%s: %d workers", c.Key(), c.Job.Settings.Workers)
			}
		}
	}
	want := make(map[string][]string)
	for name := range strings.FieldsSeq("TransferProofGeneration Sender VerificationSenderProof Issuer ProofVerificationIssuer " +
		"ValidatorTransfer IssueServiceIssue TransferServiceTransfer AuditorServiceCheck") {
		want[name] = []string{"1", "2", "4", "8", "16", "32"}
	}
	golden.Equal(t, "CPUs by workload", want, got)
}

// TestCommandRepeats: the command that the page gives for a case measures that case again,
// with its settings, on as many processors.
func TestCommandRepeats(t *testing.T) {
	defs := Program().Defs()
	checked := 0
	for _, c := range slices.Concat(expanded(t, "quick", 2), expanded(t, "circuits", 2), expanded(t, "plonkish", 2), expanded(t, "stark", 2), expanded(t, "token", 4), expanded(t, "goldilocks", 2), expanded(t, "guests", 2), expanded(t, studySuite, 32)) {
		rec := c.Job.Settings.New(c.Job.Workload, c.Job.Case)
		if c.Job.Stages {
			rec.Axes, rec.Settings = c.Job.Case.Axes(), nil
			rec.Stages = []record.Stage{{Name: "prove"}}
			rec.Metrics = []record.Metric{record.StageTime("prove").Metric(0)}
		}
		rec.Env.GOMAXPROCS = c.Job.Procs
		command := jobs.Command("zkbench", defs, rec)
		words := strings.Fields(command)
		if len(words) < 3 {
			t.Errorf("%s: command %q", c.Key(), command)
			continue
		}
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		plan := jobs.Planner(words[1], flags, defs)
		must.Do(t, flags.Parse(words[2:]))
		planned, err := plan(flags.Args())
		if err != nil || len(planned.Jobs) != 1 {
			t.Errorf("%s: %v, error %v", command, planned, err)
			continue
		}
		want, _ := json.Marshal(c.Job)
		got, _ := json.Marshal(planned.Jobs[0])
		golden.Equal(t, command, string(want), string(got))
		checked++
	}
	if checked < 100 {
		t.Errorf("%d commands were checked", checked)
	}
}
