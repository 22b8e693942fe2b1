package cli

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/clitest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"zkbench":        func() { fakeProgram().main() },
		"zkbench-suite":  func() { suiteProgram().main() },
		"zkbench-moody":  func() { moodyProgram().main() },
		"ballast-prover": ballastProver,
	})
}

func fakeProgram() *Program {
	return &Program{
		Name: "zkbench", Short: "Counts", Source: compare.Main{Module: "tiny", Path: "tiny/cmd/zkbench"}, Suites: suite.Collection{Families: []suite.Family{{Name: "fake", Defs: clitest.Defs()}}},
		Main: &jobs.MainJob{Workloads: []string{"Sender", "VerificationSenderProof"}, Axes: map[string]string{
			"curve": "BN254", "bits": "32", "in": "2", "out": "2", "proof": "bulletproof,csp", "exec": "pool",
		}},
	}
}

func (p *Program) main() { os.Exit(p.Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// TestScript runs the scripts in testdata; the short form, one of each kind of command.
func TestScript(t *testing.T) {
	short := []string{"testdata/exec_fail.txt", "testdata/fail.txt", "testdata/help.txt", "testdata/history.txt", "testdata/list.txt", "testdata/run.txt", "testdata/usage.txt"}
	if testing.Short() {
		clitest.Scripts(t, "", short...)
	} else {
		clitest.Scripts(t, "testdata")
	}
}

// TestInterrupt interrupts a run in its second case: the first one is in the
// table and among the records, the run ends at once, with exit code 3.
func TestInterrupt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt to send")
	}
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	records := filepath.Join(t.TempDir(), "out.jsonl")
	cmd := exec.CommandContext(t.Context(), "zkbench", "run", "sender", "slow", "--bits", "8", "--duration", "20ms", "--json", records)
	cmd.Args = append(cmd.Args, "--check", "none")
	cmd.Env = append(os.Environ(), clitest.StartedEnv+"="+listener.Addr().String())
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.Do(t, cmd.Start())
	conn := must.Get(listener.Accept())(t) // the slow operation has begun
	defer conn.Close()
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	golden.Equal(t, "exit code", ExitPartial, clitest.ExitCode(t, cmd))
	recs := recordtest.ReadFile(t, records)
	last := recs[len(recs)-1]
	golden.Equal(t, "last record", "Slow partial 0", fmt.Sprint(last.Workload, " ", last.Status, " ", last.Count(record.CountDone)))
	for _, rec := range recs[:len(recs)-1] {
		if rec.Workload != "Sender" || rec.Status != record.OK {
			t.Errorf("record of %s is %s: %s", rec.Workload, rec.Status, rec.Error)
		}
	}
	golden.Contains(t, stdout.String(), "Slow", "Sender")
	if got := stderr.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "interrupted") {
		t.Errorf("stderr: %q, want one line that says interrupted", got)
	}
}

func TestMainJob(t *testing.T) {
	plans := must.Get(fakeProgram().Main.Plans(clitest.Defs(), map[string]string{"bits": "64"}))(t)
	var got []string
	for _, p := range plans {
		for _, c := range p.Cases {
			got = append(got, p.Def.ID()+"/"+c.String())
		}
	}
	want := []string{
		"sender/curve=BN254/bits=64/in=2/out=2/proof=bulletproof/exec=pool",
		"sender/curve=BN254/bits=64/in=2/out=2/proof=csp/exec=pool",
		"verification-sender-proof/curve=BN254/bits=64/in=2/out=2/proof=bulletproof/exec=pool",
		"verification-sender-proof/curve=BN254/bits=64/in=2/out=2/proof=csp/exec=pool",
	}
	golden.Equal(t, "cases", strings.Join(want, "\n"), strings.Join(got, "\n"))
}
