package zkbench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
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

// TestActionWords: the input run comes apart at spaces and line ends that are not quoted, and a backslash stays.
func TestActionWords(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of bash")
	}
	_, root := readAction(t)
	repo := gittest.New(t)
	repo.Commit(t, "base", map[string]string{"a": "1"})
	repo.Commit(t, "head", map[string]string{"a": "2"})
	repo.Write(t, map[string]string{"program.sh": "#!/bin/bash\nshift 7\nprintf '<%s>' \"$@\"\n"})
	for run, want := range map[string]string{
		`--bench ./sum -- -bench=Sum\w*`:                  `<--bench><./sum><--><-bench=Sum\w*>`,
		`--build 'make a' --run './work "two words" x'`:   `<--build><make a><--run><./work "two words" x>`,
		`--run "it's \d" ''`:                              `<--run><it's \d><>`,
		"--bench\t./a,\\\n  \"./b c\"d'e f'\n":            `<--bench><./a,\><./b cde f>`,
		`--bench ./... -- '-bench=^Benchmark(A|B)$' $x *`: `<--bench><./...><--><-bench=^Benchmark(A|B)$><$x><*>`,

		"--run 'a\nb'": "<--run><a\nb>",
		"":             `<--bench><./...>`,
	} {
		summary := filepath.Join(t.TempDir(), "a summary.md")
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools", "pullrequest.sh"), "base", "head", summary)
		cmd.Dir, cmd.Env = repo.Dir, append(os.Environ(), "RUN="+run, "ZKBENCH="+filepath.Join(repo.Dir, "program.sh"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", run, err, out)
		}
		golden.Equal(t, run, "## zkbench compare\n\n"+want, string(must.Get(os.ReadFile(summary))(t)))
	}
	for _, run := range []string{`--run 'a`, `--run "a`, `it's`, `"'"'`, `a\'b`} {
		cmd := exec.CommandContext(t.Context(), filepath.Join(root, "tools", "pullrequest.sh"), "base", "head", filepath.Join(t.TempDir(), "summary.md"))
		cmd.Dir, cmd.Env = repo.Dir, append(os.Environ(), "RUN="+run, "ZKBENCH="+filepath.Join(repo.Dir, "program.sh"))
		var messages strings.Builder
		cmd.Stderr = &messages
		must.Do(t, cmd.Start())
		golden.Equal(t, run+": exit code", cli.ExitUsage, clitest.ExitCode(t, cmd))
		golden.Equal(t, "message", `pullrequest.sh: run: "`+run+`" is not accepted; accepted: words, their quotes closed`+"\n", messages.String())
	}
}

// TestActionRunners runs the action in checkouts as runners have them: in a path with spaces, in a directory of the
// repository, of a fork, shallow, with submodules, for a merge group and for a push.
func TestActionRunners(t *testing.T) {
	testsize.Full(t)
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of bash")
	}
	settings := filepath.Join(t.TempDir(), "gitconfig") // git clones no submodule from a path without it
	must.Do(t, os.WriteFile(settings, []byte("[protocol \"file\"]\n\tallow = always\n[user]\n\tname = t\n\temail = t@example.org\n[safe]\n\tdirectory = *\n"), 0o666))
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	library := gittest.New(t)
	library.Commit(t, "library", map[string]string{"file": "of the library\n"})
	source := gittest.New(t)
	git(source.Dir, "submodule", "--quiet", "add", library.Dir, "library")
	source.Commit(t, "base", map[string]string{"sub dir/two words.txt": "1\n"})
	source.Commit(t, "head", map[string]string{"sub dir/two words.txt": "2\n"})
	base := git(source.Dir, "rev-parse", "base")
	clone := func(args ...string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "a repository")
		git(".", append(append([]string{"clone", "--quiet"}, args...), "file://"+source.Dir, dir)...)
		return dir
	}
	fork := func() string {
		t.Helper()
		other := clone()
		git(other, "commit", "--quiet", "--allow-empty", "--message", "of a fork")
		dir := clone()
		git(dir, "fetch", "--quiet", other, "HEAD")
		git(dir, "checkout", "--quiet", "--detach", "FETCH_HEAD")
		return dir
	}
	const quick = " --processes 1 --budget 0s"
	pull := map[string]string{"github.event_name": "pull_request", "github.event.pull_request.base.sha": base}
	group := map[string]string{"github.event_name": "merge_group", "github.event.merge_group.base_sha": base}
	cache := reused(t)
	for name, test := range map[string]struct {
		workspace string
		event     map[string]string
		inputs    map[string]string
		code      int
		says      string // in the summary
	}{
		"directory": {clone(), pull, map[string]string{"run": `--run 'cat "two words.txt"' --allow-blind` + quick, "working-directory": "sub dir"}, cli.ExitOK, "| case | metric | old | new |"},
		"root":      {clone(), pull, map[string]string{"run": `--run 'cat "sub dir/two words.txt"' --allow-blind` + quick}, cli.ExitOK, "| case | metric | old | new |"},
		"undecided": {clone(), pull, map[string]string{"run": `--run 'cat .gitmodules'` + quick}, cli.ExitPartial, "**Exit code 3**"},
		"fork":      {fork(), pull, map[string]string{"run": `--run 'cat .gitmodules' --allow-blind` + quick}, cli.ExitOK, "| case | metric | old | new |"},
		"group":     {clone(), group, map[string]string{"run": `--run 'cat .gitmodules' --allow-blind` + quick}, cli.ExitOK, "| case | metric | old | new |"},
		"submodules": {
			clone("--recurse-submodules"), pull, map[string]string{"run": `--build 'git submodule update --init' --run 'cat library/file' --allow-blind` + quick}, cli.ExitOK, "| case | metric | old | new |",
		},
		"no submodules": {clone("--recurse-submodules"), pull, map[string]string{"run": `--run 'cat library/file'` + quick}, cli.ExitFailed, "--build 'git submodule update --init' gets them"},
		"shallow":       {clone("--depth", "1"), pull, nil, cli.ExitUsage, "this is a shallow clone, and actions/checkout needs fetch-depth: 0"},
		"push":          {clone(), map[string]string{"github.event_name": "push"}, nil, cli.ExitUsage, "the event push has no pull request: give the action base: ${{ github.event.before }}"},
		"group without": {
			clone(), group, map[string]string{"base": ""}, cli.ExitUsage, "the event merge_group has no pull request: give the action base: ${{ github.event.merge_group.base_sha }}",
		},
		"by hand":       {clone(), map[string]string{"github.event_name": "workflow_dispatch"}, nil, cli.ExitUsage, "the event workflow_dispatch has no pull request: give the action a base, for example base: origin/main"},
		"new branch":    {clone(), pull, map[string]string{"base": strings.Repeat("0", 40)}, cli.ExitUsage, "a new branch has no earlier commit"},
		"no repository": {t.TempDir(), pull, nil, cli.ExitUsage, "no repository is here: fatal: not a git repository"},
	} {
		t.Run(name, func(t *testing.T) {
			j := job{workspace: test.workspace, cache: cache, event: test.event, inputs: test.inputs}
			o := j.run(t)
			golden.Equal(t, "exit code\n"+o.log, test.code, o.code)
			golden.Contains(t, o.summary, test.says)
			golden.Equal(t, "output exit-code", []string{"0", "1", "2", "3"}[test.code], o.outputs["exit-code"])
		})
	}

	// A summary that cannot be written changes no exit code, and its text is in the log.
	for code, run := range map[int]string{cli.ExitOK: `--run 'cat .gitmodules' --allow-blind` + quick, cli.ExitUsage: "'"} {
		j := job{workspace: clone(), cache: cache, event: pull, inputs: map[string]string{"run": run}, summary: t.TempDir()}
		o := j.run(t)
		golden.Equal(t, "exit code without a summary\n"+o.log, code, o.code)
		golden.Contains(t, o.log, "cannot be written; this is what it would say", "## zkbench compare\n")
	}
}

// TestActionBuildFails: a program that does not build is named in the summary, and the key of the cache follows the sources.
func TestActionBuildFails(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the script is one of bash")
	}
	_, root := readAction(t)
	dir := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(dir, "tools"), 0o777))
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module broken\n\ngo 1.26\n"), 0o666))
	script := must.Get(os.ReadFile(filepath.Join(root, "tools", "pullrequest.sh")))(t)
	must.Do(t, os.WriteFile(filepath.Join(dir, "tools", "pullrequest.sh"), script, 0o777))
	summary := filepath.Join(dir, "summary.md")
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "tools", "pullrequest.sh"), "--build", filepath.Join(dir, "to"), summary)
	must.Do(t, cmd.Start())
	golden.Equal(t, "exit code", cli.ExitUsage, clitest.ExitCode(t, cmd))
	golden.Contains(t, string(must.Get(os.ReadFile(summary))(t)), "zkbench does not build: see the log")

	key := func() string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "tools", "pullrequest.sh"), "--key", summary)
		cmd.Dir = t.TempDir()
		return string(must.Get(cmd.Output())(t))
	}
	before := key()
	golden.Equal(t, "key of the same sources", before, key())
	must.Do(t, os.WriteFile(filepath.Join(dir, "a file.txt"), nil, 0o666))
	if after := key(); after == before {
		t.Errorf("another file leaves the key at %s", after)
	}
	before = key()
	must.Do(t, os.WriteFile(filepath.Join(dir, "a file.txt"), []byte("1"), 0o666))
	if after := key(); after == before {
		t.Errorf("other text leaves the key at %s", after)
	}
}

var (
	usesLine = regexp.MustCompile(`(?m)^[ ]*(?:- )?uses: (\S+)[ ]*(.*)$`)
	byCommit = regexp.MustCompile(`^[\w.-]+(?:/[\w.-]+)+@([0-9a-f]{40})$`)
	aVersion = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
)

// TestActionsPinned: workflows name actions of others by commit, each by one, with the version in a comment. The code of
// pull requests runs with a token that can only read, and no workflow uses a secret.
func TestActionsPinned(t *testing.T) {
	_, root := readAction(t)
	files := must.Get(filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml")))(t)
	workflows := len(files)
	files = append(files, filepath.Join(root, "action.yml"), filepath.Join(root, "docs", "compare.md"), filepath.Join("templates", "gate.yml"))
	commits, used := make(map[string]string), 0
	for _, file := range files {
		text := string(must.Get(os.ReadFile(file))(t))
		for _, m := range usesLine.FindAllStringSubmatch(text, -1) {
			used++
			if m[1] == "./" || m[1] == "zkbench/zkbench@COMMIT" || strings.HasPrefix(m[1]+" "+m[2], byBranch) {
				continue
			}
			if !byCommit.MatchString(m[1]) || !aVersion.MatchString(m[2]) {
				t.Errorf("%s: %s %s: want a commit, and the version in a comment", file, m[1], m[2])
			}
			name, commit, _ := strings.Cut(m[1], "@")
			name = strings.Join(strings.SplitN(name, "/", 3)[:2], "/") // without a path in the repository
			if before := commits[name]; before != "" && before != commit+m[2] {
				t.Errorf("%s: %s is %s %s here and %s elsewhere", file, name, commit, m[2], before)
			}
			commits[name] = commit + m[2]
		}
		if strings.Contains(text, "secrets.") {
			t.Errorf("%s uses a secret", file)
		}
	}
	golden.Within(t, "uses", 15, used, 100)
	golden.Equal(t, "workflows", 3, workflows)
	for _, file := range files[:workflows] {
		var workflow struct {
			On          any
			Permissions map[string]string
			Jobs        map[string]struct{ Permissions map[string]string }
		}
		text := must.Get(os.ReadFile(file))(t)
		must.Do(t, yaml.Unmarshal(text, &workflow))
		golden.Equal(t, file+": permissions", map[string]string{"contents": "read"}, workflow.Permissions)
		if strings.Contains(string(text), "pull_request_target") {
			t.Errorf("%s runs for pull_request_target", file)
		}
		if strings.Contains(string(text), "pull_request") {
			for name, job := range workflow.Jobs {
				golden.Equal(t, file+": permissions of "+name, map[string]string(nil), job.Permissions)
			}
		}
	}
}

// TestGatePinned: init gate names the action by the commit of the program, if that is the whole truth.
func TestGatePinned(t *testing.T) {
	text := string(must.Get(templates.ReadFile("templates/gate.yml"))(t))
	commit := strings.Repeat("0a", 20)
	golden.Contains(t, pinned(text, commit), "      - uses: zkbench/zkbench@"+commit+" # of the zkbench that wrote this file\n        with:\n")
	for _, other := range []string{"", "v0.1.0", commit + "+dirty", commit[:12]} {
		golden.Equal(t, "by "+other, text, pinned(text, other))
	}
	golden.Equal(t, "times that the template names the branch", 1, strings.Count(text, byBranch))
}
