package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/jobs"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/record/recordtest"
	"github.com/zkbench/zkbench/internal/stage"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/internal/workload"
)

// The scripts run the command with workloads that only count, so that they test
// the command alone: the names and axes are those of the real ones.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"zkbench":       func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, fakeDefs())) },
		"zkbench-real":  func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, Defs())) },
		"zkbench-suite": func() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, suiteDefs())) },
		"benchmarking":  func() { os.Exit(Benchmarking(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, Defs())) },
	})
}

// TestScript runs the scripts in testdata; the short form, one of each kind of command.
func TestScript(t *testing.T) {
	short := []string{"testdata/fail.txt", "testdata/help.txt", "testdata/history.txt", "testdata/list.txt", "testdata/run.txt", "testdata/usage.txt"}
	testscript.Run(t, testscript.Params{
		Dir: testsize.Pick("", "testdata", "testdata"), Files: short,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			// exits CODE COMMAND ...
			"exits": func(ts *testscript.TestScript, _ bool, args []string) {
				exits(ts, args[0], args[1:])
			},
			// lines FILE MOST wants at most so many.
			"lines": func(ts *testscript.TestScript, _ bool, args []string) {
				most, err := strconv.Atoi(args[1])
				ts.Check(err)
				if n := strings.Count(ts.ReadFile(args[0]), "\n"); n > most {
					ts.Fatalf("%d lines, at most %d wanted", n, most)
				}
			},
			// refuse COMMAND ... wants exit code 2, one line on stderr, no output.
			"refuse": func(ts *testscript.TestScript, _ bool, args []string) {
				exits(ts, "2", args)
				if out := ts.ReadFile("stdout"); out != "" {
					ts.Fatalf("output of a refused command: %s", out)
				}
				if lines := strings.Count(ts.ReadFile("stderr"), "\n"); lines != 1 {
					ts.Fatalf("%d lines on stderr, want 1", lines)
				}
			},
		},
	})
}

// call runs a command that needs no workloads in this process.
func call(args ...string) (code int, stdout, stderr string) {
	var out, messages strings.Builder
	code = Main(args, nil, &out, &messages, nil)
	return code, out.String(), messages.String()
}

// refuses wants a command to end with exit code 2 and one line that says why, without output.
func refuses(t *testing.T, says string, args ...string) {
	t.Helper()
	code, stdout, stderr := call(args...)
	if code != exitUsage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, says) {
		t.Errorf("%q: exit code %d, output %q, %q; want %d, ...%s", args, code, stdout, stderr, exitUsage, says)
	}
}

func exits(ts *testscript.TestScript, want string, args []string) {
	got := 0
	if err := ts.Exec(args[0], args[1:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
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
	cmd.Env = append(os.Environ(), startedEnv+"="+listener.Addr().String())
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	must.Do(t, cmd.Start())
	conn := must.Get(listener.Accept())(t) // the slow operation has begun
	defer conn.Close()
	must.Do(t, cmd.Process.Signal(os.Interrupt))
	golden.Equal(t, "exit code", exitPartial, exitCode(t, cmd))
	recs := readRecords(t, records)
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

// startedEnv names the address that the slow operation dials when it begins; it ends when
// the connection is closed.
const startedEnv = "ZKBENCH_TEST_STARTED"

func fakeDefs() []workload.Def {
	axes := []workload.Axis{
		workload.CurveAxis([]string{"BN254", "BLS12_381_BBS"}, []string{"BN254"}),
		workload.BitsAxis(), workload.InputsAxis(8), workload.OutputsAxis(8),
		workload.ProofAxis([]string{"bulletproof", "csp"}),
		workload.ExecutorAxis([]string{"serial", "pool"}),
	}
	defs := []workload.Def{
		{Name: "Sender", Alias: "transfer", Doc: "Counts.", Axes: axes},
		{Name: "VerificationSenderProof", Doc: "Counts back.", Axes: axes},
		{Name: "Issuer", Alias: "issue", Doc: "Counts, without inputs.", Axes: slices.Delete(slices.Clone(axes), 2, 3)},
		{Name: "BrokenOperation", Doc: "Fails.", Axes: axes[1:2]},
		{Name: "WrongResult", Doc: "Returns a wrong result.", Axes: axes[1:2]},
		{Name: "Crash", Doc: "Ends its process.", Axes: axes[1:2]},
		{Name: "Slow", Doc: "Takes a minute.", Axes: axes[1:2]},
		{Name: "EarlyExit", Doc: "Counts to its witness.", Axes: axes[1:2]},
	}
	for i := range defs {
		defs[i].New = func(_ context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			bits, err := c.Int("bits")
			if defs[i].Name == "EarlyExit" {
				return earlyExit{fake{name: "Sender"}}, err
			}
			return fake{name: defs[i].Name, bits: bits, seed: seed}, err
		}
	}
	for _, i := range []int{0, 3} { // Sender, BrokenOperation
		defs[i].Stages = func(_ context.Context, _ workload.Case, _ uint64, r *stage.Recorder) (workload.Staged, error) {
			size := recordtest.Foreign("key", "B/key", 42, record.Exact)
			r.Start("first").End(size)
			if defs[i].Name == "BrokenOperation" {
				return workload.Staged{}, errors.New("second: broken on purpose")
			}
			r.Start("second").End()
			return workload.Staged{Metrics: []record.Metric{size}}, nil
		}
	}
	return defs
}

type fake struct {
	name string
	bits int
	seed uint64
}

func (f fake) Input(_ context.Context, seq uint64) (any, error) { return f.seed + seq, nil }

func (f fake) Run(ctx context.Context, input any) ([]byte, error) {
	switch f.name {
	case "BrokenOperation":
		return nil, errors.New("broken on purpose")
	case "Crash":
		fmt.Fprintln(os.Stderr, "crashed on purpose")
		os.Exit(7)
	case "Slow":
		conn, err := net.Dial("tcp", os.Getenv(startedEnv))
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		let := make(chan struct{})
		go func() {
			_, _ = conn.Read(make([]byte, 1)) // until the test closes it
			close(let)
		}()
		select {
		case <-time.After(time.Minute):
		case <-let:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	case "WrongResult":
		return []byte("0"), nil
	}
	n := input.(uint64)
	for range 1000 {
		n = n*6364136223846793005 + 1
	}
	return strconv.AppendUint(nil, n, 10), nil
}

func (f fake) Check(ctx context.Context, input any, output []byte) error {
	want, err := fake{name: "Sender"}.Run(ctx, input)
	if err == nil && !bytes.Equal(want, output) {
		err = errors.New("not the right number")
	}
	return err
}

func (f fake) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{recordtest.Foreign("proof-size", "B/proof", float64(f.bits), record.Exact)}, nil
}

func (f fake) Close() error { return nil }

// earlyExit takes twice as long for the fixed witness as for others.
type earlyExit struct{ fake }

func (e earlyExit) SecretInput(_ context.Context, seq uint64, fixed bool) (any, error) {
	return fixed, nil
}

func (e earlyExit) Run(ctx context.Context, input any) ([]byte, error) {
	times := 10
	if input.(bool) {
		times = 20
	}
	for range times {
		if _, err := e.fake.Run(ctx, uint64(1)); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func TestMainJob(t *testing.T) {
	plans := must.Get(jobs.MainJob(fakeDefs(), map[string]string{"bits": "64"}))(t)
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

// TestListAxesThatDiffer: one key with two meanings has a row for each, which
// names its workloads.
func TestListAxesThatDiffer(t *testing.T) {
	defs := []workload.Def{
		{Name: "Sender", Axes: []workload.Axis{workload.BitsAxis(), workload.InputsAxis(8)}},
		{Name: "Issuer", Axes: []workload.Axis{workload.BitsAxis()}},
		{Name: "Gates", Axes: []workload.Axis{workload.InputsAxis(4)}},
	}
	var got []string
	for _, a := range distinctAxes(defs) {
		got = append(got, a.Key+" "+a.Accepted)
	}
	want := []string{
		"bits 1 to 64, ranges a..b*k and a..b+k",
		"in 1 to 8, ranges a..b*k and a..b+k (of sender)",
		"in 1 to 4, ranges a..b*k and a..b+k (of gates)",
	}
	golden.Equal(t, "axes", want, got)
}
