// Package testsize says how much work tests should do. There are three sizes: short (go test -short, quick
// enough for a first try), full, and long (make test-long, which takes hours).
package testsize

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	longTests = "ZKBENCH_LONG"    // if set, tests have the long size
	required  = "ZKBENCH_REQUIRE" // programs that tests must not do without, separated by commas
)

// Full skips the test if the size is short.
func Full(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out of the short tests")
	}
}

// Long reports whether the size is long.
func Long() bool { return os.Getenv(longTests) != "" }

// Pick returns the argument for the current size.
func Pick[T any](short, full, long T) T {
	switch {
	case Long():
		return long
	case testing.Short():
		return short
	}
	return full
}

// The environment variables of the tests that do many things at once for a time.
const (
	MixTime = "ZKBENCH_MIX_TIME" // how long, for example 3m; see Duration
	MixSeed = "ZKBENCH_MIX_SEED" // repeats the draws, but not the order in which goroutines and processes run
)

// Duration returns how long a test goes on: the time in the environment variable MixTime, or else the argument for the
// current size.
func Duration(t testing.TB, short, full, long time.Duration) time.Duration {
	t.Helper()
	text := os.Getenv(MixTime)
	if text == "" {
		return Pick(short, full, long)
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		t.Fatalf("%s: %v", MixTime, err)
	}
	return d
}

// Number returns the number in an environment variable, or 0 if the variable is not set.
func Number(t testing.TB, name string) (n uint64) {
	t.Helper()
	if text := os.Getenv(name); text != "" {
		if _, err := fmt.Sscan(text, &n); err != nil {
			t.Fatalf("%s: %q: %v", name, text, err)
		}
	}
	return n
}

// Seed returns the seed of a test that draws much: the number in an environment variable, or else a fresh one. If the
// test fails, its log says which.
func Seed(t testing.TB, name string) uint64 {
	t.Helper()
	seed := cmp.Or(Number(t, name), rand.Uint64()>>1+1)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s=%d repeats the draws", name, seed)
		}
	})
	return seed
}

// Program returns the path of the first program in names that is in the PATH. If no such program is in the
// PATH, it calls Without, which ends the test.
func Program(t testing.TB, need string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Without(t, need, strings.Join(names, ", ")+": not in the PATH")
	return ""
}

// Rust skips the test if there is no rustc, or if rustc lacks the library for target. No test may require rustc
// or such a library, because `make deps` installs neither.
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

// Without ends a test that lacks a program which `make deps` installs. The parameter need is a name for that program,
// for example "qemu". If the environment variable ZKBENCH_REQUIRE, a list of such names, contains this name, Without
// fails the test. Otherwise it skips the test. The parameter why is a text that says what is missing.
func Without(t testing.TB, need, why string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv(required), ","), need) {
		t.Fatalf("%s, and %s names %s", why, required, need)
	}
	t.Skipf("%s: make deps installs it", why)
}
