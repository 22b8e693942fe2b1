package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: a release is made of a commit that its version tags, of nothing before or after it, and of nothing that is
// not committed.
func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		tags    []string // at which revision, in order
		changes string
		file    string // that is not committed
		says    string
	}{
		"tagged":        {[]string{"v0.2.0 HEAD", "v0.1.0 HEAD~1"}, "## Unreleased\n\n## 0.2.0\n\n## 0.1.0\n", "", ""},
		"annotated":     {[]string{"-mRelease v0.2.0 HEAD"}, "## 0.2.0\n", "", ""},
		"other tag":     {[]string{"v0.2.0 HEAD", "nightly HEAD"}, "## 0.2.0\n", "", ""},
		"no tag":        {nil, "## 0.2.0\n", "", "there is no tag v0.2.0"},
		"before":        {[]string{"v0.2.0 HEAD~1"}, "## 0.2.0\n", "", "the tag v0.2.0, the newest version in CHANGELOG.md, is at "},
		"annotated old": {[]string{"-mRelease v0.2.0 HEAD~1"}, "## 0.2.0\n", "", "the tag v0.2.0, the newest version in CHANGELOG.md, is at "},
		"not newest":    {[]string{"v0.1.0 HEAD"}, "## 0.2.0\n\n## 0.1.0\n", "", "there is no tag v0.2.0"},
		"two":           {[]string{"v0.2.0 HEAD", "v0.2.1 HEAD"}, "## 0.2.0\n", "", "HEAD has the tags v0.2.0 and v0.2.1"},
		"new file":      {[]string{"v0.2.0 HEAD"}, "## 0.2.0\n", "new", "the clone has files that the commit has not: ?? new"},
		"changed":       {[]string{"v0.2.0 HEAD"}, "## 0.2.0\n", "CHANGELOG.md", "the clone has files that the commit has not: M CHANGELOG.md"},
		"unreleased":    {[]string{"v0.2.0 HEAD"}, "## Unreleased\n\n- A change.\n\n## 0.2.0\n", "", "CHANGELOG.md has changes that are of no version: - A change."},
		"no version":    {nil, "## Unreleased\n", "", "CHANGELOG.md names no version"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			commit := func(text string) {
				must(t, os.WriteFile(filepath.Join(dir, "CHANGELOG.md"), []byte(text), 0o666))
				run(t, dir, nil, "git", "add", ".")
				run(t, dir, nil, "git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "commit", "--quiet", "--message", "c")
			}
			run(t, dir, nil, "git", "init", "--quiet")
			commit("before\n")
			commit(test.changes)
			for _, tag := range test.tags {
				args := append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "tag.gpgsign=false", "tag"}, strings.Fields(tag)...)
				run(t, dir, nil, "git", args...)
			}
			if test.file != "" {
				must(t, os.WriteFile(filepath.Join(dir, test.file), []byte(test.changes+"\n"), 0o666))
			}
			err := check(dir)
			if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
				t.Errorf("error %v, want %q", err, test.says)
			}
		})
	}
}

// TestDistRefuses: make dist makes no release of a commit that is not at its tag, and a snapshot of any.
func TestDistRefuses(t *testing.T) {
	dir, version := clone(t, "here")
	run(t, dir, nil, "git", "tag", "--force", version, "HEAD~1")
	own := []string{"MAKEFLAGS=", "DISTFLAGS="} // not those of the make that runs this test
	cmd := exec.CommandContext(t.Context(), "make", "dist")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), own...)
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "release: the tag "+version+", the newest version in CHANGELOG.md, is at ") || strings.Contains(string(out), "goreleaser") {
		t.Errorf("make dist: %v\n%s", err, out)
	}
	const checks = "run -C tools ./release"
	if plan := run(t, dir, own, "make", "--dry-run", "dist"); !strings.Contains(plan, checks) {
		t.Errorf("make dist does not check the tag: %s", plan)
	}
	if plan := run(t, dir, own, "make", "--dry-run", "dist", "DISTFLAGS=--snapshot"); strings.Contains(plan, checks) {
		t.Errorf("make dist checks the tag of a snapshot: %s", plan)
	}
}
