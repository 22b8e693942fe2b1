package compare_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/format"
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
		{"records=foreign", `{"level":"info"}` + "\n", "no schema; accepted: schema 1"},
		{"records=mixed", rec + line, "line 2 at byte 122: not a record"},
		{"records=no workload", `{"schema":1,"id":"A","status":"ok"}` + "\n", "record A at byte 0: names no workload"},
		{"records=metric twice", strings.Replace(rec, "}]", `},{"name":"proof","unit":"B","value":2,"kind":"exact"}]`, 1), "metric proof of W occurs twice"},
		{"benchmark=not finite", "BenchmarkX 10 NaN ns/op\n", "no record and no benchmark result in the file; line 1, \"BenchmarkX 10 NaN ns/op\": NaN is no figure"},
		{"benchmark=cut", "BenchmarkX 10 5 ns/o", "the file ends within this line"},
		{"google", `{"context": {}, "benchmarks": [{"name": "BM_x", "real_time": 5}]}`, "a file of Google Benchmark; repeat its program by compare --run"},
		{"google=csv", "name,iterations,real_time,cpu_time,time_unit\nBM_x,10,5,5,ns\n", "a file of Google Benchmark"},
		{"criterion", `{"mean":{"point_estimate":5},"median":{},"std_dev":{}}`, "a file of criterion"},
		{"criterion=messages", `{"reason":"benchmark-complete","id":"x"}` + "\n", "a file of criterion"},
		{"criterion=csv", "group,function,value,throughput_num,throughput_type,sample_measured_value,unit,iteration_count\n", "a file of criterion"},
		{"hyperfine=no times", `{"results":[{"command":"x","mean":1}]}`, "results[0] at byte 0: it has no command or no times"},
		{"hyperfine=none", `{"results":[]}`, "it has no results"},
		{"go test=cut", `{"Action":"output","Output":"x"}` + "\n{", "line 2"},
		{"benchmark=none", "PASS\nok x 0.1s\n", "no record and no benchmark result"},
	} {
		t.Run(test.name, func(t *testing.T) {
			set, err := compare.Load("file", []byte(test.in))
			if set != nil || !errors.Is(err, zkbench.ErrMalformed) || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("error %v, want one that contains %q", err, test.want)
			}
			golden.Contains(t, err.Error(), "file: ", "accepted: records as run --json writes them, the output of go test -bench, or hyperfine's JSON")
		})
	}
}

// TestLogs: files of go test -bench as people's logs have them. Each gives the same two figures; what cannot be read is
// counted, and the first of it named.
func TestLogs(t *testing.T) {
	const good = "BenchmarkX-8 10 5 ns/op\nBenchmarkY-8 10 7 ns/op\n"
	reference := must.Get(compare.Load("good", []byte(good)))(t)
	for name, test := range map[string]struct{ in, unread string }{
		"plain":                 {good, ""},
		"no last line break":    {strings.TrimSuffix(good, "\n") + "\nok", ""},
		"windows":               {strings.ReplaceAll(good, "\n", "\r\n"), ""},
		"log before figures":    {"BenchmarkX-8   \t2026/11/27 10:00:00 ready\n     10\t 5 ns/op\nBenchmarkY-8 10 7 ns/op\n", ""},
		"two lines of log":      {"BenchmarkX-8   \tone\ntwo 2\n      10\t         5 ns/op\nBenchmarkY-8 10 7 ns/op\n", ""},
		"log in the line":       {"BenchmarkX-8   \thello       10\t         5 ns/op\nBenchmarkY-8 10 7 ns/op\n", ""},
		"figures after a log":   {"BenchmarkX-8   \tready\nhello     10\t   5 ns/op\nBenchmarkY-8 10 7 ns/op\n", ""},
		"verbose":               {"BenchmarkX\nBenchmarkX-8 10 5 ns/op\nBenchmarkY\nBenchmarkY-8 10 7 ns/op\n", ""},
		"sentence":              {good + "Benchmarks ran on 8 processors\nBenchmark 1 is the first\n", ""},
		"log lines of JSON":     {`{"level":"info","msg":"ready"}` + "\n" + good, ""},
		"go test -json":         {goTestJSON(good), ""},
		"a cut line":            {good + "BenchmarkY-8 10 7 ns/o", `f, line 3, "BenchmarkY-8 10 7 ns/o": the file ends within this line, so it may be cut`},
		"no measurement":        {good + "BenchmarkZ-8 10\n", `f, line 3, "BenchmarkZ-8 10": missing measurements`},
		"no unit":               {good + "BenchmarkZ-8 10 5\n", `f, line 3, "BenchmarkZ-8 10 5": missing units`},
		"not finite":            {good + "BenchmarkY-8 10 NaN B/op +Inf ns/op 7 ns/op\n", "2 lines of f, the first: line 3, "},
		"a unit twice":          {good + "BenchmarkZ-8 10 5 ns/op 6 ns/op\n", "ns/op occurs twice in one result"},
		"unit metadata":         {good + "Unit ns/op better\n", "expected key=value"},
		"a record":              {good + `{"schema":1}` + "\n", "a record among benchmark output"},
		"a line without end":    {good + "BenchmarkZ" + strings.Repeat("x", 1<<17) + " 10 5 ns/op\n", "the line is too long"},
		"a name and no figure":  {"BenchmarkZ-8 \tstarts\n" + good, `f, line 1, "BenchmarkZ-8": no figures follow`},
		"killed":                {good + "BenchmarkZ-8   \t", "the file ends within this line"},
		"no figures at the end": {good + "BenchmarkZ-8   \tstarts\nKilled\n", `f, line 3, "BenchmarkZ-8": no figures follow`},
		"a log like figures":    {"BenchmarkX-8\ncircuit 1 2048 constraints\n 10 5 ns/op\nBenchmarkY-8 10 7 ns/op\n", ""},
		"verbose and skipped":   {"BenchmarkS\n--- SKIP: BenchmarkS\nBenchmarkP\nBenchmarkP/sub\n--- SKIP: BenchmarkP/sub\n" + good, ""},
		"config in a log":       {good + "host: 10.0.0.1:5432\ncpu: 12% idle\nFAILOVER armed\n", ""},
		"a log of results":      {`{"level":"info","results":3}` + "\n" + good, ""},
	} {
		set, err := compare.Load("f", []byte(test.in))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tab := must.Get(compare.Compare(compare.Sides{Old: reference, New: set}, true))(t)
		var got []string
		for _, r := range tab.Rows {
			got = append(got, fmt.Sprint(r.Case, " ", r.Metric, " ", r.New))
		}
		golden.Equal(t, name, []string{"X-8 ns/op 5", "Y-8 ns/op 7"}, got)
		unread := strings.Join(tab.Unread, "")
		if !strings.Contains(unread, test.unread) || (test.unread == "") != (unread == "") {
			t.Errorf("%s: unread %q, want %q", name, unread, test.unread)
		}
	}
}

// goTestJSON returns output as go test -json writes it.
func goTestJSON(output string) string {
	lines := `{"Action":"start","Package":"p"}` + "\n"
	for line := range strings.Lines(output) {
		name, figures, _ := strings.Cut(line, " ")
		for _, part := range []string{name + " \t", figures} { // go test writes the name when the benchmark begins
			lines += fmt.Sprintf(`{"Action":"output","Package":"p","Output":%q}`+"\n", part)
		}
	}
	return lines
}

// TestHyperfine: each run of a command is an observation, and a run that failed makes its side unfit.
func TestHyperfine(t *testing.T) {
	file := func(seconds string, code int) *compare.Set {
		text := fmt.Sprintf(`{"results":[{"command":"work","mean":1,"times":[%s],"exit_codes":[0,%d]}]}`, seconds, code)
		return must.Get(compare.Load("f", []byte(text)))(t)
	}
	old := file("0.02,0.021,0.02,0.019,0.02,0.02,0.021,0.02,0.02,0.019", 0)
	recent := file("0.03,0.031,0.03,0.029,0.03,0.03,0.031,0.03,0.03,0.029", 0)
	tab := must.Get(compare.Compare(compare.Sides{Old: old, New: recent}, true))(t)
	golden.Equal(t, "answer", "1 of 1 figure changed: work time is 50.0 % slower.", tab.Answer())
	golden.Equal(t, "old side", "f, 10 runs", tab.Old)
	golden.Equal(t, "row", "time 20.00ms 30.00ms", fmt.Sprintf("%s %s %s", tab.Rows[0].Metric, format.TightTime(tab.Rows[0].Old), format.TightTime(tab.Rows[0].New)))
	part, err := compare.Compare(compare.Sides{Old: old, New: file("0.02,0.021,0.02,0.021", 1)}, true)
	golden.Equal(t, "runs that did not fail", 3, part.Rows[0].N)
	golden.Equal(t, "what failed", []string{"f: work: 1 of 4 runs failed, the first: run 2"}, part.Unfit)
	if unfit, ok := errors.AsType[*compare.UnfitError](err); !ok || !unfit.Failed {
		t.Errorf("error %v, want one about the run that failed", err)
	}
}

// TestPairs: two cases of different names, with their packages, and what one of them lacks.
func TestPairs(t *testing.T) {
	side := func(a, b string) *compare.Set {
		text := ""
		for range 6 {
			text += "pkg: a\nBenchmarkA-8 10 " + a + " ns/op 3 B/proof\npkg: b\nBenchmarkA-8 10 " + b + " ns/op\n"
		}
		return must.Get(compare.Load("f", []byte(text)))(t)
	}
	old, recent := side("100", "300"), side("100", "600")
	must.FailGet(old.Case("case", "A-8"))(t, zkbench.ErrParams, "a case of two packages")
	b := must.Get(old.Case("case", "A-8 (b)"))(t)
	golden.Equal(t, "case", compare.CaseName{Package: "b", Name: "A-8"}, b)
	tab := must.Get(compare.Compare(compare.Sides{Old: old, New: recent, Pair: &compare.Pair{Old: b, New: b}}, true))(t)
	golden.Equal(t, "answer", "A-8 (b) takes 100.0 % longer than A-8 (b) (100.0 % to 100.0 %, ns/op).", tab.Answer())
	golden.Equal(t, "rows", 1, len(tab.Rows))
	a := compare.CaseName{Package: "a", Name: "A-8"}
	tab = must.Get(compare.Compare(compare.Sides{Old: old, New: recent, Pair: &compare.Pair{Old: a, New: b}}, true))(t)
	golden.Equal(t, "what the new side lacks", []compare.Only{{Side: "old", Case: "A-8 (a) against A-8 (b)", Metric: "B/proof"}}, tab.Only, cmpopts.IgnoreUnexported(compare.Only{}))
	out := must.Get((compare.Gate{Limit: 9}).Apply(tab))(t)
	golden.Equal(t, "lost to the gate", 1, len(out.Lost))
}

// TestNoRatio: figures that have no ratio are shown as they are.
func TestNoRatio(t *testing.T) {
	load := func(figures ...string) *compare.Set {
		text := ""
		for _, f := range figures {
			text += "BenchmarkA-8 10 " + f + " B/op\n"
		}
		return must.Get(compare.Load("f", []byte(text)))(t)
	}
	tab := must.Get(compare.Compare(compare.Sides{Old: load("0", "0", "0", "0", "1", "1"), New: load("64", "64", "64", "64", "64", "64")}, true))(t)
	r := tab.Rows[0]
	golden.Equal(t, "row", "0 64 ?", fmt.Sprint(r.Old, " ", r.New, " ", r.Verdict))
	golden.Contains(t, r.Why, "so there is no ratio")
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
	for _, text := range []string{
		"FAIL\tp\t0.1s\n", "FAIL\n", "--- FAIL: BenchmarkX\n", "panic: at the disco\n", "BenchmarkZ-8   \t--- FAIL: BenchmarkZ-8\n",
		"BenchmarkZ-8\nfatal error: runtime: out of memory\n", "signal: killed\n",
	} {
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
	f.Add([]byte(`{"results":[{"command":"x","times":[1,2],"exit_codes":[0,null]}]}`))
	f.Add([]byte(`{"Action":"output","Output":"BenchmarkX 1 5 ns/op\\n"}` + "\n"))
	f.Add([]byte("BenchmarkX \tlog\r\n 10\t5 ns/op NaN x\nBenchmarkY 3"))
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
			func() error { return tab.Text(&out, true, 0) }, func() error { return tab.Markdown(&out) },
			func() error { return tab.CSV(&out) }, func() error { return tab.JSON(&out) },
		} {
			must.Do(t, write())
		}
	})
}
