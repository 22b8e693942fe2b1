package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// path is the module's.
const path = "github.com/zkbench/zkbench"

// clone returns a clone of the last commit at a path within a new directory, and the newest version
// in its CHANGELOG.md, which it has as a tag.
func clone(t *testing.T, within string) (dir, version string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), within)
	top := strings.TrimSpace(run(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
	run(t, ".", nil, "git", "clone", "--quiet", top, dir)
	version, err := newest(dir)
	must(t, err)
	run(t, dir, nil, "git", "tag", "--force", version)
	return dir, version
}

// run runs a program in a directory, with more environment, and returns what it writes.
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
