package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAdvisories: an advisory on a module that is needed fails the check although nothing calls what it is about, one on
// another module does not, and what cannot be checked is no pass. testdata is a database of one made-up advisory.
func TestAdvisories(t *testing.T) {
	work, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	db := "file://" + filepath.ToSlash(filepath.Join(work, "testdata"))
	module := filepath.Join(work, "..")
	for name, test := range map[string]struct {
		db   string
		dirs []string
		code int
		says string
	}{
		"needed":        {db, []string{module}, 1, "golang.org/x/mod v"},
		"fixed":         {db, []string{module}, 1, "GO-2026-0001: Made for the test of this check; without it: v99.0.0"},
		"not needed":    {"file://" + filepath.ToSlash(anotherDatabase(t)), []string{module}, 0, "advisories: " + module + ": none\n"},
		"no database":   {"file://" + filepath.ToSlash(t.TempDir()) + "/nowhere", []string{module}, 2, "nowhere"},
		"no server":     {"http://127.0.0.1:1", []string{module}, 2, "creating client"}, // a database that somebody names is there
		"no module":     {db, []string{t.TempDir()}, 2, "no go.mod file"},
		"no directory":  {db, nil, 2, "no modules; accepted: directories that have a go.mod"},
		"one of two":    {db, []string{module, t.TempDir()}, 2, "has advisory GO-2026-0001"},
		"one, and none": {db, []string{module, module}, 1, "has advisory GO-2026-0001"},
	} {
		t.Run(name, func(t *testing.T) {
			var out, messages bytes.Buffer
			if code := check(&out, &messages, test.db, test.dirs); code != test.code || !strings.Contains(out.String()+messages.String(), test.says) {
				t.Errorf("exit code %d, output %q, %q; want %d, ...%s", code, &out, &messages, test.code, test.says)
			}
		})
	}
}

// anotherDatabase returns the database with its advisory moved to a module that nothing needs.
func anotherDatabase(t *testing.T) string {
	dir := t.TempDir()
	for _, file := range []string{"index/db.json", "index/modules.json", "ID/GO-2026-0001.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, bytes.ReplaceAll(text, []byte("golang.org/x/mod"), []byte("example.org/none")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestUnreachable: without a network the check is skipped by name.
func TestUnreachable(t *testing.T) {
	proxy := "http://127.0.0.1:1" // where nobody listens
	t.Setenv("HTTPS_PROXY", proxy)
	t.Setenv("https_proxy", proxy)
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	var out, messages bytes.Buffer
	if code := check(&out, &messages, "", []string{".."}); code != 0 || !strings.HasPrefix(out.String(), "SKIPPED: advisories of ..: the database cannot be fetched: ") || messages.Len() > 0 {
		t.Errorf("exit code %d, output %q, %q", code, &out, &messages)
	}
}
