package zkbench_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestLinks: every relative link in the documentation exists, and so does every page of docs/ that
// Go code names.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	note := regexp.MustCompile(`\bdocs/[a-z-]+\.md`)
	files := 0
	must.Do(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "target" || d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "bin") {
			return filepath.SkipDir
		}
		var targets []string
		switch filepath.Ext(path) {
		case ".md":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for _, m := range link.FindAllStringSubmatch(string(text), -1) {
				targets = append(targets, filepath.Join(filepath.Dir(path), m[1]))
			}
		case ".go":
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			targets = note.FindAllString(string(text), -1)
		default:
			return nil
		}
		files++
		for _, target := range targets {
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s names %s, which does not exist", path, target)
			}
		}
		return nil
	}))
	if files < 50 {
		t.Errorf("only %d files looked at", files)
	}
}

// TestNamedTests: every test that the documentation names exists.
func TestNamedTests(t *testing.T) {
	has := make(map[string]bool)
	named := make(map[string]string) // test -> page
	declaration, name := regexp.MustCompile(`(?m)^func (Test\w+)\(`), regexp.MustCompile("`(Test\\w+)`")
	must.Do(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		page := filepath.Ext(path) == ".md"
		if !page && !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		if page {
			for _, m := range name.FindAllStringSubmatch(string(text), -1) {
				named[m[1]] = path
			}
		} else {
			for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
				has[m[1]] = true
			}
		}
		return err
	}))
	for test, page := range named {
		if !has[test] && test != "TestParallelBenchmarkX" { // whose X is a workload
			t.Errorf("%s names %s, which does not exist", page, test)
		}
	}
	if len(named) < 50 {
		t.Errorf("only %d tests are named", len(named))
	}
}
