package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// first is the page from which links lead to all others.
const first = "README.md"

// docs is the set of pages, in the order in which links lead to them, and the files that they show
// or offer. Paths are relative to the repository and use slashes.
type docs struct {
	pages []*page
	files []string
}

// page is one Markdown page.
type page struct {
	path   string
	title  string // its first heading
	source []byte
	tree   ast.Node

	anchors []string // IDs of its headings
	named   []anchor // headings that it links to
}

// anchor is a heading of a page.
type anchor struct{ page, id string }

// markdown parses what GitHub accepts as Markdown.
var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// read reads the pages of a repository and rewrites their links for the site.
func read(root string) (*docs, error) {
	d := &docs{pages: []*page{{path: first}}}
	for i := 0; i < len(d.pages); i++ { // follow appends pages
		if err := d.follow(root, d.pages[i]); err != nil {
			return nil, err
		}
	}
	return d, errors.Join(d.unreached(root), d.unanchored())
}

// unanchored returns an error for each link to a heading that does not exist.
func (d *docs) unanchored() error {
	var missing []error
	for _, p := range d.pages {
		for _, a := range p.named {
			if a.id != "" && !slices.ContainsFunc(d.pages, func(to *page) bool { return to.path == a.page && slices.Contains(to.anchors, a.id) }) {
				missing = append(missing, fmt.Errorf("%s: link: %s has no heading #%s", p.path, a.page, a.id))
			}
		}
	}
	return errors.Join(missing...)
}

// follow reads a page and adds the pages that it links to.
func (d *docs) follow(root string, p *page) (err error) {
	if p.source, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(p.path))); err != nil {
		return err
	}
	p.tree = markdown.Parser().Parse(text.NewReader(p.source))
	return ast.Walk(p.tree, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Heading:
			if p.title == "" {
				p.title = plain(n, p.source)
			}
			if id, ok := n.AttributeString("id"); ok {
				p.anchors = append(p.anchors, string(id.([]byte)))
			}
		case *ast.Link:
			n.Destination, err = d.link(root, p, n.Destination, false)
		case *ast.Image:
			n.Destination, err = d.link(root, p, n.Destination, true)
		case *ast.RawHTML, *ast.HTMLBlock:
			err = fmt.Errorf("%s: HTML within Markdown is not accepted", p.path)
		}
		return ast.WalkContinue, err
	})
}

// link returns the destination on the site for a destination in a page. It adds the page or file
// that the link names. If shown is true, the page shows the file as an image.
func (d *docs) link(root string, p *page, destination []byte, shown bool) ([]byte, error) {
	to, err := url.Parse(string(destination))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.path, err)
	}
	switch {
	case (to.Host != "" || to.Scheme != "") && !shown: // elsewhere
		return destination, nil
	case to.Host != "" || to.Scheme != "" || shown && path.Ext(to.Path) != ".svg":
		return nil, fmt.Errorf("%s: image %q is not accepted; accepted: an SVG file of the repository", p.path, destination)
	case to.Path == "": // within the page
		p.named = append(p.named, anchor{p.path, to.Fragment})
		return destination, nil
	}
	target := path.Join(path.Dir(p.path), to.Path)
	if !filepath.IsLocal(filepath.FromSlash(target)) || path.IsAbs(to.Path) {
		return nil, fmt.Errorf("%s: link %q is not accepted; accepted: a file of the repository", p.path, to.Path)
	}
	file := filepath.Join(root, filepath.FromSlash(target))
	info, err := os.Lstat(file)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: link: %w", p.path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: link %q is not accepted; accepted: a file of the repository", p.path, to.Path)
	case path.Ext(target) != ".md":
		if !slices.Contains(d.files, target) {
			d.files = append(d.files, target)
		}
		to.Path = offered(to.Path)
		return []byte(to.String()), nil
	}
	if !d.has(target) {
		d.pages = append(d.pages, &page{path: target})
	}
	if to.Fragment != "" {
		p.named = append(p.named, anchor{target, to.Fragment})
	}
	to.Path = relative(p.path, target)
	return []byte(to.String()), nil
}

// unreached returns an error for each page of docs/ to which no link leads.
func (d *docs) unreached(root string) error {
	var missing []error
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			return err
		}
		for _, file := range files {
			rel, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			if !d.has(filepath.ToSlash(rel)) {
				missing = append(missing, fmt.Errorf("%s: no page links to it", rel))
			}
		}
	}
	return errors.Join(missing...)
}

// has reports whether a page is known.
func (d *docs) has(file string) bool {
	return slices.ContainsFunc(d.pages, func(p *page) bool { return p.path == file })
}

// html returns the name of a page's HTML file. That of the first page is what a server shows by
// default.
func html(page string) string {
	if page == first {
		return "index.html"
	}
	return strings.TrimSuffix(page, ".md") + ".html"
}

// offered returns the name under which the site has a file that is not a page. Source files become
// .txt, which a browser shows and Go does not take for a package.
func offered(file string) string {
	switch path.Ext(file) {
	case ".svg", ".gz":
		return file
	}
	return file + ".txt"
}

// relative returns the link from one page of the site to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + html(to)
}

// plain returns the text of a heading.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(source))
		} else {
			b.WriteString(plain(c, source))
		}
	}
	return b.String()
}
