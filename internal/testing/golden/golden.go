// Package golden compares results of tests with golden files, and with wanted values. Its files are the
// vectors in the testdata folder of the module's root, which other implementers use too
// (testdata/README.md says how each is made), and files of single packages. If the environment variable
// ZKBENCH_UPDATE is set, as it is in `make vectors`, the files are overwritten with the results.
package golden

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench/internal/testing/must"
)

const update = "ZKBENCH_UPDATE"

// Path returns the path of a file in testdata, for example token/hashlock.txt.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir := must.Get(os.Getwd())(t)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "testdata", filepath.FromSlash(name))
		}
		above := filepath.Dir(dir)
		if above == dir {
			t.Fatalf("%s: no go.mod in the working directory or above it", name)
		}
		dir = above
	}
}

// Read returns the contents of a file in testdata.
func Read(t testing.TB, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(Path(t, name)))(t))
}

// Check compares got with a file in testdata.
func Check(t testing.TB, name, got string) {
	t.Helper()
	File(t, Path(t, name), got)
}

// File compares got with a golden file, line by line. The parameter path is relative to the folder of
// the package under test.
func File(t testing.TB, path, got string) {
	t.Helper()
	if os.Getenv(update) != "" {
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	// A checkout may have changed the line endings.
	text := strings.ReplaceAll(string(want), "\r\n", "\n")
	Equal(t, path, strings.Split(text, "\n"), strings.Split(got, "\n"))
}

// Line compares got with one line of a table in testdata. The line begins with the key and a comma, and
// got must equal the rest of the line. The parameter head is the table's first line; the other lines are
// sorted. If ZKBENCH_UPDATE is set, Line overwrites only the line that begins with this key, so that the
// tests of one package keep the lines of other packages.
func Line(t testing.TB, name, head, key, got string) {
	t.Helper()
	path := Path(t, name)
	lines := map[string]string{}
	text, err := os.ReadFile(path)
	if err != nil && os.Getenv(update) == "" {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		if k, values, ok := strings.Cut(line, ","); ok && line != head {
			lines[k] = values
		}
	}
	if os.Getenv(update) != "" {
		lines[key] = got
		table := head + "\n"
		for _, k := range slices.Sorted(maps.Keys(lines)) {
			table += k + "," + lines[k] + "\n"
		}
		must.Do(t, os.WriteFile(path, []byte(table), 0o644))
	}
	Equal(t, name+": "+key, lines[key], got)
}

// TB is the part of testing.TB that comparisons need. Tests of package rapid implement it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal fails the test if got differs from want, and shows the difference. The message begins with the compared value's
// name, which is the parameter what. The test continues.
func Equal[T any](t TB, what string, want, got T, opts ...gocmp.Option) {
	t.Helper()
	if diff := gocmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Near fails the test unless |got − want| ≤ share · |want|. The test continues.
func Near(t TB, what string, want, got, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: %v, want %v within %v of it", what, got, want, share)
	}
}

// Within fails the test unless least ≤ got ≤ most. The test continues.
func Within[T cmp.Ordered](t TB, what string, least, got, most T) {
	t.Helper()
	if !(least <= got && got <= most) {
		t.Errorf("%s: %v, want %v to %v", what, got, least, most)
	}
}

// Contains fails the test if a part is missing in the text. The test's output names each missing part.
// The test continues.
func Contains(t TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
