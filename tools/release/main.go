// Command release checks that HEAD of a clone is what a release is made of: the newest version of
// CHANGELOG.md is the only version that tags HEAD, no change stands above it there, and nothing is
// changed or new in the clone:
//
//	go run -C tools ./release CLONE
//
// The tests of this directory check what a release promises: that the module can be installed from
// its tag, and that its programs have the same bytes wherever they are built. They check the last
// commit, not the working tree:
//
//	go test -C tools ./release
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// released matches the heading of a version in CHANGELOG.md.
var released = regexp.MustCompile(`(?m)^## ([0-9]+\.[0-9]+\.[0-9]+)$`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "release: accepted: the directory of a clone")
		os.Exit(2)
	}
	if err := check(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "release: %v\n", err)
		os.Exit(1)
	}
}

// newest returns the newest version in CHANGELOG.md of a clone, as a tag.
func newest(dir string) (tag string, err error) {
	changes, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	m := released.FindSubmatch(changes)
	if m == nil {
		return "", errors.New("CHANGELOG.md names no version")
	}
	return "v" + string(m[1]), nil
}

// pending matches changes above the newest version in CHANGELOG.md.
var pending = regexp.MustCompile(`(?m)^## Unreleased\n+([^#\n].*)$`)

// check returns an error unless HEAD of the clone in dir can be released.
func check(dir string) error {
	version, err := newest(dir)
	if err != nil {
		return err
	}
	head, err := git(dir, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	at, err := git(dir, "rev-parse", "--verify", "--quiet", "refs/tags/"+version+"^{commit}")
	if err != nil {
		return fmt.Errorf("there is no tag %s, the newest version in CHANGELOG.md; snapshots need none: make dist DISTFLAGS=--snapshot", version)
	}
	if at != head {
		return fmt.Errorf("the tag %s, the newest version in CHANGELOG.md, is at %s, and HEAD is %s", version, at, head)
	}
	tags, err := git(dir, "tag", "--points-at", "HEAD", "--list", "v[0-9]*")
	if err != nil {
		return err
	}
	for _, tag := range strings.Fields(tags) {
		if tag != version {
			return fmt.Errorf("HEAD has the tags %s and %s, and a program can name one of them only", version, tag)
		}
	}
	changes, err := os.ReadFile(filepath.Join(dir, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	if m := pending.FindSubmatch(changes); m != nil {
		return fmt.Errorf("CHANGELOG.md has changes that are of no version: %s", m[1])
	}
	changed, err := git(dir, "status", "--porcelain")
	if err != nil {
		return err
	}
	if changed != "" {
		return fmt.Errorf("the clone has files that the commit has not: %s", strings.ReplaceAll(changed, "\n", "; "))
	}
	return nil
}

// git runs git in a clone and returns what it writes.
func git(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	var messages strings.Builder
	cmd.Stderr = &messages
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(messages.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
