package text_test

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/text"
)

func TestCase(t *testing.T) {
	golden.File(t, "testdata/case.txt", written(t, sample(t)))
	golden.File(t, "testdata/open.txt", written(t, openSample(t)))
}

func TestTable(t *testing.T) {
	first, second, third := sample(t), sample(t), sample(t)
	second.Axes = record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "64"}, {Key: "workers", Value: "2"}, {Key: "proof", Value: "csp"}}
	second.Case = second.Axes.String()
	second.Findings = []record.Finding{{Name: "profiled", Text: "profiles were taken"}, {Name: "unfinished", Text: "throughput is a lower bound"}}
	third.Status, third.Error = record.Failed, "set-up: no such curve"
	third.Counters, third.Metrics, third.Histograms, third.Findings = nil, nil, nil, nil
	var b bytes.Buffer
	must.Do(t, text.Table(&b, []*record.Record{first, second, third}))
	golden.File(t, "testdata/table.txt", b.String())
}

// TestSummary: a line a case; processes of one case are a line of medians, what failed is
// said whole, and a busy machine on top.
func TestSummary(t *testing.T) {
	first, second, other := sample(t), sample(t), sample(t)
	first.Findings = []record.Finding{{Name: "drift", Text: "a"}}
	second.Findings = []record.Finding{{Name: record.Disturbed, Text: "others were there"}, {Name: "drift", Text: "b"}}
	for i := range second.Metrics {
		if second.Metrics[i].Name() == record.LatencyP50.Name() {
			second.Metrics[i].Value *= 1.1
		}
	}
	other.Axes = record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "64"}}
	other.Case = other.Axes.String()
	other.Status, other.Error, other.Metrics, other.Findings = record.Failed, "set-up: no such curve", nil, nil
	var b bytes.Buffer
	must.Do(t, text.Style{}.Summary(&b, []*record.Record{first, other, second}))
	golden.File(t, "testdata/summary.txt", b.String())
	b.Reset()
	must.Do(t, text.Style{}.Summary(&b, nil))
	golden.Equal(t, "of none", "", b.String())
}

// TestInputsBuiltByOperations: without figures of memory per operation no view
// has a place for them, and the finding says why.
func TestInputsBuiltByOperations(t *testing.T) {
	rec := sample(t)
	rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool {
		return slices.Contains([]record.Quantity{record.AllocBytes, record.Allocs, record.Goroutines}, m.Quantity)
	})
	rec.Findings = []record.Finding{{Name: "inputs", Text: "built by each operation"}}
	for name, view := range map[string]func(b *bytes.Buffer) error{
		"view=table":     func(b *bytes.Buffer) error { return text.Table(b, []*record.Record{rec}) },
		"view=case":      func(b *bytes.Buffer) error { return text.Case(b, rec) },
		"view=benchmark": func(b *bytes.Buffer) error { return text.Benchmark(b, rec) },
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			must.Do(t, view(&b))
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
		{"values=outliers", append(slices.Repeat([]int64{40_000, 41_000, 42_000, 43_000}, 100), 1, 1_000_000)},
		{"values=wide", []int64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000_000_000}},
	} {
		t.Run(test.name, func(t *testing.T) {
			latencies := recordtest.Histogram(t, record.HistLatency, test.values...)
			_, picture, _ := strings.Cut(written(t, &record.Record{Histograms: []record.Histogram{latencies}}), "Latency Heatmap")
			picture, _, _ = strings.Cut(picture, "\n\n")
			sum := 0
			for i, line := range strings.Split(picture, "\n") {
				if i > 1 { // below title and header
					sum += must.Get(strconv.Atoi(strings.Fields(line)[3]))(t) // from - to count
				}
			}
			golden.Equal(t, "latencies in the picture", len(test.values), sum)
			for mark, p := range map[string]float64{"P50 ": 50, "P95 ": 95, "P99 ": 99} {
				times := 0
				if record.Carries(p, int64(len(test.values))) {
					times = 1
				}
				golden.Equal(t, "times that "+mark+"stands", times, strings.Count(picture, mark))
			}
		})
	}
}

func TestTableOpen(t *testing.T) {
	closed, open := sample(t), openSample(t)
	var b bytes.Buffer
	must.Do(t, text.Table(&b, []*record.Record{closed, open}))
	golden.File(t, "testdata/table_open.txt", b.String())
	lines := strings.Split(b.String(), "\n")
	header, paced := strings.Fields(lines[2]), strings.Fields(lines[4])
	if i := slices.Index(header, "offered/s"); i < 0 || paced[i] != "101.0" {
		t.Errorf("offered rate: header %q, line %q", header, paced)
	}
	golden.Contains(t, lines[2], "  resp P99  ")
	golden.Contains(t, lines[4], "  91.75ms  ")
}

func TestPictureOfADamagedHistogram(t *testing.T) {
	rec := sample(t)
	rec.Histograms[0].HDR = "AAAA"
	must.Fail(t, text.Case(new(bytes.Buffer), rec), zkbench.ErrMalformed, "damaged histogram")
}

func TestNothingMeasured(t *testing.T) {
	rec := &record.Record{Workload: "Sender", Case: "bits=8", Status: record.Failed, Error: "set-up: planted"}
	var b bytes.Buffer
	must.Do(t, errors.Join(text.Benchmark(&b, rec), text.Table(&b, nil)))
	golden.Equal(t, "bytes of output", 0, b.Len())
	must.Do(t, text.Case(&b, rec))
	if !strings.Contains(b.String(), "FAILED: set-up: planted") || strings.Contains(b.String(), "Latency") || strings.Contains(b.String(), "NaN") {
		t.Errorf("output:\n%s", &b)
	}
}
