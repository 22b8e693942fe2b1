// Package golden reads the vectors in the testdata of the module's root, which tests and
// other implementers share, and holds what the module computes to them. testdata/README.md
// says how each is made. With the environment variable ZKBENCH_UPDATE the files are
// written anew (make vectors).
package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const update = "ZKBENCH_UPDATE"

// Path returns the path of a file of testdata, for example token/hashlock.txt.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", filepath.FromSlash(name))
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatalf("%s: no module's root above the working directory", name)
		}
		dir = above
	}
}

// Read returns a file of testdata.
func Read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Check compares got with a file of testdata.
func Check(t testing.TB, name, got string) {
	t.Helper()
	File(t, Path(t, name), got)
}

// File compares got with a golden file of the package under test.
func File(t testing.TB, path, got string) {
	t.Helper()
	if os.Getenv(update) != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have changed the ends of lines.
	text := strings.ReplaceAll(string(want), "\r\n", "\n")
	if diff := cmp.Diff(strings.Split(text, "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}
