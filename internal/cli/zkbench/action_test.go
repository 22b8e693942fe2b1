package zkbench

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestAction: each input and output is said, and the script of the last step exists, which the pull requests of this
// repository go through too.
func TestAction(t *testing.T) {
	a, root := readAction(t)
	for name, in := range a.Inputs {
		if in.Description == "" || in.Default == "" {
			t.Errorf("input %s: %+v", name, in)
		}
	}
	golden.Equal(t, "inputs", []string{"base", "gate", "run", "working-directory"}, names(a.Inputs))
	for name, out := range a.Outputs {
		if out.Description == "" || out.Value == "" {
			t.Errorf("output %s: %+v", name, out)
		}
	}
	golden.Equal(t, "outputs", []string{"exit-code", "table"}, names(a.Outputs))
	var shells []string
	for _, s := range a.Runs.Steps {
		if s.Uses == "" {
			shells = append(shells, s.Shell)
		}
	}
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 5 || !slices.Equal(shells, []string{"bash", "bash", "bash"}) {
		t.Fatalf("runs %+v", a.Runs)
	}
	step := a.Runs.Steps[4]
	golden.Equal(t, "environment", map[string]string{
		"RUN": "${{ inputs.run }}", "GATE": "${{ inputs.gate }}", "BASE": "${{ inputs.base }}", "ZKBENCH": "${{ runner.temp }}/zkbench-action/zkbench",
	}, step.Env)
	script, _, _ := strings.Cut(strings.TrimPrefix(step.Run, `"$GITHUB_ACTION_PATH/`), `"`)
	must.Get(os.Stat(filepath.Join(root, script)))(t)
	ours := must.Get(os.ReadFile(filepath.Join(root, ".github", "workflows", "benchmarks.yml")))(t)
	for uses, raw := range map[string][]byte{"./": ours, "zkbench/zkbench@main": must.Get(templates.ReadFile("templates/gate.yml"))(t)} {
		var workflow struct {
			On          string
			Permissions map[string]string
			Jobs        map[string]struct {
				Steps []struct {
					Uses string
					With map[string]string
				}
			}
		}
		must.Do(t, yaml.Unmarshal(raw, &workflow))
		golden.Equal(t, uses+": on", "pull_request", workflow.On) // whose token can only read
		golden.Equal(t, uses+": permissions", map[string]string{"contents": "read"}, workflow.Permissions)
		used := 0
		for _, step := range workflow.Jobs["compare"].Steps {
			if step.Uses != uses {
				continue
			}
			used++
			for name := range step.With {
				if _, is := a.Inputs[name]; !is {
					t.Errorf("the workflow gives an input %q", name)
				}
			}
		}
		golden.Equal(t, uses+": uses of the action in the workflow", 1, used)
	}
}

// pullBenchmark allocates ALLOCS times and says that it takes TIME.
const pullBenchmark = `package pull

import "testing"

var sink []byte

func BenchmarkPull(b *testing.B) {
	for b.Loop() {
		for range ALLOCS {
			sink = make([]byte, 64)
		}
	}
	b.ReportMetric(TIME, "ns/op")
}
`

// readDefault returns the default of an input.
func readDefault(t *testing.T, name string) string {
	t.Helper()
	a, _ := readAction(t)
	return a.Inputs[name].Default
}

// TestActionRuns runs the action's steps in another repository: it passes where nothing has
// changed and exits with 1 where a slowdown, or a growth of allocations, is planted; the table is
// in the summary each time. The program is built once. What is refused is in the summary too.
func TestActionRuns(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of bash")
	}
	repo := gittest.New(t)
	repo.Write(t, map[string]string{"go.mod": "module pull\n\ngo 1.26\n"})
	for _, rev := range []struct{ name, allocs, time string }{{"base", "3", "1000"}, {"ahead", "1", "500"}, {"same", "3", "1000"}, {"slower", "3", "1050"}, {"grown", "4", "1000"}} {
		repo.Commit(t, rev.name, map[string]string{"pull_test.go": strings.NewReplacer("ALLOCS", rev.allocs, "TIME", rev.time).Replace(pullBenchmark), "README": rev.name})
		if rev.name == "ahead" { // of the base, on another branch than the pull requests
			repo.Checkout(t, "base")
		}
	}
	cache := t.TempDir()
	run := func(head, base, what, gate string, env ...string) outcome {
		t.Helper()
		repo.Checkout(t, head)
		j := job{workspace: repo.Dir, cache: cache, event: map[string]string{"github.event.pull_request.base.sha": base}, inputs: map[string]string{"run": what}, env: env}
		if gate != "" {
			j.inputs["gate"] = gate
		}
		return j.run(t)
	}
	short := readDefault(t, "run") + " --processes 8 -- '-bench=^Benchmark(Pull|None)$' -benchtime=1000x"
	for i, test := range []struct {
		head, gate string
		code       int
		says       []string
	}{
		{"same", "", cli.ExitOK, []string{"| allocs/op | 3 allocs/op | 3 allocs/op | 0 % |", "| = |"}},
		{"slower", "", cli.ExitFailed, []string{"slower, beyond the gate", "**Exit code 1**", "lets pass: Pull", "ns/op +5.00 %"}},
		{"slower", "10%", cli.ExitOK, []string{"| slower |"}},
		{"grown", "", cli.ExitFailed, []string{"grew, beyond the gate", "**Exit code 1**", "allocs/op +33.3 %"}},
	} {
		var env []string
		ran := []string{"key", "actions/cache/restore", "compare"} // the first one builds its own program for all
		if i == 0 {                                                // whatever is meant for what is measured
			env, ran = []string{"GOFLAGS=-buildvcs=false"}, []string{"key", "actions/cache/restore", "build", "actions/cache/save", "compare"}
		}
		o := run(test.head, "ahead", short, test.gate, env...)
		golden.Equal(t, test.head+": exit code\n"+o.log, test.code, o.code)
		golden.Equal(t, "steps", ran, o.ran)
		golden.Contains(t, o.summary, append(test.says, "## zkbench compare\n", "| case | metric | old | new |")...)
		golden.Contains(t, o.log, "1/1: 24 processes of pull\n")
		golden.Equal(t, "output exit-code", strconv.Itoa(test.code), o.outputs["exit-code"])
		table := string(must.Get(os.ReadFile(o.outputs["table"]))(t))
		golden.Contains(t, o.summary, table)
		golden.Contains(t, table, "| case | metric | old | new |")
	}
	for _, test := range []struct{ base, run, says string }{
		{"", short, `base: "" is not accepted; accepted: a revision with a commit in common with HEAD`},
		{"none", short, `base: "none" is not accepted`},
		{"base", "--bench './...", "is not accepted; accepted: words, their quotes closed"},
		{"base", " ", `run: " " is not accepted; accepted: arguments of zkbench compare`},
		{"same", short, `base: "same" is not accepted; accepted: one that does not contain HEAD`},
		{"--octopus", short, `base: "--octopus" is not accepted`},
		{"grown", short, `base: "grown" is not accepted; accepted: one that does not contain HEAD`},
	} {
		o := run("same", test.base, test.run, "")
		if o.code != cli.ExitUsage || strings.Count(o.log, "\n") != 1 || !strings.Contains(o.log, test.says) {
			t.Errorf("exit code %d, %q; want %d, ...%s", o.code, o.log, cli.ExitUsage, test.says)
		}
		golden.Contains(t, o.summary, "## zkbench compare\n\n**Exit code 2**\n\n```\n", test.says)
		golden.Equal(t, "outputs", map[string]string{"exit-code": "2", "table": ""}, o.outputs)
	}
	golden.Equal(t, "worktrees", 1, repo.Worktrees(t))
}
