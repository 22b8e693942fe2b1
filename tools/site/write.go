package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The records in the repository, and the page that the program makes from them.
const (
	records    = "docs/studies/records/*"
	reportFile = "report.html"
)

// The script and the style of tables that can be sorted, which the program's own pages use too.
const (
	sortable     = "internal/view/web/assets/sortable"
	sortableFile = "sortable.js"
	sortTables   = "\nfor (const table of document.querySelectorAll('main table')) sortable(table);\n"
)

var (
	//go:embed page.html
	frame string
	//go:embed style.css
	style []byte
)

// part is a heading of the navigation, with the pages below it.
type part struct {
	Title string
	Pages []entry
}

type entry struct {
	Title, Link string
	Here        bool
}

// write writes the site of a repository to a directory, and returns the number of its pages.
func write(root, out, program string) (int, error) {
	d, err := read(root)
	if err != nil {
		return 0, err
	}
	t, err := template.New("page").Parse(frame)
	if err != nil {
		return 0, err
	}
	for _, p := range d.pages {
		var body, whole bytes.Buffer
		if err := markdown.Renderer().Render(&body, p.source, p.tree); err != nil {
			return 0, err
		}
		up := strings.Repeat("../", strings.Count(p.path, "/"))
		err := t.Execute(&whole, map[string]any{
			"Title": p.title, "Up": up, "Parts": d.navigation(p, up, program != ""), "Body": template.HTML(body.String()),
		})
		if err != nil {
			return 0, err
		}
		if err := put(out, html(p.path), whole.Bytes()); err != nil {
			return 0, err
		}
	}
	for _, f := range d.files {
		data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(f)))
		if err != nil {
			return 0, err
		}
		if err := put(out, offered(f), data); err != nil {
			return 0, err
		}
	}
	script, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(sortable+".js")))
	if err != nil {
		return 0, err
	}
	heads, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(sortable+".css")))
	if err != nil {
		return 0, err
	}
	if err := errors.Join(put(out, "style.css", slices.Concat(style, heads)), put(out, sortableFile, append(script, sortTables...))); err != nil {
		return 0, err
	}
	if program == "" {
		return len(d.pages), nil
	}
	return len(d.pages) + 1, report(root, out, program)
}

// report writes the page that zkbench report makes.
func report(root, out, program string) error {
	dirs, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(records)))
	if err != nil {
		return err
	}
	output, err := exec.Command(program, append([]string{"report", "--out", filepath.Join(out, reportFile)}, dirs...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s report: %w: %s", program, err, bytes.TrimSpace(output))
	}
	return nil
}

// navigation returns what is shown beside a page: all pages, grouped by their directories.
func (d *docs) navigation(here *page, up string, report bool) []part {
	parts := []part{{}, {Title: "Studies"}, {Title: "Notes"}, {Title: "More"}}
	group := map[string]int{".": 0, "docs/studies": 1, "docs": 2}
	for _, p := range d.pages {
		i, ok := group[path.Dir(p.path)]
		if !ok {
			i = len(parts) - 1
		}
		parts[i].Pages = append(parts[i].Pages, entry{p.title, up + html(p.path), p == here})
	}
	if report {
		parts[0].Pages = append(parts[0].Pages, entry{Title: "A page of zkbench report", Link: up + reportFile})
	}
	return parts
}

func put(out, file string, data []byte) error {
	name := filepath.Join(out, filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return os.WriteFile(name, data, 0o666)
}
