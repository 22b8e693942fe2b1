package zkbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/hoststest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// withoutCPUs is a suite in which one case says how many processors it uses and another does not.
const withoutCPUs = "testdata/suites/without-cpus.yaml"

// suiteOfDocs returns the suite's file that docs/measure.md shows.
func suiteOfDocs(t *testing.T) string {
	t.Helper()
	page := must.Get(os.ReadFile("../../../docs/measure.md"))(t)
	blocks := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(page, -1)
	if len(blocks) != 1 {
		t.Fatalf("%d files in YAML on the page of suites, want 1", len(blocks))
	}
	path := filepath.Join(t.TempDir(), "docs.yaml")
	must.Do(t, os.WriteFile(path, blocks[0][1], 0o600))
	return path
}

// TestSuitesOnHosts: every suite that there is has a plan for other machines, before it is known what they are and
// after. It is this machine's plan for as many processors, and a case that names no processors has the machine's.
func TestSuitesOnHosts(t *testing.T) {
	plan := func(name string, processors int, on ...suite.Machine) []suite.Case {
		file := must.Get(Program().Suites.Find(name))(t)
		p, err := suite.NewPlan(Program().Defs(), file, name, processors, suite.Options{On: on, Repetitions: 1})
		must.Do(t, err, name)
		return p.Header.Plan
	}
	for _, name := range append(Program().Suites.Names(), withoutCPUs, suiteOfDocs(t)) {
		for _, n := range []int{1, 2, jobs.MaxProcessors, jobs.MaxProcessors + 1} {
			here, there := plan(name, n), plan(name, 0, suite.Machine{Host: "localhost", Processors: n})
			golden.Equal(t, name+": cases", len(here), len(there))
			for i := range there {
				there[i].Host = ""
				golden.Equal(t, name, here[i].Name(), there[i].Name())
			}
		}
	}
	last := plan(withoutCPUs, 0, suite.Machine{Host: "localhost", Processors: 2})
	golden.Equal(t, "processors of a case that names none", 2, last[len(last)-1].Job.Procs)
}

// TestSuitePlanOn: the command shows the plan for a machine that it connects to.
func TestSuitePlanOn(t *testing.T) {
	testsize.Full(t)
	host := hoststest.Start(t, func(string) string { return "GOMAXPROCS=2" }, "localhost")[0]
	for _, name := range []string{withoutCPUs, "hash"} {
		cmd := exec.CommandContext(t.Context(), "zkbench-real", "suite", name, "--on", host.Name, "--plan")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		must.Do(t, err, stderr.String())
		golden.Contains(t, string(out), "cpus=2", " on localhost: ")
	}
}
