package zkbench

import (
	"os"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/workload/token"
)

func TestMain(m *testing.M) {
	token.ServerMain()
	testscript.Main(m, map[string]func(){
		"zkbench": func() { // whose workloads only count
			p := Program()
			p.Suites.Families = []suite.Family{{Name: "fake", Defs: clitest.Defs()}}
			os.Exit(p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"zkbench-real": func() {
			p := Program()
			p.Source = compare.Main{Module: "github.com/zkbench/zkbench", Path: "github.com/zkbench/zkbench/cmd/zkbench"}
			os.Exit(p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"benchmarking": func() { os.Exit(Benchmarking(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// call runs a command in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, messages strings.Builder
	code = Program().Run(args, nil, &out, &messages)
	return code, out.String(), messages.String()
}

// refuses fails the test unless a command ends with exit code 2 and one line that says why, without
// output.
func refuses(t *testing.T, says string, args ...string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != cli.ExitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
		t.Errorf("%q: exit code %d, output %q, %q; want %d, ...%s", args, code, stdout, stderr, cli.ExitUsage, says)
	}
}

// TestScript runs the scripts in testdata; the short form, those that measure nothing.
func TestScript(t *testing.T) {
	if testing.Short() {
		clitest.Scripts(t, "", "testdata/benchmarking.txt", "testdata/help.txt")
	} else {
		clitest.Scripts(t, "testdata")
	}
}
