package zkbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// action holds the parts of action.yml that decide what it does.
type action struct {
	Inputs map[string]struct {
		Description, Default string
	}
	Runs struct {
		Using string
		Steps []struct {
			Shell, Run string
			Env        map[string]string
		}
	}
}

// readAction returns the action and the directory that it is in.
func readAction(t *testing.T) (a action, root string) {
	t.Helper()
	root = must.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(filepath.Join(root, "action.yml")))(t), &a))
	return a, root
}

// TestAction: three inputs, each said and with a default, and one script that exists, which the
// pull requests of this repository go through too.
func TestAction(t *testing.T) {
	a, root := readAction(t)
	var names []string
	for name, in := range a.Inputs {
		names = append(names, name)
		if in.Description == "" || in.Default == "" {
			t.Errorf("input %s: %+v", name, in)
		}
	}
	slices.Sort(names)
	golden.Equal(t, "inputs", []string{"base", "gate", "run"}, names)
	if a.Runs.Using != "composite" || len(a.Runs.Steps) != 1 || a.Runs.Steps[0].Shell != "bash" {
		t.Fatalf("runs %+v", a.Runs)
	}
	step := a.Runs.Steps[0]
	golden.Equal(t, "environment", map[string]string{"RUN": "${{ inputs.run }}", "GATE": "${{ inputs.gate }}", "BASE": "${{ inputs.base }}"}, step.Env)
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

// TestActionRuns runs the action's step in another repository: it passes where nothing has
// changed and exits with 1 where a slowdown, or a growth of allocations, is planted; the table is
// in the summary each time.
func TestActionRuns(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of bash")
	}
	a, root := readAction(t)
	repo := gittest.New(t)
	repo.Write(t, map[string]string{"go.mod": "module pull\n\ngo 1.26\n"})
	for _, rev := range []struct{ name, allocs, time string }{{"base", "3", "1000"}, {"ahead", "1", "500"}, {"same", "3", "1000"}, {"slower", "3", "1050"}, {"grown", "4", "1000"}} {
		repo.Commit(t, rev.name, map[string]string{"pull_test.go": strings.NewReplacer("ALLOCS", rev.allocs, "TIME", rev.time).Replace(pullBenchmark), "README": rev.name})
		if rev.name == "ahead" { // of the base, on another branch than the pull requests
			repo.Checkout(t, "base")
		}
	}
	run := func(head, base, what string, env ...string) (summary, messages string, code int) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "summary.md")
		repo.Checkout(t, head)
		cmd := exec.CommandContext(t.Context(), "bash", "-c", a.Runs.Steps[0].Run)
		cmd.Dir = repo.Dir
		cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+root, "GITHUB_STEP_SUMMARY="+file, "BASE="+base, "RUN="+what, "GATE="+a.Inputs["gate"].Default)
		cmd.Env = append(cmd.Env, env...)
		var log strings.Builder
		cmd.Stderr = &log
		must.Do(t, cmd.Start())
		code = clitest.ExitCode(t, cmd)
		text, _ := os.ReadFile(file) // where it was refused there is none
		return string(text), log.String(), code
	}
	short := a.Inputs["run"].Default + " --processes 8 -- '-bench=^Benchmark(Pull|None)$' -benchtime=1000x"
	installed := "ZKBENCH=" + must.Get(exec.LookPath("zkbench-real"))(t) // the first one installs its own
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
		env := []string{installed}
		if i == 0 { // whatever is meant for what is measured
			env = []string{"GOFLAGS=-buildvcs=false"}
		}
		if test.gate != "" {
			env = append(env, "GATE="+test.gate)
		}
		summary, messages, code := run(test.head, "ahead", short, env...)
		golden.Equal(t, test.head+": exit code\n"+messages, test.code, code)
		golden.Contains(t, summary, append(test.says, "## zkbench compare\n", "| case | metric | old | new |")...)
		golden.Contains(t, messages, "1/1: 24 processes of pull\n")
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
		summary, messages, code := run("same", test.base, test.run, installed)
		if code != cli.ExitUsage || summary != "" || strings.Count(messages, "\n") != 1 || !strings.Contains(messages, test.says) {
			t.Errorf("exit code %d, %q, %q; want %d, ...%s", code, summary, messages, cli.ExitUsage, test.says)
		}
	}
	golden.Equal(t, "worktrees", 1, repo.Worktrees(t))
}
