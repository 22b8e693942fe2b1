package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something of others that the programs contain: a module, Go itself, or files that this
// module embeds.
type part struct {
	name, version string
	kinds         []string // identifiers of SPDX
	embeds        []string // paths of the files that the program contains as they are
	texts         []text
}

// text is a licence or a notice.
type text struct{ title, body string }

// goItself is the name of the part that Go contributes.
const goItself = "Go: runtime and standard library"

// offered lists the licences that a module's LICENSE names without their text. If it offers a choice,
// the list has the one that is chosen.
var offered = map[string][]string{
	"github.com/golang/freetype": {"licenses/ftl.txt"}, // this one or the GPL
}

// ours names the parts of others among the files that this module embeds, by their folder.
var ours = map[string]string{
	"internal/view/web/assets/uplot": "uPlot",
}

// licenceFile matches the names of files that hold a licence or a notice.
var licenceFile = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|patents|copyright)([-_.].*)?$`)

func isLicence(name string) bool {
	return licenceFile.MatchString(name) && !slices.Contains([]string{".go", ".s"}, filepath.Ext(name))
}

// read returns the parts of the programs that the module in root releases, in alphabetical order.
func read(root string) ([]*part, error) {
	all, goroot, err := packages(root)
	if err != nil {
		return nil, err
	}
	version, err := goVersion(root)
	if err != nil {
		return nil, err
	}
	c := &collection{parts: make(map[string]*part), seen: make(map[string]bool)}
	for _, p := range all {
		switch {
		case p.Standard:
			err = c.add(goItself, "go"+version, goroot, p, goroot)
		case p.Module == nil:
			err = fmt.Errorf("package %s is of no module", p.ImportPath)
		case p.Module.Main:
			err = c.addOurs(p)
		default:
			m := cmp.Or(p.Module.Replace, p.Module)
			err = c.add(m.Path, m.Version, m.Dir, p, p.Dir)
		}
		if err != nil {
			return nil, err
		}
	}
	var wrong []error
	for _, p := range c.parts {
		wrong = append(wrong, p.check())
		slices.Sort(p.embeds)
	}
	return slices.SortedFunc(maps.Values(c.parts), func(a, b *part) int { return strings.Compare(a.name, b.name) }), errors.Join(wrong...)
}

type collection struct {
	parts map[string]*part
	seen  map[string]bool
}

// add adds a package to the part with this name, whose files are in the directory dir. It reads the
// licences in the directory from and in those above it up to dir.
func (c *collection) add(name, version, dir string, p linked, from string) error {
	to := c.part(name, version)
	for at := from; ; at = filepath.Dir(at) {
		if err := c.addLicences(to, dir, at); err != nil {
			return err
		}
		if at == dir || at == filepath.Dir(at) {
			break
		}
	}
	for _, file := range offered[name] {
		if err := c.addFile(to, dir, filepath.Join(dir, filepath.FromSlash(file))); err != nil {
			return err
		}
	}
	for _, file := range slices.Concat(p.GoFiles, p.SFiles) {
		if err := c.addComments(to, dir, filepath.Join(p.Dir, file)); err != nil {
			return err
		}
	}
	for _, file := range p.EmbedFiles {
		to.embed(relative(dir, filepath.Join(p.Dir, file)))
	}
	return nil
}

// addOurs adds what a package of this module embeds and others have made.
func (c *collection) addOurs(p linked) error {
	for _, file := range p.EmbedFiles {
		within := relative(p.Module.Dir, filepath.Join(p.Dir, file))
		name, known := ours[path.Dir(within)]
		if !known {
			if isLicence(path.Base(within)) {
				return fmt.Errorf("%s: say in read.go of what this is the licence", within)
			}
			continue
		}
		body, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return err
		}
		to := c.part(name, "")
		if m := regexp.MustCompile(`\((v[0-9.]+)\)`).FindSubmatch(body); m != nil {
			to.version = string(m[1])
		}
		if isLicence(path.Base(within)) {
			err = c.addFile(to, p.Module.Dir, filepath.Join(p.Dir, file))
		} else {
			to.embed(within)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *collection) part(name, version string) *part {
	if c.parts[name] == nil {
		c.parts[name] = &part{name: name, version: version}
	}
	return c.parts[name]
}

// addLicences adds the licences and notices in one directory.
func (c *collection) addLicences(to *part, dir, at string) error {
	entries, err := os.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&fs.ModeType == 0 && isLicence(e.Name()) {
			if err := c.addFile(to, dir, filepath.Join(at, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFile adds the text of a file once.
func (c *collection) addFile(to *part, dir, file string) error {
	if c.seen[file] {
		return nil
	}
	c.seen[file] = true
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", to.name, err)
	}
	to.add(relative(dir, file), string(raw))
	return nil
}

// addComments adds the licences that stand in comments of a source file.
func (c *collection) addComments(to *part, dir, file string) error {
	if c.seen[file] {
		return nil
	}
	c.seen[file] = true
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("%s: %w", to.name, err)
	}
	for _, comment := range licenceComments(string(raw)) {
		// Files of a module under the Apache License repeat what its LICENSE says.
		if kinds := kindsOf(comment); !slices.Equal(kinds, []string{"Apache-2.0"}) || !slices.Contains(to.kinds, "Apache-2.0") {
			to.add(relative(dir, file), comment)
		}
	}
	return nil
}

// add adds a text that the part does not have yet.
func (p *part) add(title, body string) {
	body = tidied(body)
	words := strings.Join(strings.Fields(body), " ")
	for _, t := range p.texts {
		if strings.Contains(strings.Join(strings.Fields(t.body), " "), words) {
			return
		}
	}
	p.texts = append(p.texts, text{title, body})
	for _, kind := range kindsOf(body) {
		if !slices.Contains(p.kinds, kind) {
			p.kinds = append(p.kinds, kind)
			slices.Sort(p.kinds)
		}
	}
}

func (p *part) embed(file string) {
	if !slices.Contains(p.embeds, file) {
		p.embeds = append(p.embeds, file)
	}
}

// check returns an error if the part's licence is not known.
func (p *part) check() error {
	switch {
	case len(p.texts) == 0:
		return fmt.Errorf("%s %s has no licence", p.name, p.version)
	case len(p.kinds) == 0:
		return fmt.Errorf("%s %s has a licence that licences.go does not know: %s", p.name, p.version, p.texts[0].title)
	}
	return nil
}

func relative(dir, file string) string {
	name, err := filepath.Rel(dir, file)
	if err != nil {
		return file
	}
	return filepath.ToSlash(name)
}

// tidied returns a text with line feeds only, and without space at the ends of lines and around it.
func tidied(body string) string {
	var lines []string
	for line := range strings.Lines(strings.TrimPrefix(body, "\ufeff")) {
		lines = append(lines, strings.TrimRight(line, " \t\r\n\f"))
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n") + "\n"
}
