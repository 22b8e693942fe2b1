package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

func moodyProgram() *Program {
	return &Program{
		Name: "zkbench-moody", Short: "Fails once",
		Suites: suite.Collection{Families: []suite.Family{{Name: "fake", Defs: []workload.Def{clitest.Moody()}}}},
	}
}

// moodyText returns the message about an operation that failed in the given manner.
func moodyText(manner string) string {
	switch manner {
	case "goexit":
		return "runtime.Goexit"
	case "timeout":
		return "deadline exceeded"
	}
	return "moody on purpose"
}

// TestFailuresFail: one operation fails, at each moment and in each manner; each command that
// measures says so and ends with exit code 1. The short form has each moment and each manner once.
func TestFailuresFail(t *testing.T) {
	suiteFile := filepath.Join(t.TempDir(), "moody.yaml")
	commands := []struct {
		name    string
		args    func(moment, manner string) []string
		moments []string
	}{
		{"run", func(moment, manner string) []string {
			return append([]string{"run", "moody", "--moments", moment, "--manners", manner}, clitest.MoodyFlags...)
		}, []string{"probe", "warm-up", "window"}},
		{"leak", func(moment, manner string) []string {
			return []string{"leak", "moody", "--moments", moment, "--manners", manner, "--count", "600"}
		}, []string{"probe", "warm-up", "window"}},
		{"suite", func(moment, manner string) []string {
			text := fmt.Sprintf("name: moody\ncases:\n  - run: moody\n    moments: %s\n    manners: %s\n    cpus: 1\n    warmup: 250ms\n    duration: 350ms\n", moment, manner)
			if err := os.WriteFile(suiteFile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return []string{"suite", suiteFile, "--out", filepath.Join(t.TempDir(), "out")}
		}, []string{"probe", "warm-up", "window"}},
	}
	for i, command := range commands {
		for j, moment := range command.moments {
			for k, manner := range clitest.Manners {
				if testing.Short() && (i+j)%3 != k%3 {
					continue
				}
				t.Run(command.name+"/"+moment+"/"+manner, func(t *testing.T) {
					var out strings.Builder
					cmd := exec.CommandContext(t.Context(), "zkbench-moody", command.args(moment, manner)...)
					cmd.Stdout, cmd.Stderr = &out, &out
					if err := cmd.Start(); err != nil {
						t.Fatal(err)
					}
					if code := clitest.ExitCode(t, cmd); code != ExitFailed || !strings.Contains(out.String(), moodyText(manner)) {
						t.Errorf("exit code %d, want 1 and %q in:\n%s", code, moodyText(manner), out.String())
					}
				})
			}
		}
	}
	t.Run("never", func(t *testing.T) {
		out, err := exec.CommandContext(t.Context(), "zkbench-moody", slices.Concat([]string{"run", "moody"}, clitest.MoodyFlags)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
	})
}

// TestSearchFails: a search for the highest rate fails where operations do, and judges no
// percentile of few.
func TestSearchFails(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--moments", "warm-up", "--warmup", "250ms", "--slo", "p90=5ms"}, ExitFailed, "begun before the window failed: moody on purpose"},
		{[]string{"--slo", "p99.99=5ms"}, ExitPartial, "operations, of which fewer than ten may be late"},
	} {
		args := append([]string{"run", "moody", "--rate", "100", "--duration", "200ms", "--budget", "3s", "--workers", "2"}, test.args...)
		var out strings.Builder
		cmd := exec.CommandContext(t.Context(), "zkbench-moody", args...)
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if code := clitest.ExitCode(t, cmd); code != test.code || !strings.Contains(out.String(), test.want) {
			t.Errorf("%v: exit code %d, want %d and %q in:\n%s", args, code, test.code, test.want, out.String())
		}
	}
}
