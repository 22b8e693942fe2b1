package compare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/gittest"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
)

func TestParseRange(t *testing.T) {
	for text, want := range map[string][2]string{
		"HEAD~1..HEAD": {"HEAD~1", "HEAD"}, "v1.0..WORK": {"v1.0", "WORK"}, "WORK..main": {"WORK", "main"},
	} {
		if from, to, err := compare.ParseRange(text); err != nil || from != want[0] || to != want[1] {
			t.Errorf("range=%s: %s, %s, %v", text, from, to, err)
		}
	}
	for _, text := range []string{"", "HEAD", "..", "HEAD..", "..HEAD", "a...b", "a..b..c"} {
		if _, _, err := compare.ParseRange(text); !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("range=%q: error %v, want ErrParams", text, err)
		}
	}
}

// repository makes a repository of a tiny command with three revisions, the
// last of which does not build, and enters it.
func repository(t *testing.T) gittest.Repository {
	t.Helper()
	r := gittest.New(t)
	r.Write(t, map[string]string{"go.mod": "module tiny\n\ngo 1.26\n"})
	for subject, body := range []string{`println("one")`, `println("two")`, `println(undefined)`} {
		r.Commit(t, fmt.Sprint("r", subject), map[string]string{"cmd/zkbench/main.go": "package main\n\nfunc main() { " + body + " }\n"})
	}
	t.Chdir(r.Dir)
	return r
}

// worktrees are the worktrees of the repository, its own included, and the
// entries that git keeps of them.
func worktrees(t *testing.T, r gittest.Repository) int {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(r.Dir, ".git", "worktrees"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return r.Worktrees(t) + len(entries)
}

// TestBuild builds revisions and the working tree; whatever happens, no worktree
// stays.
func TestBuild(t *testing.T) {
	testsize.Full(t)
	files := repository(t)
	t.Setenv("TMPDIR", t.TempDir()) // Build's directory; elsewhere it has another name
	repo := must.Get(compare.OpenRepository(t.Context()))(t)
	program := filepath.Join(t.TempDir(), "program.exe")
	main := must.Get(repo.Find(t.Context(), compare.Main{Module: "tiny", Path: "tiny/cmd/zkbench"}))(t)
	build := func(ctx context.Context, rev string) (string, error) {
		t.Helper()
		v := must.Get(repo.Resolve(t.Context(), rev))(t)
		var log strings.Builder
		err := repo.Build(ctx, v, main, program, &log)
		golden.Equal(t, "log of "+rev, "building "+v.String()+"\n", log.String())
		return v.String(), err
	}
	for rev, want := range map[string]string{"HEAD~2": "one\n", "HEAD~1": "two\n"} {
		if _, err := build(t.Context(), rev); err != nil {
			t.Fatalf("rev=%s: %v", rev, err)
		}
		golden.Equal(t, "what the program of "+rev+" says", want, string(must.Get(exec.Command(program).CombinedOutput())(t)))
	}
	if _, err := build(t.Context(), "HEAD"); !errors.Is(err, zkbench.ErrEnv) ||
		!strings.Contains(err.Error(), "does not build: ") || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("rev=HEAD: error %v, want the compiler's", err)
	}
	if name, err := build(t.Context(), compare.Work); err == nil || strings.Contains(name, "dirty") {
		t.Errorf("rev=WORK, unchanged: %s, %v", name, err)
	}
	must.Do(t, os.WriteFile("cmd/zkbench/main.go", []byte("package main\n\nfunc main() { println(\"work\") }\n"), 0o666))
	if name, err := build(t.Context(), compare.Work); err != nil || !strings.HasSuffix(name, "+dirty") {
		t.Errorf("rev=WORK, changed: %s, %v", name, err)
	}
	elsewhere := must.Get(repo.Find(t.Context(), compare.Main{Module: "tiny", Path: "tiny/cmd/other"}))(t)
	err := repo.Build(t.Context(), must.Get(repo.Resolve(t.Context(), "HEAD~1"))(t), elsewhere, program, io.Discard)
	must.Fail(t, err, zkbench.ErrEnv, "a package that is not there")
	golden.Contains(t, err.Error(), " has no package tiny/cmd/other; ")
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	must.FailGet(build(stopped, "HEAD~1"))(t, must.ErrAny, "a stopped build")
	golden.Equal(t, "worktrees and entries, the repository's alone", 1, worktrees(t, files))
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "zkbench-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestFind: a program is built from its module, wherever in the repository that is, and no other's.
func TestFind(t *testing.T) {
	repository(t).Write(t, map[string]string{"sub/go.mod": "// of tiny\nmodule tiny/sub // below it\n\ngo 1.26\n\nrequire other v1.0.0\n"})
	for _, dir := range []string{".", "sub"} {
		t.Chdir(dir)
		repo := must.Get(compare.OpenRepository(t.Context()))(t)
		for _, main := range []compare.Main{{Module: "tiny", Path: "tiny/cmd/zkbench"}, {Module: "tiny/sub", Path: "tiny/sub"}} {
			must.Get(repo.Find(t.Context(), main))(t)
		}
		for _, main := range []compare.Main{
			{}, {Module: "other", Path: "other/cmd"}, {Module: "tiny/sub", Path: "command-line-arguments"}, {Module: "tiny/sub", Path: "tiny/subtle"},
		} {
			must.FailGet(repo.Find(t.Context(), main))(t, zkbench.ErrParams, "%+v", main)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	repository(t)
	repo := must.Get(compare.OpenRepository(t.Context()))(t)
	for _, rev := range []string{"no-such", "--all", "HEAD~9", "", "HEAD:go.mod"} {
		must.FailGet(repo.Resolve(t.Context(), rev))(t, zkbench.ErrParams, "rev=%q", rev)
	}
	t.Chdir(t.TempDir())
	must.FailGet(compare.OpenRepository(t.Context()))(t, zkbench.ErrEnv, "no repository")
}
