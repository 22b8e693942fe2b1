package measure_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// counter is a workload that counts its calls and can be made to fail.
type counter struct {
	wrong                            string // operation or result
	built, runs, checks, closed, set atomic.Int64
}

func (c *counter) def() workload.Def {
	return workload.Def{
		Name: "Counter", Doc: "Counts.",
		Axes: []workload.Axis{workload.CurveAxis([]string{"BN254", "X"}, []string{"BN254"}), workload.BitsAxis(), workload.InputsAxis(3)},
		New: func(context.Context, workload.Case, uint64) (workload.Instance, error) {
			c.set.Add(1)
			return c, nil
		},
	}
}

func (c *counter) Input(_ context.Context, seq uint64) (any, error) { c.built.Add(1); return seq, nil }

func (c *counter) Run(_ context.Context, input any) ([]byte, error) {
	c.runs.Add(1)
	if c.wrong == "operation" && input.(uint64) == 5 {
		return nil, errors.New("planted")
	}
	return strconv.AppendUint(nil, input.(uint64), 10), nil
}

func (c *counter) Check(_ context.Context, input any, output []byte) error {
	c.checks.Add(1)
	if string(output) != strconv.FormatUint(input.(uint64), 10) || c.wrong == "result" && input.(uint64) == 5 {
		return errors.New("planted")
	}
	return nil
}

func (c *counter) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{record.ProofSize.Metric(1416)}, nil
}

func (c *counter) Close() error { c.closed.Add(1); return nil }

func options(t testing.TB, args ...string) *measure.Options {
	t.Helper()
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	o := measure.Flags(fs)
	must.Do(t, fs.Parse(args))
	return o
}

// tenRounds makes the benchmarks of this test run ten operations each.
func tenRounds(t *testing.T) {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime").Value
	before := benchtime.String()
	must.Do(t, benchtime.Set("10x"))
	t.Cleanup(func() {
		must.Do(t, benchtime.Set(before))
	})
}

func TestBenchmarkRunsTheMatrix(t *testing.T) {
	for _, test := range []struct {
		name  string
		args  []string
		cases int64
		built int64 // inputs per case; 0: at least one per operation
	}{
		{"flags=none", nil, 6, 8},
		{"flags=some", []string{"-bits=8", "-num_inputs=1..2*2", "-setup_samples=5"}, 2, 5},
		{"flags=samples 0", []string{"-bits=8", "-num_inputs=1", "-setup_samples=0"}, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			tenRounds(t)
			c := new(counter)
			o := options(t, test.args...)
			testing.Benchmark(func(b *testing.B) { measure.Benchmark(b, c.def(), o) })
			golden.Equal(t, "cases set up, closed", [2]int64{test.cases, test.cases}, [2]int64{c.set.Load(), c.closed.Load()})
			// One input of each case is made again, and its check sees a changed result.
			if want := (test.built + 1) * test.cases; test.built > 0 && (c.built.Load() != want || c.checks.Load() != want) {
				t.Errorf("%d inputs, %d checked; want %d", c.built.Load(), c.checks.Load(), want)
			}
			if test.built == 0 && c.checks.Load() != c.built.Load() {
				t.Errorf("%d inputs, %d checked", c.built.Load(), c.checks.Load())
			}
		})
	}
}

func TestParallelReport(t *testing.T) {
	t.Chdir(t.TempDir())
	c := new(counter)
	var out bytes.Buffer
	o := options(t, "-workers=1,2", "-bits=16,32", "-num_inputs=1", "-duration=20ms", "-profile")
	measure.TestParallel(t, &out, c.def(), o)
	golden.Equal(t, "cases set up, closed", [2]int64{4, 4}, [2]int64{c.set.Load(), c.closed.Load()})
	var names []string
	r := benchfmt.NewReader(&out, "out")
	for r.Scan() {
		switch line := r.Result().(type) {
		case *benchfmt.Result:
			names = append(names, line.Name.String())
			for _, unit := range []string{"sec/op", "P50-sec", "P99-sec", "ops/s", "B/op", "allocs/op", "B/proof"} {
				if v, ok := line.Value(unit); !ok || v < 0 {
					t.Errorf("%s: %s is %v", line.Name, unit, v)
				}
			}
		case *benchfmt.SyntaxError:
			t.Error(line)
		}
	}
	must.Do(t, r.Err())
	if len(names) != 4 || !strings.HasPrefix(names[1], "Counter/curve=BN254/bits=16/in=1/workers=2") {
		t.Errorf("results %q", names)
	}
	golden.Equal(t, "CPU profiles", 4, len(must.Get(filepath.Glob("profiles/counter/*/cpu.pprof"))(t)))
}

func TestParallelSmoke(t *testing.T) {
	c := new(counter)
	var out bytes.Buffer
	measure.TestParallel(t, &out, c.def(), options(t))
	if c.set.Load() != 1 || !strings.Contains(out.String(), "\nBenchmarkCounter/curve=BN254/bits=32/in=2/workers=1") {
		t.Errorf("%d cases, output:\n%s", c.set.Load(), &out)
	}
	golden.Contains(t, out.String(), "Total Ops", "Real Throughput", "P50 (Median)", "Jitter", "GC Overhead", "Latency Distribution", "<- P50", "1416 B/proof")
}

// TestFailing and BenchmarkFailing run in a child process, because they must fail.
const failingEnv = "ZKBENCH_TEST_FAILING"

func failing(tb testing.TB) (*counter, []string) {
	tb.Helper()
	wrong := os.Getenv(failingEnv)
	if wrong == "" {
		tb.Skip("runs in a child")
	}
	args := []string{"-bits=32", "-num_inputs=1", "-duration=10ms"}
	if wrong == "flag" {
		args = append(args, "-curves=Y")
	}
	return &counter{wrong: wrong}, args
}

func TestFailing(t *testing.T) {
	c, args := failing(t)
	measure.TestParallel(t, os.Stdout, c.def(), options(t, args...))
}

func BenchmarkFailing(b *testing.B) {
	c, args := failing(b)
	measure.Benchmark(b, c.def(), options(b, args...))
}

func TestFailuresAreSeen(t *testing.T) {
	for _, test := range []struct{ kind, wrong, want string }{
		{"run=^TestFailing$", "operation", "1 of 3 operations begun before the window failed: planted"},
		{"run=^TestFailing$", "result", "checked results are wrong: planted"},
		{"run=^TestFailing$", "flag", `curves: "Y" is not accepted; did you mean X? accepted: BN254, X`},
		{"bench=^BenchmarkFailing$", "operation", "input 5: planted"},
		{"bench=^BenchmarkFailing$", "result", "result of input 5: planted"},
		{"bench=^BenchmarkFailing$", "flag", `curves: "Y" is not accepted; did you mean X? accepted: BN254, X`},
	} {
		t.Run(test.kind+"/"+test.wrong, func(t *testing.T) {
			self := must.Get(os.Executable())(t)
			cmd := exec.CommandContext(t.Context(), self, "-test.benchtime=10x", "-test.run=^$", "-test."+test.kind)
			cmd.Env = append(os.Environ(), failingEnv+"="+test.wrong)
			out, err := cmd.CombinedOutput()
			if err == nil || !strings.Contains(string(out), test.want) {
				t.Errorf("ended with %v, want a failure that says %q; output:\n%s", err, test.want, out)
			}
		})
	}
}
