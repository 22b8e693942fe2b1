package zkbench_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestFindingsAreListed: zkbench help findings lists the findings that the program's code writes, and no other.
func TestFindingsAreListed(t *testing.T) {
	t.Parallel()
	literal := regexp.MustCompile(`(?:\b(?:finding|note)\(|\bFinding\{+\s*(?:Name: )?)("[a-z -]+")|\{Name: ("[a-z -]+"), Text: `)
	constant := regexp.MustCompile(`(?m)^\s*(?:const )?(?:\w*[Ff]inding\w*|notFinite|triedAgain|AnyResult|InputChanged|Refused|PeakSampled|Disturbed|IdleProcessors)\s+= ("[a-z -]+")`)
	written := make(map[string]string)
	must.Do(t, filepath.WalkDir("internal", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || forTests(filepath.ToSlash(filepath.Dir(path))) {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range append(literal.FindAllStringSubmatch(string(source), -1), constant.FindAllStringSubmatch(string(source), -1)...) {
			written[must.Get(strconv.Unquote(strings.Join(m[1:], "")))(t)] = path
		}
		return err
	}))
	for _, f := range record.FindingNames() {
		if written[f.Name] == "" {
			t.Errorf("no code writes the finding %q", f.Name)
		}
		delete(written, f.Name)
	}
	for name, path := range written {
		t.Errorf("%s: the finding %q is not listed", path, name)
	}
}
