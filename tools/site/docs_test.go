package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRead: pages come in the order of links, with their titles; what leads nowhere, is not
// reached or is no Markdown is refused.
func TestRead(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		pages string // or what the error says
	}{
		"links":     {map[string]string{first: "# A *b* `c`\n[x](docs/B.md#b) ![y](docs/i.svg) [z](x.go)", "x.go": "", "docs/B.md": "# B\n[up](../README.md) [own](#b) [out](https://example.org/a.md)", "docs/i.svg": ""}, "README.md A b c; docs/B.md B; docs/i.svg; x.go"},
		"nowhere":   {map[string]string{first: "[x](docs/B.md)"}, "README.md: link: "},
		"directory": {map[string]string{first: "[x](docs)", "docs/B.md": ""}, `README.md: link "docs" is not accepted`},
		"outside":   {map[string]string{first: "[x](../README.md)", "../README.md": ""}, `README.md: link "../README.md" is not accepted`},
		"absolute":  {map[string]string{first: "[x](/x.go)", "x.go": ""}, `README.md: link "/x.go" is not accepted`},
		"no anchor": {map[string]string{first: "# A\n[x](docs/B.md#c)", "docs/B.md": "# B"}, "README.md: link: docs/B.md has no heading #c"},
		"nor here":  {map[string]string{first: "# A\n[x](#b)"}, "README.md: link: README.md has no heading #b"},
		"remote":    {map[string]string{first: "![x](https://example.org/i.svg)"}, `README.md: image "https://example.org/i.svg" is not accepted`},
		"a link":    {map[string]string{first: "[x](x.go)"}, `README.md: link "x.go" is not accepted`},
		"no SVG":    {map[string]string{first: "![x](i.png)", "i.png": ""}, `README.md: image "i.png" is not accepted`},
		"alone":     {map[string]string{first: "", "docs/B.md": "", "docs/c/d.md": ""}, "docs/B.md: no page links to it\ndocs/c/d.md: no page links to it"},
		"html":      {map[string]string{first: "a <b>c</b>"}, "README.md: HTML within Markdown is not accepted"},
	} {
		t.Run(name, func(t *testing.T) {
			root := filepath.Join(t.TempDir(), "root")
			for file, text := range test.files {
				if err := put(root, file, []byte(text)); err != nil {
					t.Fatal(err)
				}
			}
			if name == "a link" { // of the file system, which leads out of the repository
				if err := os.Symlink(filepath.Join(root, first), filepath.Join(root, "x.go")); err != nil {
					t.Fatal(err)
				}
			}
			d, err := read(root)
			var got []string
			if err != nil {
				got = append(got, filepath.ToSlash(err.Error()))
			} else {
				for _, p := range d.pages {
					got = append(got, p.path+" "+p.title)
				}
				got = append(got, d.files...)
			}
			if said := strings.Join(got, "; "); !strings.HasPrefix(said, test.pages) {
				t.Errorf("%q, want %q", said, test.pages)
			}
		})
	}
}

// TestLeads: what an element of a page may name.
func TestLeads(t *testing.T) {
	dir := t.TempDir()
	file, other := filepath.Join(dir, "a.html"), filepath.Join(dir, "b.html")
	text := map[string]string{file: `<h1 id="here">`, other: `<h2 id="there">`}
	for f, s := range text {
		if err := os.WriteFile(f, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for element, ok := range map[string]bool{
		`a href="b.html"`: true, `a href="b.html#there"`: true, `a href="#here"`: true, `a href="https://example.org"`: true, `link href="data:,"`: true,
		`a href="c.html"`: false, `a href="b.html#here"`: false, `a href="#there"`: false, `a href="."`: false, `a href="/b.html"`: false,
		`img src="https://example.org/i.svg"`: false, `img src="//example.org/i.svg"`: false, `link href="http://example.org"`: false, `a href="javascript:x"`: false,
	} {
		m := attributes.FindStringSubmatch("<" + element + ">")
		if m == nil {
			t.Errorf("%s: not seen", element)
		} else if err := checkLink(file, m[1], m[2], m[3], text); (err == nil) != ok {
			t.Errorf("%s: %v, accepted: %v", element, err, ok)
		}
	}
}
