package zkbench_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// measured matches a figure of time in prose: how long something takes, or how many times as fast
// it is.
var measured = regexp.MustCompile(`(?i)\b(takes?|took|costs?|some|measured( is)?|measurements is|is about) (about |some |only |around )?[0-9][0-9.,]* ?(ns|us|µs|ms)\b` +
	`|\b(twice|two times|three times|four times|five times|six times|seven times|eight times|ten times|fifteen times|[0-9.]+ times) as (fast|slow)\b` +
	`|\b[0-9.]+ times (faster|slower)\b|\b(half|twice) as (fast|slow)\b` +
	`|[0-9] ?% (slower|faster|longer|of (a|the) [a-z'-]+ time)` +
	`|\ban? (third|quarter|fifth|sixth|seventh|eighth|tenth|twentieth) (slower|faster|longer)\b`)

// byCommand matches the part of a comment or page that says how a figure is measured.
var byCommand = regexp.MustCompile(`\b(go test|zkbench [a-z]+|make [a-z-]+)\b`)

// TestFiguresOfComments: a comment of a public package that says how long something takes names the command that
// measures it. What is not made anew by a command grows false.
func TestFiguresOfComments(t *testing.T) {
	t.Parallel()
	files := 0
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		dir := filepath.ToSlash(filepath.Dir(path))
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (entry.Name()[0] == '.' || slices.Contains([]string{"bin", "peers", "tools", "internal", "examples", "testdata"}, path)):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || !public(dir) && !strings.Contains(dir, "/internal"):
			return nil
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		for _, c := range file.Comments {
			text := strings.Join(strings.Fields(c.Text()), " ")
			if figure := measured.FindString(text); figure != "" && !byCommand.MatchString(text) {
				t.Errorf("%s: %q, and no command that measures it", positions.Position(c.Pos()), figure)
			}
		}
		return nil
	}))
	if files < 200 {
		t.Errorf("only %d files looked at", files)
	}
}

// processor matches the name of the machine of a figure.
var processor = regexp.MustCompile(`\b(EPYC|Xeon|Core i[0-9]|Graviton|AVX-512 at [0-9.]+ GHz)`)

// TestFiguresOfPages: a page that has times in a table names the processor on which they were measured, and a command
// that measures them.
func TestFiguresOfPages(t *testing.T) {
	t.Parallel()
	cell := regexp.MustCompile(`(?m)^\|.*\| *[0-9][0-9.,]* (ns|us|µs|ms|s) *\|`)
	found := 0
	for _, path := range append(must.Get(filepath.Glob("docs/*.md"))(t), "README.md") {
		text := string(must.Get(os.ReadFile(path))(t))
		if !cell.MatchString(text) {
			continue
		}
		found++
		if !processor.MatchString(text) || !byCommand.MatchString(text) {
			t.Errorf("%s has times, and names no processor or no command that measures them", path)
		}
	}
	if found < 6 {
		t.Errorf("only %d pages have times", found)
	}
}

// TestMeasured: what is a figure of time, and what is none.
func TestMeasured(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"proving about three times as slow": true, "which takes some 30 ms a system": true, "a sum takes about a twentieth longer": true,
		"a doubling takes 0.17 us on BN254": true, "proofs are 7 % faster": true, "clearing takes 7 or 8 % of a proof's time": true, "2.5 times faster": true,
		"the window is 100 ms": false, "four times as much": false, "after 10 s it is given up": false, "a third as large": false, "0.03 is 3 % more": false,
	} {
		if measured.MatchString(text) != want {
			t.Errorf("%q: figure %t, want %t", text, !want, want)
		}
	}
}
