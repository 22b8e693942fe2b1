package zkbench

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// page is a page for readers: its code, in blocks and in lines of text.
type page struct {
	path   string   // from the root, with slashes
	blocks []string // lines of code blocks; a line that goes on at the next is one line, and its comment is left out
	parts  []int    // for each line of blocks: how many lines of prose stand before it
	spans  []string // between backquotes
}

// pages returns the pages of the documentation, and the unreleased part of CHANGELOG.md.
func pages(t *testing.T, root string) (all []page) {
	t.Helper()
	files := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "testdata/README.md", "examples/README.md"}
	for _, path := range must.Get(filepath.Glob(filepath.Join(root, "docs", "*.md")))(t) {
		files = append(files, "docs/"+filepath.Base(path))
	}
	for _, path := range files {
		text := string(must.Get(os.ReadFile(filepath.Join(root, filepath.FromSlash(path))))(t))
		if path == "CHANGELOG.md" {
			_, text, _ = strings.Cut(text, "\n## Unreleased\n")
			text, _, _ = strings.Cut(text, "\n## ")
		}
		all = append(all, readPage(path, text))
	}
	return all
}

var span = regexp.MustCompile("`([^`]+)`")

// readPage finds the code of a page.
func readPage(path, text string) page {
	p := page{path: path}
	var prose strings.Builder
	fenced, more, blank, above := false, false, true, 0
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
			continue
		case fenced:
			code = line
		case indented && (blank || more): // else a list goes on
		default:
			prose.WriteString(line + "\n")
			more, blank = false, line == ""
			if !blank {
				above++
			}
			continue
		}
		code, _, _ = strings.Cut(code, " # ")
		code = strings.TrimSpace(code)
		if more {
			p.blocks[len(p.blocks)-1] += " " + code
		} else {
			p.blocks, p.parts = append(p.blocks, code), append(p.parts, above)
		}
		last := &p.blocks[len(p.blocks)-1]
		*last, more = strings.CutSuffix(*last, `\`)
		*last = strings.TrimSpace(*last)
	}
	for _, m := range span.FindAllStringSubmatch(prose.String(), -1) {
		p.spans = append(p.spans, strings.Join(strings.Fields(m[1]), " "))
	}
	return p
}

// commandLines returns the lines and spans of a page that call a program, without the program's
// directory.
func (p *page) commandLines(program string) (lines []string) {
	for _, list := range [][]string{p.blocks, p.spans} {
		for _, line := range list {
			line = strings.TrimPrefix(line, "bin/")
			if rest, calls := strings.CutPrefix(line, program); calls && (rest == "" || rest[0] == ' ') {
				lines = append(lines, line)
			}
		}
	}
	return lines
}
