package zkbench

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// action holds the parts of action.yml that decide what it does.
type action struct {
	Inputs map[string]struct {
		Description, Default string
	}
	Outputs map[string]struct {
		Description, Value string
	}
	Runs struct {
		Using string
		Steps []step
	}
}

type step struct {
	ID, If, Uses, Shell, Run string
	With, Env                map[string]string
	Directory                string `yaml:"working-directory"`
}

// readAction returns the action and the directory that it is in.
func readAction(t *testing.T) (a action, root string) {
	t.Helper()
	root = must.Get(filepath.Abs(filepath.Join("..", "..", "..")))(t)
	must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(filepath.Join(root, "action.yml")))(t), &a))
	return a, root
}

// job runs the steps of the action as a runner of GitHub does.
type job struct {
	workspace string            // the checkout
	cache     string            // has a folder for each key
	event     map[string]string // expressions of the event, for example github.event_name
	inputs    map[string]string // those that a workflow gives
	env       []string          // in addition
	summary   string            // path of the summary; empty: a file
}

// outcome is what a job leaves behind.
type outcome struct {
	code         int
	summary, log string
	outputs      map[string]string
	ran          []string // the steps, by id or action
}

// run runs the steps until one fails.
func (j *job) run(t *testing.T) (o outcome) {
	t.Helper()
	a, root := readAction(t)
	temp := filepath.Join(t.TempDir(), "runner temp")
	must.Do(t, os.Mkdir(temp, 0o777))
	summary := j.summary
	if summary == "" {
		summary = filepath.Join(temp, "summary.md")
		must.Do(t, os.WriteFile(summary, nil, 0o666))
	}
	known := map[string]string{"runner.temp": temp}
	for _, name := range []string{"github.event.pull_request.base.sha", "github.event.merge_group.base_sha"} {
		known[name] = ""
	}
	maps.Copy(known, j.event)
	for name, in := range a.Inputs {
		value, given := j.inputs[name]
		if !given {
			value = expand(t, in.Default, known)
		}
		known["inputs."+name] = value
	}
	for _, s := range a.Runs.Steps {
		for _, name := range []string{"exit-code", "table", "key", "cache-hit"} {
			known["steps."+s.ID+".outputs."+name] = ""
		}
	}
	for _, s := range a.Runs.Steps {
		if o.code != 0 || !holds(t, s.If, known) {
			continue
		}
		name, _, _ := strings.Cut(s.Uses, "@")
		with := make(map[string]string)
		for key, text := range s.With {
			with[key] = expand(t, text, known)
		}
		switch {
		case s.Uses == "":
			name = s.ID
			o.code = j.bash(t, s, root, temp, summary, known, &o.log)
		case with["path"] == "" || with["key"] == "":
			t.Fatalf("step %s without path or key: %v", name, with)
		case name == "actions/cache/restore":
			if stored := filepath.Join(j.cache, with["key"]); exists(stored) {
				must.Do(t, os.CopyFS(with["path"], os.DirFS(stored)))
				known["steps."+s.ID+".outputs.cache-hit"] = "true"
			}
		case name == "actions/cache/save":
			must.Do(t, os.CopyFS(filepath.Join(j.cache, with["key"]), os.DirFS(with["path"])))
		default:
			t.Fatalf("a step uses %s", s.Uses)
		}
		o.ran = append(o.ran, name)
	}
	text, _ := os.ReadFile(summary) // a directory, in one test
	o.summary, o.outputs = string(text), make(map[string]string)
	for name, out := range a.Outputs {
		o.outputs[name] = expand(t, out.Value, known)
	}
	return o
}

// bash runs a step that is a script, and records its outputs.
func (j *job) bash(t *testing.T, s step, root, temp, summary string, known map[string]string, log *string) (code int) {
	t.Helper()
	output := filepath.Join(temp, "output-"+s.ID)
	cmd := exec.CommandContext(t.Context(), s.Shell, "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", s.Run)
	cmd.Dir = filepath.Join(j.workspace, filepath.FromSlash(expand(t, s.Directory, known)))
	cmd.Env = append(os.Environ(), "GITHUB_ACTION_PATH="+root, "GITHUB_STEP_SUMMARY="+summary, "GITHUB_OUTPUT="+output, "RUNNER_TEMP="+temp, "GITHUB_EVENT_NAME="+j.event["github.event_name"])
	for name, text := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+expand(t, text, known))
	}
	cmd.Env = append(cmd.Env, j.env...)
	var messages strings.Builder
	cmd.Stdout, cmd.Stderr = &messages, &messages
	must.Do(t, cmd.Start())
	code = clitest.ExitCode(t, cmd)
	*log += messages.String()
	written, _ := os.ReadFile(output) // there is none if the step has no outputs
	for line := range strings.Lines(string(written)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		known["steps."+s.ID+".outputs."+name] = value
	}
	return code
}

var expression = regexp.MustCompile(`\$\{\{ (.*?) \}\}`)

// expand returns a text with the values of its expressions, which are names or alternatives of names.
func expand(t *testing.T, text string, known map[string]string) string {
	t.Helper()
	return expression.ReplaceAllStringFunc(text, func(found string) string {
		for name := range strings.SplitSeq(expression.FindStringSubmatch(found)[1], " || ") {
			value, is := known[name]
			if !is {
				t.Errorf("expression %q: no value", name)
			}
			if value != "" {
				return value
			}
		}
		return ""
	})
}

// holds reports whether a step runs after others that did not fail.
func holds(t *testing.T, condition string, known map[string]string) bool {
	t.Helper()
	if condition == "" {
		return true
	}
	name, value, differs := strings.Cut(condition, " != ")
	have, is := known[name]
	if !differs || !is {
		t.Errorf("condition %q is not understood", condition)
	}
	return have != strings.Trim(value, "'")
}

// reused is a cache that has a program for every key: the command of this test.
func reused(t *testing.T) (cache string) {
	t.Helper()
	_, root := readAction(t)
	cache = t.TempDir()
	out := must.Get(exec.CommandContext(t.Context(), filepath.Join(root, "tools", "pullrequest.sh"), "--key", "summary.md").Output())(t)
	key, is := strings.CutPrefix(strings.TrimSpace(string(out)), "key=")
	if !is || !regexp.MustCompile(`^zkbench-go1\.[0-9.]+-[a-z]+-[a-z0-9]+-[0-9a-f]{40}$`).MatchString(key) {
		t.Fatalf("the key is %q", out)
	}
	must.Do(t, os.Mkdir(filepath.Join(cache, key), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(cache, key, "zkbench"), []byte("#!/bin/sh\nexec zkbench-real \"$@\"\n"), 0o777))
	return cache
}

// names returns the sorted names of a map.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
