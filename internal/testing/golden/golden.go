// Package golden reads the vectors in the testdata of the module's root, which tests and
// other implementers share, and holds what the module computes to them. testdata/README.md
// says how each is made. With the environment variable ZKBENCH_UPDATE the files are
// written anew (make vectors). Equal holds other values of a test to each other, with the
// same words.
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

// Path returns the path of a file of testdata, for example token/hashlock.txt.
func Path(t testing.TB, name string) string {
	t.Helper()
	dir := must.Get(os.Getwd())(t)
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
	return string(must.Get(os.ReadFile(Path(t, name)))(t))
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
		must.Do(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want := must.Get(os.ReadFile(path))(t)
	// A checkout may have changed the ends of lines.
	text := strings.ReplaceAll(string(want), "\r\n", "\n")
	Equal(t, path, strings.Split(text, "\n"), strings.Split(got, "\n"))
}

// Line compares a line of a table in testdata, which begins with key and a comma, with got. The first
// line is head; others are sorted. Tests of one package do not write the lines of another.
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

// TB is the part of testing.TB that what follows needs; rapid's tests have it too.
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Equal reports in what got differs from want; what says what they are. The test goes on.
func Equal[T any](t TB, what string, want, got T, opts ...gocmp.Option) {
	t.Helper()
	if diff := gocmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Near reports that got differs from want by more than such a share of it. The test goes on.
func Near(t TB, what string, want, got, share float64) {
	t.Helper()
	if !(math.Abs(got-want) <= share*math.Abs(want)) {
		t.Errorf("%s: %v, want %v within %v of it", what, got, want, share)
	}
}

// Within reports that got is less than least or more than most. The test goes on.
func Within[T cmp.Ordered](t TB, what string, least, got, most T) {
	t.Helper()
	if !(least <= got && got <= most) {
		t.Errorf("%s: %v, want %v to %v", what, got, least, most)
	}
}

// Contains reports which of parts are not in text. The test goes on.
func Contains(t TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
}
