package compare_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestLoadRefuses(t *testing.T) {
	const rec = `{"schema":1,"id":"A","status":"ok","workload":"W","metrics":[{"name":"proof","unit":"B/proof","value":1,"kind":"exact"}]}` + "\n"
	const line = "BenchmarkX 10 5 ns/op\n"
	for _, test := range []struct{ name, in, want string }{
		{"file=empty", " \n", "line 1 at byte 0: the file is empty"},
		{"records=truncated", rec + rec[:40], "line 2 at byte 122: truncated record"},
		{"records=foreign", `{"Action":"start"}` + "\n", "no schema; accepted: schema 1"},
		{"records=mixed", rec + line, "line 2 at byte 122: not a record"},
		{"records=no workload", `{"schema":1,"id":"A","status":"ok"}` + "\n", "record A at byte 0: names no workload"},
		{"records=metric twice", strings.Replace(rec, "}]", `},{"name":"proof","unit":"B","value":2,"kind":"exact"}]`, 1), "metric proof of W occurs twice"},
		{"benchmark=truncated", line + "BenchmarkX 10 5 ns/o", "line 2 at byte 22: the file ends within this line"},
		{"benchmark=syntax", line + "BenchmarkX 10\n", "line 2 at byte 22: missing measurements"},
		{"benchmark=no unit", line + "BenchmarkX 10 5\n", "line 2 at byte 22: missing units"},
		{"benchmark=not finite", "BenchmarkX 10 NaN ns/op\n", "ns/op is not finite"},
		{"benchmark=unit twice", "BenchmarkX 10 5 ns/op 6 ns/op\n", "ns/op occurs twice"},
		{"benchmark=unit metadata", line + "Unit ns/op better\n", "line 2 at byte 22: expected key=value"},
		{"benchmark=mixed", line + rec, "line 2 at byte 22: a record, or JSON of go test, among benchmark output"},
		{"benchmark=none", "PASS\nok x 0.1s\n", "no record and no benchmark result"},
		{"benchmark=endless line", line + "Benchmark" + strings.Repeat("x", 1<<17) + "\n", "token too long"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := compare.Load("file", []byte(test.in))
			if set != nil || !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one that contains %q", err, test.want)
			}
			golden.Contains(t, err.Error(), "file: ", "accepted: records as run --json writes them, or the output of go test -bench")
		})
	}
}

// TestBenchmarkUnits: which figures are exact, and which way is better.
func TestBenchmarkUnits(t *testing.T) {
	const in = `goos: linux
Unit score better=higher
Unit gates assume=exact
BenchmarkA/exec=serial-2 10 5 ns/op 6 B/op 7 allocs/op 8 B/proof 9 constraints 3 P99-ns 4 ops/s 2 MB/s 1 score 12 gates
BenchmarkA/exec=pool-2 10 5 ns/op 7 allocs/op 8 B/proof
BenchmarkA/workers=1-2 10 5 ns/op 7 allocs/op
BenchmarkA 10 0 B/s 7 allocs/op
`
	set := must.Get(compare.Load("file", []byte(in)))(t)
	tab := must.Get(compare.Compare(compare.Sides{Old: set, New: set}, false))(t)
	var exact, higher []string
	for _, r := range tab.Rows {
		if r.Exact {
			exact = append(exact, r.Case+" "+r.Metric)
		}
		if r.Better == record.Higher {
			higher = append(higher, r.Case+" "+r.Metric)
		}
	}
	wantExact := []string{
		"A/exec=serial-2 allocs/op", "A/exec=serial-2 B/proof", "A/exec=serial-2 constraints",
		"A/exec=serial-2 gates", "A/exec=pool-2 B/proof", "A allocs/op",
	}
	golden.Equal(t, "exact", wantExact, exact)
	wantHigher := []string{"A/exec=serial-2 ops/s", "A/exec=serial-2 MB/s", "A/exec=serial-2 score", "A B/s"}
	golden.Equal(t, "higher is better", wantHigher, higher)
}

// TestPackages: one name in two packages makes two cases.
func TestPackages(t *testing.T) {
	set := must.Get(compare.Load("file", []byte("pkg: p\nBenchmarkX 10 5 ns/op\npkg: q\nBenchmarkX 10 6 ns/op\n")))(t)
	tab := must.Get(compare.Compare(compare.Sides{Old: set, New: set}, false))(t)
	if len(tab.Rows) != 2 || tab.Rows[0].Package != "p" || tab.Rows[1].Package != "q" {
		t.Errorf("rows: %+v", tab.Rows)
	}
}

func TestFailedBenchmarks(t *testing.T) {
	good := must.Get(compare.Load("good", []byte("BenchmarkX 10 5 ns/op\n")))(t)
	for _, text := range []string{"FAIL\tp\t0.1s\n", "--- FAIL: BenchmarkX\n", "panic: at the disco\n"} {
		bad := must.Get(compare.Load("bad", []byte("BenchmarkX 10 5 ns/op\n"+text)))(t)
		_, err := compare.Compare(compare.Sides{Old: good, New: bad}, true)
		if unfit, ok := errors.AsType[*compare.UnfitError](err); !ok || !unfit.Failed {
			t.Errorf("text=%q: error %v, want a failed case", text, err)
		}
		_, err = compare.Compare(compare.Sides{Old: bad, New: good}, true)
		if unfit, ok := errors.AsType[*compare.UnfitError](err); !ok || unfit.Failed {
			t.Errorf("text=%q: error %v, want an unfit old side", text, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	var b bytes.Buffer
	rec := newMachine(1, 1).run(f.Context(), stat.Old)
	rec.Process = record.Process{Session: "s", Side: "old"}
	must.Do(f, record.Write(&b, rec))
	f.Add(b.Bytes())
	f.Add([]byte("goos: linux\npkg: p\nUnit x better=higher assume=exact\nBenchmarkX/exec=serial-2 10 5 ns/op 0 B/op 1 allocs/op 2 x\n"))
	f.Add([]byte("BenchmarkX 1 -5 ns/op\nBenchmarkX 1 0 ns/op\nFAIL\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		set, err := compare.Load("file", in)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		tab, err := compare.Compare(compare.Sides{Old: set, New: set}, true)
		if err != nil {
			return
		}
		// The same figures twice are no change, whatever they are.
		for _, r := range tab.Rows {
			switch r.Verdict {
			case compare.Slower, compare.Faster, compare.Grew, compare.Shrank:
				t.Errorf("%s %s against itself is %s", r.Case, r.Metric, r.Verdict)
			}
		}
		var out bytes.Buffer
		for _, write := range []func() error{
			func() error { return tab.Text(&out) }, func() error { return tab.Markdown(&out) },
			func() error { return tab.CSV(&out) }, func() error { return tab.JSON(&out) },
		} {
			must.Do(t, write())
		}
	})
}
