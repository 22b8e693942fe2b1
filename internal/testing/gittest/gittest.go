// Package gittest creates git repositories for tests.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/compare/gitenv"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// Repository is a git repository in a temporary directory of a test.
type Repository struct{ Dir string }

// New creates an empty repository. It skips the test if git is not installed.
func New(t testing.TB) Repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	r := Repository{t.TempDir()}
	r.git(t, "init", "--quiet")
	return r
}

// Write writes files into the repository. The map files maps the path of each file to its contents. Files whose names
// end in .sh are executable.
func (r Repository) Write(t testing.TB, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(r.Dir, filepath.FromSlash(name))
		mode := os.FileMode(0o666)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o777
		}
		must.Do(t, os.MkdirAll(filepath.Dir(path), 0o777))
		must.Do(t, os.WriteFile(path, []byte(text), mode))
	}
}

// Commit writes files like Write, commits everything in the repository, and tags the commit with its subject.
func (r Repository) Commit(t testing.TB, subject string, files map[string]string) {
	t.Helper()
	r.Write(t, files)
	r.git(t, "add", ".")
	r.git(t, "commit", "--quiet", "--allow-empty", "--message", subject)
	r.git(t, "tag", subject)
}

// Checkout checks out a revision.
func (r Repository) Checkout(t testing.TB, revision string) {
	t.Helper()
	r.git(t, "checkout", "--quiet", revision)
}

func (r Repository) git(t testing.TB, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false"}, args...)...)
	cmd.Dir, cmd.Env = r.Dir, environ()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// environ returns environment variables for git without another repository and without a user's configuration.
func environ() []string {
	return append(gitenv.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
}

// Worktrees returns how many worktrees the repository has, including its main one.
func (r Repository) Worktrees(t testing.TB) int {
	t.Helper()
	cmd := exec.Command("git", "worktree", "list")
	cmd.Dir, cmd.Env = r.Dir, environ()
	return strings.Count(string(must.Get(cmd.Output())(t)), "\n")
}
