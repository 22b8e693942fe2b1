package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// attributes are those of an element that name something to load, or to go to.
	attributes = regexp.MustCompile(`<([a-z]+)\b[^>]*?\s(href|src|srcset|data|poster|action)="([^"]*)"`)
	ids        = regexp.MustCompile(`\sid="([^"]*)"`)
	loads      = regexp.MustCompile(`@import|url\(`)
	ownScript  = regexp.MustCompile(`<script src="(\.\./)*sortable\.js" defer></script>`)
	elsewhere  = regexp.MustCompile(`^(https?:)?//`)
)

// site writes the site of this repository, with a page of zkbench report.
func site(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "zkbench")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/zkbench")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	n, err := write("../..", filepath.Join(dir, "site"), program)
	if err != nil {
		t.Fatal(err)
	}
	if n < 25 {
		t.Errorf("only %d pages", n)
	}
	return filepath.Join(dir, "site")
}

// pages returns the site's HTML files.
func pages(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".html" {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSite: every link leads somewhere within the site, or is one that a reader follows out of
// it; nothing is loaded from elsewhere, in a browser neither, which has no complaint.
func TestSite(t *testing.T) {
	dir := site(t)
	all := pages(t, dir)
	text := make(map[string]string)
	for _, file := range all {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text[file] = string(data)
	}
	t.Run("links", func(t *testing.T) {
		seen := 0
		for file, page := range text {
			if filepath.Base(file) == reportFile { // whose test is that of package page
				continue
			}
			if strings.Count(page, "<script") != 1 || !ownScript.MatchString(page) || loads.MatchString(page) || loads.Match(style) {
				t.Errorf("%s: another script than that of tables, or a style that loads something", file)
			}
			for _, a := range attributes.FindAllStringSubmatch(page, -1) {
				seen++
				if err := checkLink(file, a[1], a[2], a[3], text); err != nil {
					t.Errorf("%s: %v", file, err)
				}
			}
		}
		if seen < 1000 {
			t.Errorf("only %d links were seen", seen)
		}
	})
	t.Run("browser", func(t *testing.T) { browse(t, dir, all) })
}

// checkLink returns an error if a page may not have this attribute of an element in a file.
func checkLink(file, element, attribute, to string, text map[string]string) error {
	name, id, _ := strings.Cut(to, "#")
	target := filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
	switch {
	case element == "a" && elsewhere.MatchString(to), to == "data:,":
		return nil
	case elsewhere.MatchString(to) || strings.Contains(name, ":"):
		return fmt.Errorf("%s %s=%q loads from elsewhere", element, attribute, to)
	case strings.HasPrefix(name, "/"):
		return fmt.Errorf("%s %s=%q leads out of the site", element, attribute, to)
	case name == "":
		target = file
	}
	if info, err := os.Stat(target); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s %s=%q leads nowhere", element, attribute, to)
	}
	if id != "" && !slices.ContainsFunc(ids.FindAllStringSubmatch(text[target], -1), func(m []string) bool { return m[1] == id }) {
		return fmt.Errorf("%s %s=%q: the page has no such place", element, attribute, to)
	}
	return nil
}

// frames is a page that shows all pages and reports what is wrong with them: things loaded from
// elsewhere, images that do not show, and missing styles.
const frames = `<!DOCTYPE html><title>frames</title>
%s
<script>
onload = () => {
	const found = [];
	for (const f of document.querySelectorAll('iframe')) {
		const d = f.contentDocument, name = f.getAttribute('src');
		for (const r of f.contentWindow.performance.getEntriesByType('resource'))
			if (!/^(file|data|blob):/.test(r.name)) found.push(name + ' asked for ' + r.name);
		for (const t of d.querySelectorAll('main table')) if (t.tBodies[0] && t.tBodies[0].rows.length > 3 && !t.querySelector('button')) found.push(name + ' has a table that cannot be sorted');
		for (const i of d.images) if (!i.naturalWidth) found.push(name + ' does not show ' + i.src);
		if (!d.querySelector('main, table')) found.push(name + ' shows nothing');
		for (const s of d.styleSheets) if (!s.cssRules.length) found.push(name + ' lacks its style');
		if (!d.styleSheets.length) found.push(name + ' has no style');
	}
	for (const line of found) console.error(line);
	console.log(document.querySelectorAll('iframe').length + ' frames');
};
</script>
`

var console = regexp.MustCompile(`CONSOLE[^"]*"(.*)", source: `)

// browse shows all pages in Chromium, which has no network.
func browse(t *testing.T, dir string, all []string) {
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	if chromium == "" && !slices.Contains(strings.Split(os.Getenv("ZKBENCH_REQUIRE"), ","), "chromium") {
		t.Skip("there is no chromium in the PATH: make deps installs it")
	}
	var b bytes.Buffer
	for _, file := range all {
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "<iframe src=%q></iframe>\n", filepath.ToSlash(rel))
	}
	index := filepath.Join(dir, "frames.html")
	if err := os.WriteFile(index, fmt.Appendf(nil, frames, b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{
		"--headless", "--disable-gpu", "--user-data-dir=" + t.TempDir(), "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--allow-file-access-from-files", // or no frame could be looked into
		"--virtual-time-budget=10000", "--dump-dom", "file://" + filepath.ToSlash(index),
	}
	if os.Geteuid() == 0 { // Chromium's sandbox refuses root
		args = append(args, "--no-sandbox")
	}
	cmd := exec.CommandContext(t.Context(), chromium, args...)
	var said strings.Builder
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", chromium, err, said.String())
	}
	ended := false
	for _, m := range console.FindAllStringSubmatch(said.String(), -1) {
		if m[1] == fmt.Sprintf("%d frames", len(all)) {
			ended = true
		} else {
			t.Errorf("the browser says: %s", m[1])
		}
	}
	if !ended {
		t.Errorf("the browser did not come to the end of the pages: %s", said.String())
	}
}
