package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// path is the path of the module.
const path = "github.com/zkbench/zkbench"

// install matches the README's command that installs zkbench.
var install = regexp.MustCompile(`(?m)^ {4}go install ` + regexp.QuoteMeta(path) + `/cmd/zkbench@(v[0-9]+\.[0-9]+\.[0-9]+)$`)

// clone returns a clone of the last commit, at a path within a new directory, and the version that
// its README names. The clone has that version as a tag. CHANGELOG.md must describe it.
func clone(t *testing.T, within string) (dir, version string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), within)
	top := strings.TrimSpace(run(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
	run(t, ".", nil, "git", "clone", "--quiet", top, dir)
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	must(t, err)
	m := install.FindSubmatch(readme)
	if m == nil {
		t.Fatalf("README.md has no line %q", install)
	}
	version = string(m[1])
	changes, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	must(t, err)
	if !strings.Contains(string(changes), "\n## "+version[1:]+"\n") {
		t.Errorf("README.md names %s, of which CHANGELOG.md does not tell", version)
	}
	run(t, dir, nil, "git", "tag", "--force", version)
	return dir, version
}

// run runs a program in a directory, with additional environment variables, and returns its output.
func run(t *testing.T, dir string, env []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", program, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
