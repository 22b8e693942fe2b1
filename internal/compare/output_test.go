package compare_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestBenchmarkOutput: the results stay, with what is said of them; the rest goes, and is an error
// only where a line was meant to be a result.
func TestBenchmarkOutput(t *testing.T) {
	const out = "building\nnote: all is well\ngoos: linux\npkg: p\nUnit steps assume=exact\nBenchmarkA\nBenchmarkA-2 \t 10\t 5.50 ns/op\t 7 steps\n" +
		"Benchmark results follow\nBenchmarkB 1 NaN ns/op\nBenchmarkC 1 5 x 6 x\npkg: q\nBenchmarkA-2 20 6 ns/op\nPASS\n"
	const want = "Unit steps assume=exact\ngoos: linux\npkg: p\n\nBenchmarkA-2 10 5.5 ns/op 7 steps\n\npkg: q\n\nBenchmarkA-2 20 6 ns/op\n"
	golden.Equal(t, "results", want, must.Get(compare.BenchmarkOutput([]byte(out), false))(t))
	_, err := compare.BenchmarkOutput([]byte(out), true)
	golden.Equal(t, "error", `output, line 9, "BenchmarkB 1 NaN ns/op": ns/op is not finite`, err.Error())
	_, err = compare.BenchmarkOutput([]byte("Benchmarks are set up\nBenchmarkA 1x 5 ns/op\n"), true)
	golden.Equal(t, "error of a damaged line", `output, line 2, "BenchmarkA 1x 5 ns/op": parsing iteration count: invalid syntax`, err.Error())
	golden.Equal(t, "of no results", "", must.Get(compare.BenchmarkOutput([]byte("goos: linux\nPASS\n"), true))(t))
	_, err = compare.BenchmarkOutput([]byte("BenchmarkA-2 0 NaN ns/op 0 B/op\n"), true)
	golden.Equal(t, "error of a benchmark that panicked", `output, line 1, "BenchmarkA-2 0 NaN ns/op 0 B/op": the benchmark ended before its first iteration, as after a panic`, err.Error())
	long := strings.Repeat("x", 1<<20) + "\nBenchmarkA 1 5 ns/op"
	golden.Equal(t, "after an endless line", "BenchmarkA 1 5 ns/op\n", must.Get(compare.BenchmarkOutput([]byte(long), true))(t))
}

// outputs returns a session of blocks in which all processes print the same.
func outputs(t testing.TB, blocks int, old, recent string) compare.Sides {
	t.Helper()
	var recs []*record.Record
	for i := range blocks {
		for side, text := range map[string]string{"old": old, "new": recent, "again": old} {
			rec := record.New()
			rec.Workload, rec.Output, rec.Process = "p", text, record.Process{Session: "s", Side: side, Index: i}
			recs = append(recs, rec)
		}
	}
	return must.Get(compare.Split("session", recs))(t)
}

// TestOutput: a process gives one value of each row, whose unit says what it is.
func TestOutput(t *testing.T) {
	const old = "Unit score better=higher\nUnit steps assume=exact\npkg: p\n" +
		"BenchmarkA 1 90 ns/op 0 B/op 1 allocs/op 5 score 8 steps\nBenchmarkA 1 500 ns/op 0 B/op 1 allocs/op 5 score 8 steps\nBenchmarkA 1 100 ns/op 0 B/op 1 allocs/op 5 score 8 steps\n"
	tab := table(t, outputs(t, 8, old, strings.NewReplacer("100 ns", "200 ns", "5 score", "4 score", "8 steps", "9 steps").Replace(old)))
	for metric, want := range map[string]compare.Row{
		"ns/op":     {Verdict: compare.Slower},
		"B/op":      {Verdict: compare.Equal},
		"allocs/op": {Verdict: compare.Equal, Exact: true},
		"score":     {Verdict: compare.Shrank, Better: record.Higher},
		"steps":     {Verdict: compare.Grew, Exact: true},
	} {
		got := row(t, tab, metric)
		if got.Verdict != want.Verdict || got.Exact != want.Exact || got.Better != want.Better || got.N != 8 || got.Package != "p" || got.Case != "A" {
			t.Errorf("%s: %+v", metric, got)
		}
	}
	golden.Equal(t, "the median of a process", 100, row(t, tab, "ns/op").Old)
	rec := record.New()
	rec.Workload, rec.Output = "p", "BenchmarkA 1 5 ns/op\nBenchmarkA 1\n"
	_, err := compare.FromRecords("file", []*record.Record{rec})
	must.Fail(t, err, zkbench.ErrMalformed, "output that is cut")
	golden.Contains(t, err.Error(), "file: ", "output, line 2", "missing measurements")
}

// TestBinaryFlags: flags are the binary's as go test would hand them on, later than the default ones.
func TestBinaryFlags(t *testing.T) {
	got := strings.Join(compare.BinaryFlags([]string{"-bench=Sum", "--benchtime", "10x", "-curves=BN254", "-test.v", "-short", "5", "-args", "-v", "-args"}, []string{"-test.count=1"}), " ")
	golden.Equal(t, "flags", "-test.paniconexit0 -test.run=^$ -test.bench=. -test.benchmem -test.benchtime=100ms -test.timeout=10m "+
		"-test.bench=Sum -test.benchtime 10x -curves=BN254 -test.v -test.short 5 -test.count=1 -v -args", got)
}

// FuzzOutput: what is kept of any output can be read again, and is all that is kept of itself.
func FuzzOutput(f *testing.F) {
	f.Add([]byte("goos: linux\npkg: p\nUnit x better=higher assume=exact\nBenchmarkX/exec=serial-2 10 5 ns/op 0 B/op 1 allocs/op 2 x\n"))
	f.Add([]byte("Benchmark 1 5 x\nBenchmarkX 1 -5 ns/op\npkg:\nBenchmarkX 1 0 ns/op\nFAIL\n"))
	f.Fuzz(func(t *testing.T, out []byte) {
		text := must.Get(compare.BenchmarkOutput(out, false))(t)
		golden.Equal(t, "kept once more", text, must.Get(compare.BenchmarkOutput([]byte(text), true))(t))
		if text != "" {
			table(t, outputs(t, 2, text, text))
		}
	})
}
