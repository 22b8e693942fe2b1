package testsize

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// ended is a test that notes how it was ended first.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Helper()               {}
func (e *ended) Skipf(string, ...any)  { e.how = cmp.Or(e.how, "skipped") }
func (e *ended) Fatalf(string, ...any) { e.how = cmp.Or(e.how, "failed") }

// TestProgram: what is missing is skipped, and fails where it is required.
func TestProgram(t *testing.T) {
	if e := new(ended); Program(e, "sh", "no-such-program", "sh") == "" || e.how != "" {
		t.Errorf("sh is not found: %s", e.how)
	}
	for list, want := range map[string]string{"": "skipped", "qemu,postgres": "failed", "qemu": "skipped"} {
		t.Setenv(required, list)
		e := new(ended)
		Program(e, "postgres", "no-such-program")
		golden.Equal(t, fmt.Sprintf("%s=%s", required, list), want, e.how)
	}
}

// TestRust: a test is skipped where there is no rustc.
func TestRust(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	e := &ended{TB: t}
	Rust(e, "riscv32im-unknown-none-elf")
	golden.Equal(t, "without a rustc", "skipped", e.how)
}

func TestPick(t *testing.T) {
	want := 2
	if testing.Short() {
		want = 1
	}
	t.Setenv(longTests, "")
	golden.Equal(t, "picked", want, Pick(1, 2, 3))
	t.Setenv(longTests, "1")
	golden.Equal(t, "picked in the long form", 3, Pick(1, 2, 3))
}

// TestMix: the environment sets a time and a seed, and one that is neither fails the test.
func TestMix(t *testing.T) {
	t.Setenv(MixTime, "")
	t.Setenv(longTests, "1")
	golden.Equal(t, "time in the long form", 3, Duration(t, 1, 2, 3))
	t.Setenv(MixTime, "90s")
	golden.Equal(t, "time", 90*time.Second, Duration(t, 1, 2, 3))
	t.Setenv(MixSeed, "7")
	golden.Equal(t, "seed", 7, Seed(t, MixSeed))
	t.Setenv(MixSeed, "")
	if Seed(t, MixSeed) == 0 {
		t.Error("no seed")
	}
	t.Setenv(MixTime, "long")
	t.Setenv(MixSeed, "long")
	for name, read := range map[string]func(t testing.TB){
		MixTime: func(t testing.TB) { Duration(t, 1, 2, 3) },
		MixSeed: func(t testing.TB) { Number(t, MixSeed) },
	} {
		e := new(ended)
		read(e)
		golden.Equal(t, name, "failed", e.how)
	}
}
