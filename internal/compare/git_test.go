package compare_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/testing/gittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
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

// repository makes a repository of a tiny command and enters it. It has three revisions; the last
// one does not build.
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

// worktrees returns the worktrees of the repository, including its own, and the entries that git
// keeps of them.
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

// TestWork: the tree of the working tree has what git would add, at a path of its own, and nothing else.
func TestWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("of symbolic links and modes")
	}
	r := gittest.New(t)
	r.Commit(t, "base", map[string]string{".gitignore": "ignored\n", "same": "1", "changed": "1", "gone": "1", "moved": "a long text that is moved\n", "was/dir": "1", "run.sh": "1"})
	t.Chdir(r.Dir)
	r.Write(t, map[string]string{"changed": "2", "new/file": "2", "ignored": "2", "a name\nof two lines": "2"})
	must.Do(t, os.Remove("gone"))
	must.Do(t, os.Rename("moved", "there"))
	must.Do(t, os.RemoveAll("was"))
	must.Do(t, os.Symlink("same", "was"))
	must.Do(t, os.Chmod("run.sh", 0o644))
	repo := must.Get(compare.OpenRepository(t.Context()))(t)
	revs := []compare.Revision{must.Get(repo.Resolve(t.Context(), compare.Work))(t), must.Get(repo.Resolve(t.Context(), "base"))(t)}
	must.Do(t, repo.WithTrees(t.Context(), revs, func(trees []string) error {
		golden.Equal(t, "lengths of the paths", len(trees[0]), len(trees[1]))
		got := make(map[string]string)
		must.Do(t, filepath.WalkDir(trees[0], func(path string, d fs.DirEntry, err error) error {
			if name := must.Get(filepath.Rel(trees[0], path))(t); err == nil && !d.IsDir() && name != ".git" {
				got[name] = string(must.Get(os.ReadFile(path))(t))
			}
			return err
		}))
		want := map[string]string{".gitignore": "ignored\n", "same": "1", "changed": "2", "there": "a long text that is moved\n", "was": "1", "run.sh": "1", "new/file": "2", "a name\nof two lines": "2"}
		golden.Equal(t, "files", want, got)
		golden.Equal(t, "mode", fs.FileMode(0o644), must.Get(os.Stat(filepath.Join(trees[0], "run.sh")))(t).Mode().Perm())
		return nil
	}))
	golden.Equal(t, "worktrees", 1, worktrees(t, r))
}

// TestHook: the repository is that of the directory, and its index is left alone, whatever a hook or a
// shell has said to git; its own hooks do not run in trees.
func TestHook(t *testing.T) {
	victim, r := gittest.New(t), repository(t)
	victim.Commit(t, "of-another", map[string]string{"file": "1"})
	must.Do(t, os.WriteFile(filepath.Join(r.Dir, ".git", "hooks", "post-checkout"), []byte("#!/bin/sh\nexit 1\n"), 0o777))
	read := func(dir string) string { return string(must.Get(os.ReadFile(filepath.Join(dir, ".git", "index")))(t)) }
	mine, theirs := read(r.Dir), read(victim.Dir)
	for _, set := range [][2]string{{"GIT_DIR", victim.Dir + "/.git"}, {"GIT_INDEX_FILE", r.Dir + "/.git/index"}, {"GIT_INDEX_FILE", victim.Dir + "/.git/index"}, {"GIT_WORK_TREE", victim.Dir}} {
		t.Run(set[0], func(t *testing.T) {
			t.Setenv(set[0], set[1])
			repo := must.Get(compare.OpenRepository(t.Context()))(t)
			must.Do(t, repo.WithTrees(t.Context(), []compare.Revision{must.Get(repo.Resolve(t.Context(), "r0"))(t)}, func(trees []string) error {
				_, err := os.Stat(filepath.Join(trees[0], "go.mod"))
				return err
			}))
			r.Commit(t, "more-of-"+strings.ReplaceAll(t.Name(), "/", "-"), nil) // as tests do
		})
	}
	golden.Equal(t, "index of the other repository", theirs, read(victim.Dir))
	golden.Equal(t, "index", len(mine), len(read(r.Dir)))
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
