package zkbench_test

import (
	"fmt"
	"go/ast"
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

// Habits of prose that can be counted.
var (
	// noVerb matches the comment of a function that does not begin by saying what the function does.
	noVerb = regexp.MustCompile(`^\S+ (is|are|was)\b`)
	// errorNoun matches "is an ErrParams" in place of "returns ErrParams if".
	errorNoun = regexp.MustCompile(`\b(is|are) (an? |the )?\*?(\w+\.)?(Err[A-Z]\w*|[A-Z]\w+Error)\b`)
	// noSubject matches a sentence that begins with a word that no subject begins with.
	noSubject = regexp.MustCompile(`(?:^|[.;:] )(Of|Who|Whom|Whoever|One (?:that|whose|which|of which))\b`)
)

// maxNoVerb is the share of exported functions whose comments may have "is" or "are" as the second word.
const maxNoVerb = 0.05

// TestProseOfComments holds exported doc comments to what can be counted: at most 5 % of functions' comments lack a verb,
// errors are returned, and no sentence begins with Of, Who or One that.
func TestProseOfComments(t *testing.T) {
	t.Parallel()
	functions := 0
	var noVerbs []string
	eachDocComment(t, func(place string, function bool, text string) {
		if found := errorNoun.FindString(text); found != "" {
			t.Errorf("%s: %q: write \"returns ErrX if\"", place, found)
		}
		if found := noSubject.FindString(text); found != "" {
			t.Errorf("%s: a sentence begins with %q", place, found)
		}
		if function {
			functions++
			if noVerb.MatchString(text) {
				noVerbs = append(noVerbs, place)
			}
		}
	})
	if functions < 1000 {
		t.Errorf("only %d functions have comments", functions)
	}
	if n := len(noVerbs); float64(n) > maxNoVerb*float64(functions) {
		t.Errorf("of %d comments of functions %d begin with \"Name is\" or \"Name are\":\n%s", functions, n, strings.Join(noVerbs, "\n"))
	}
}

// TestProseOfPages checks that no sentence of a page begins with Of, Who or One that.
func TestProseOfPages(t *testing.T) {
	t.Parallel()
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	pages = append(pages, must.Get(filepath.Glob("docs/studies/*.md"))(t)...)
	for _, page := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		for n, paragraph := range paragraphs(string(must.Get(os.ReadFile(page))(t))) {
			if found := noSubject.FindString(paragraph); found != "" {
				t.Errorf("%s, paragraph %d: a sentence begins with %q: %.80s", page, n+1, found, paragraph)
			}
		}
	}
}

// paragraphs returns the paragraphs and list items of a page in Markdown, each in one line, without code, tables and headings.
func paragraphs(page string) (all []string) {
	var lines []string
	end := func() {
		if len(lines) > 0 {
			all = append(all, strings.Join(lines, " "))
		}
		lines = nil
	}
	code := false
	for line := range strings.Lines(page) {
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			code = !code
		case code, text == "", strings.HasPrefix(line, "    "), strings.ContainsAny(text[:1], "#|<"), strings.HasPrefix(text, "!["), strings.HasPrefix(text, "$$"):
			end()
		default:
			if item, ok := strings.CutPrefix(text, "- "); ok {
				end()
				text = item
			}
			lines = append(lines, text)
		}
	}
	end()
	return all
}

// eachDocComment visits the doc comments of packages and of exported declarations, tests and generated files excepted. place
// is the file, the line and the name; text is the comment in one line.
func eachDocComment(t *testing.T, visit func(place string, function bool, text string)) {
	must.Do(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != "." && (entry.Name()[0] == '.' || slices.Contains([]string{"bin", "testdata", "target"}, entry.Name())):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		show := func(c *ast.CommentGroup, name string, function bool) {
			if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
				visit(fmt.Sprintf("%s:%d: %s", path, positions.Position(c.Pos()).Line, name), function, text)
			}
		}
		show(file.Doc, "package "+file.Name.Name, false)
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && exportedReceiver(d) {
					show(d.Doc, d.Name.Name, true)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					name, doc := exportedSpec(spec)
					if doc == nil && len(d.Specs) == 1 {
						doc = d.Doc
					}
					if name != "" {
						show(doc, name, false)
					}
				}
			}
		}
		return nil
	}))
}

// exportedSpec returns the name and the doc comment of an exported type, variable or constant; an empty name for another one.
func exportedSpec(spec ast.Spec) (name string, doc *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return s.Name.Name, s.Doc
		}
	case *ast.ValueSpec:
		if len(s.Names) > 0 && s.Names[0].IsExported() {
			return s.Names[0].Name, s.Doc
		}
	}
	return "", nil
}
