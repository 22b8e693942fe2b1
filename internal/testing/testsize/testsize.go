// Package testsize says how much a test does. There are three sizes: short (go test
// -short, which a newcomer waits for), full, and long, the hours of make test-long.
package testsize

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	longTests = "ZKBENCH_LONG"    // set: the long size
	required  = "ZKBENCH_REQUIRE" // what tests must not do without, with commas
)

// Full skips a test that is left out of the short size.
func Full(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of the short tests")
	}
}

// Long tells whether the hours are spent.
func Long() bool { return os.Getenv(longTests) != "" }

// Pick returns what belongs to the size that runs.
func Pick[T any](short, full, long T) T {
	switch {
	case Long():
		return long
	case testing.Short():
		return short
	}
	return full
}

// Program returns the path of the first of names that is in the PATH. Without one it ends
// the test as Without does.
func Program(t testing.TB, need string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Without(t, need, strings.Join(names, ", ")+" are in no folder of the PATH")
	return ""
}

// Rust skips a test where there is no rustc, or none with the library of a target. make deps installs neither, so nothing
// requires them.
func Rust(t testing.TB, target string) {
	t.Helper()
	folder, err := exec.CommandContext(t.Context(), "rustc", "--print", "target-libdir", "--target", target).Output()
	if err == nil {
		_, err = os.Stat(strings.TrimSpace(string(folder)))
	}
	if err != nil {
		t.Skipf("no rustc with the target %s (rustup target add %s): %v", target, target, err)
	}
}

// Without ends a test that lacks what make deps installs: it skips the test, or fails
// it where the environment variable ZKBENCH_REQUIRE names the need.
func Without(t testing.TB, need, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv(required), ","), need) {
		t.Fatalf("%s, and %s names %s", why, required, need)
	}
	t.Skipf("%s: make deps installs it", why)
}
