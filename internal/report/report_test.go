package report_test

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/report"
)

var update = flag.Bool("update", false, "write the golden files")

// sample is a record with a smooth latency distribution around 40 ms and a tail.
func sample(t *testing.T) *record.Record {
	t.Helper()
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range 1000 {
		x := (float64(i) + 0.5) / 1000
		ms := 40 + 3*math.Log(x/(1-x)) // logistic quantiles
		if err := h.RecordValue(int64(ms * 1e6)); err != nil {
			t.Fatal(err)
		}
	}
	encoded, err := record.EncodeHistogram(record.HistLatency, "ns", h)
	if err != nil {
		t.Fatal(err)
	}
	timed := func(name, unit string, v float64) record.Metric {
		return record.Metric{Name: name, Unit: unit, Value: v, Kind: record.Timed}
	}
	return &record.Record{
		Schema: record.Schema, ID: "ID", Workload: "Sender", Case: "curve=BN254/bits=32/workers=2",
		Axes: record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "32"}, {Key: "workers", Value: "2"}},
		Env: record.Env{
			OS: "linux", Arch: "amd64", CPU: "Some Processor", Path: "avx512", Cores: 4, GOMAXPROCS: 2, Quota: 2,
			Governor: "performance", Go: "go1.26", GOGC: 100, GOMEMLIMIT: -1,
		},
		Status: record.OK,
		Counters: []record.Counter{
			{Name: record.CountWarmup, Value: 40},
			{Name: record.CountStarted, Value: 1001},
			{Name: record.CountDone, Value: 1000},
			{Name: record.CountUnfinished, Value: 1},
			{Name: record.CountChecked, Value: 1000},
		},
		Metrics: []record.Metric{
			timed(record.Duration, "s", 20.0123), timed(record.Throughput, "ops/s", 49.9692), timed(record.PureThroughput, "ops/s", 50),
			timed(record.LatencyMin, "ns", float64(h.Min())), timed(record.LatencyP50, "ns", float64(h.ValueAtPercentile(50))),
			timed(record.LatencyMean, "ns", 40e6), timed(record.LatencyP95, "ns", float64(h.ValueAtPercentile(95))),
			timed(record.LatencyP99, "ns", float64(h.ValueAtPercentile(99))), timed(record.LatencyP999, "ns", float64(h.ValueAtPercentile(99.9))),
			timed(record.LatencyMax, "ns", float64(h.Max())), timed(record.LatencyStdDev, "ns", 5.441e6),
			timed(record.LatencyIQR, "ns", 6.59e6), timed(record.LatencyJitter, "ns", 1.96e6),
			timed(record.AllocBytes, "B/op", 178724.25), timed(record.Allocs, "allocs/op", 191), timed(record.AllocRate, "B/s", 8.93e6),
			timed(record.GCCPUShare, "%", 1.25), timed(record.GCPauses, "ns", 2.5e6), timed(record.GCCycles, "cycles", 12),
			timed(record.Goroutines, "goroutines/op", 0), timed(record.HeapLive, "B", 14.2e6),
			{Name: "proof-size", Unit: "B/proof", Value: 1416, Kind: record.Exact},
		},
		Histograms: []record.Histogram{encoded},
		Findings:   []record.Finding{{Name: "unfinished", Text: "1 of 1001 operations still ran\nwhen the window closed"}},
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A checkout may have changed the ends of lines.
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), got); diff != "" {
		t.Error(diff)
	}
}

func TestCase(t *testing.T) {
	var b bytes.Buffer
	if err := report.Case(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "case.txt", b.String())
}

func TestTable(t *testing.T) {
	first, second, third := sample(t), sample(t), sample(t)
	second.Axes = record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "64"}, {Key: "workers", Value: "2"}, {Key: "proof", Value: "csp"}}
	second.Case = second.Axes.String()
	second.Findings = []record.Finding{{Name: "profiled", Text: "profiles were taken"}, {Name: "unfinished", Text: "throughput is a lower bound"}}
	third.Status, third.Error = record.Failed, "set-up: no such curve"
	third.Counters, third.Metrics, third.Histograms, third.Findings = nil, nil, nil, nil
	var b bytes.Buffer
	if err := report.Table(&b, []*record.Record{first, second, third}); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.String())
}

// TestInputsBuiltByOperations: without figures of memory per operation no view
// has a place for them, and the finding says why.
func TestInputsBuiltByOperations(t *testing.T) {
	rec := sample(t)
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool {
		return slices.Contains([]string{record.AllocBytes, record.Allocs, record.Goroutines}, m.Name)
	})
	rec.Findings = []record.Finding{{Name: "inputs", Text: "built by each operation"}}
	for name, view := range map[string]func(b *bytes.Buffer) error{
		"view=table":     func(b *bytes.Buffer) error { return report.Table(b, []*record.Record{rec}) },
		"view=case":      func(b *bytes.Buffer) error { return report.Case(b, rec) },
		"view=benchmark": func(b *bytes.Buffer) error { return report.Benchmark(b, rec) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := view(&b); err != nil {
				t.Fatal(err)
			}
			for _, absent := range []string{"B/op", "allocs/op", "Goroutines"} {
				if strings.Contains(b.String(), absent) {
					t.Errorf("%s is in:\n%s", absent, &b)
				}
			}
			if name != "view=benchmark" && !strings.Contains(b.String(), "inputs: built by each operation") {
				t.Errorf("the finding is missing:\n%s", &b)
			}
		})
	}
}

func TestBenchmark(t *testing.T) {
	var b bytes.Buffer
	if err := report.Benchmark(&b, sample(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "benchmark.txt", b.String())
	r := benchfmt.NewReader(&b, "benchmark")
	units := 0
	for r.Scan() {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(line)
		case *benchfmt.UnitMetadata:
			units++
		case *benchfmt.Result:
			if v, ok := line.Value("p99-sec"); !ok || math.Abs(v-0.0538) > 0.001 {
				t.Errorf("P99 %v s, want 0.0538", v)
			}
			if line.Iters != 1000 {
				t.Errorf("%d iterations, want 1000", line.Iters)
			}
		}
	}
	if units == 0 {
		t.Error("no unit says that more operations a second are better")
	}
}

// TestPictureCounts: every latency is in one row, each mark is at one row.
func TestPictureCounts(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []int64
	}{
		{"n=1", []int64{5}},
		{"n=2", []int64{1, 1_000_000_000}},
		{"values=equal", []int64{1000, 1000, 1000}},
		{"values=close", []int64{1000, 1001, 1002, 1003, 1004}},
		{"values=wide", []int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000_000_000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := hdrhistogram.New(1, int64(time.Hour), 3)
			for _, v := range test.values {
				if err := h.RecordValue(v); err != nil {
					t.Fatal(err)
				}
			}
			encoded, err := record.EncodeHistogram(record.HistLatency, "ns", h)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := report.Picture(&b, &record.Record{Histograms: []record.Histogram{encoded}}); err != nil {
				t.Fatal(err)
			}
			sum := 0
			for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
				if i > 0 {
					sum += count(t, line)
				}
			}
			if sum != len(test.values) {
				t.Errorf("%d latencies in the picture, want %d:\n%s", sum, len(test.values), &b)
			}
			for _, mark := range []string{"P50 ", "P95 ", "P99 "} {
				if n := strings.Count(b.String(), mark); n != 1 {
					t.Errorf("%s stands %d times:\n%s", mark, n, &b)
				}
			}
		})
	}
}

// count reads the third column of a row, "from - to count".
func count(t *testing.T, line string) int {
	t.Helper()
	n := 0
	for _, digit := range strings.Fields(line)[3] {
		n = 10*n + int(digit-'0')
	}
	return n
}

func TestPictureOfADamagedHistogram(t *testing.T) {
	rec := sample(t)
	rec.Histograms[0].HDR = "AAAA"
	for name, view := range map[string]func() error{
		"view=picture": func() error { return report.Picture(new(bytes.Buffer), rec) },
		"view=case":    func() error { return report.Case(new(bytes.Buffer), rec) },
	} {
		if err := view(); !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("%s: error %v, want ErrMalformed", name, err)
		}
	}
}

func TestNothingMeasured(t *testing.T) {
	rec := &record.Record{Workload: "Sender", Case: "bits=8", Status: record.Failed, Error: "set-up: planted"}
	var b bytes.Buffer
	if err := errors.Join(report.Benchmark(&b, rec), report.Picture(&b, rec), report.Table(&b, nil)); err != nil {
		t.Fatal(err)
	}
	if b.Len() != 0 {
		t.Errorf("output %q, want none", &b)
	}
	if err := report.Case(&b, rec); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "FAILED: set-up: planted") || strings.Contains(b.String(), "Latency") || strings.Contains(b.String(), "NaN") {
		t.Errorf("output:\n%s", &b)
	}
}
