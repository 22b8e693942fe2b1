package text_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"golang.org/x/perf/benchfmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/text"
)

// benchmark writes rec in the benchmark format and parses its only result line.
func benchmark(t *testing.T, rec *record.Record) (lines string, units []string, result *benchfmt.Result) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, text.Benchmark(&b, rec))
	lines = b.String()
	r := benchfmt.NewReader(&b, "benchmark")
	better := false
	for r.Scan() {
		switch line := r.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(line)
		case *benchfmt.UnitMetadata:
			better = true
		case *benchfmt.Result:
			result = line.Clone()
			for _, v := range line.Values {
				unit := v.Unit
				if v.OrigUnit != "" {
					unit = v.OrigUnit
				}
				if slices.Contains(units, unit) {
					t.Errorf("%s stands twice in %s", unit, lines)
				}
				units = append(units, unit)
			}
		}
	}
	if !better {
		t.Error("no unit says that more operations a second are better")
	}
	if result == nil {
		t.Fatalf("no result in %s", lines)
	}
	return lines, units, result
}

func TestBenchmark(t *testing.T) {
	rec := sample(t)
	text, units, result := benchmark(t, rec)
	golden.File(t, "testdata/benchmark.txt", text)
	want := []string{
		"ns/op", "P50-ns", "P95-ns", "P99-ns", "P99.9-ns", "ops/s", "gc-cpu-%",
		"B/op", "allocs/op", "peak-RSS-B", "B/proof",
	}
	golden.Equal(t, "units", want, units)
	if v, ok := result.Value("P99-sec"); !ok || math.Abs(v-rec.Value(record.LatencyP99)/1e9) > 1e-6 {
		t.Errorf("P99 %v s, want %v ns", v, rec.Value(record.LatencyP99))
	}
	golden.Equal(t, "iterations", 1000, result.Iters)
}

func TestBenchmarkUnits(t *testing.T) {
	rec := openSample(t)
	rec.Workload, rec.Case, rec.Env.CPU = "Sender", "note=two words", "two\nlines"
	rec.Metrics = append(rec.Metrics,
		exact("opening-size", "B/proof", 64), // the unit of proof-size
		exact("ratio", "", 2), exact("odd", "per cent", 3), record.Goroutines.Metric(4),
	)
	text, units, result := benchmark(t, rec)
	for _, unit := range []string{"response-P99-ns", "goroutines/op", "B/proof", "opening-size-B/proof", "ratio", "per_cent"} {
		if !slices.Contains(units, unit) {
			t.Errorf("%s is missing in %s", unit, text)
		}
	}
	if slices.Contains(units, "%") {
		t.Errorf("a metric that is not exact is in %s", text)
	}
	golden.Equal(t, "name", "Sender/note=two_words-2", string(result.Name))
}

func TestCSV(t *testing.T) {
	first, second := sample(t), openSample(t)
	second.Error = "a, \"quoted\"\nerror"
	var b bytes.Buffer
	must.Do(t, text.CSV(&b, []*record.Record{first, second}))
	rows := must.Get(csv.NewReader(&b).ReadAll())(t) // refuses rows of unlike lengths
	if len(rows) != 3 {
		t.Fatalf("%d rows, want a header and 2", len(rows))
	}
	column := make(map[string]int)
	for i, name := range rows[0] {
		if _, twice := column[name]; twice {
			t.Errorf("column %s stands twice", name)
		}
		column[name] = i
	}
	for name, want := range map[string][2]string{
		"workload": {"Sender", "Sender"}, "curve": {"BN254", ""}, "mix": {"", "issue:1,transfer:8"}, "workers": {"2", "4"},
		"done": {"1000", "10000"}, "dropped": {"", "30"}, "offered-rate [ops/s]": {"", "101"}, "proof-size [B/proof]": {"1416", "1416"},
		"status": {"ok", "failed"}, "error": {"", second.Error}, "side": {"", "old"}, "seed": {"7", "7"},
	} {
		i, ok := column[name]
		if !ok {
			t.Errorf("no column %s in %q", name, rows[0])
			continue
		}
		golden.Equal(t, name, want, [2]string{rows[1][i], rows[2][i]})
	}
	if column["curve"] > column["bits"] || column["bits"] > column["mix"] || column["mix"] > column["done"] || column["done"] > column["proof-size [B/proof]"] {
		t.Errorf("order of columns: %q", rows[0])
	}
	for i, rec := range []*record.Record{first, second} {
		for _, m := range rec.Metrics {
			golden.Equal(t, m.Name(), m.Value, must.Get(strconv.ParseFloat(rows[i+1][column[m.Name()+" ["+m.Unit()+"]"]], 64))(t))
		}
	}
}

// TestHDRLog reads the log back with the library's reader.
func TestHDRLog(t *testing.T) {
	for _, test := range []struct {
		name      string
		rec       *record.Record
		histogram string
		lines     []int64 // values of each
		lengthMs  int64   // of the last
	}{
		{"log=whole", sample(t), record.HistLatency, []int64{1000}, 20012},
		{"log=intervals", openSample(t), record.HistLatency, []int64{6667, 0, 3333}, 1000},
		{"log=response", openSample(t), record.HistResponse, []int64{10000}, 100_000},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			must.Do(t, text.HDRLog(&b, test.rec, test.histogram))
			for _, line := range []string{
				"#[Histogram log format version 1.3]\n", "#[StartTime: 1770091506.000 (seconds since epoch), 2026-02-03T04:05:06Z]\n",
				"\n\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"\n",
			} {
				if !strings.Contains(b.String(), line) {
					t.Errorf("%q is missing", line)
				}
			}
			encoded, _ := test.rec.Histogram(test.histogram)
			whole := must.Get(encoded.Decode())(t)
			r := hdrhistogram.NewHistogramLogReader(&b)
			merged := hdrhistogram.New(1, int64(time.Hour), 3)
			for i := 0; ; i++ {
				h := must.Get(r.NextIntervalHistogram())(t)
				if h == nil {
					golden.Equal(t, "lines", len(test.lines), i)
					break
				}
				if i >= len(test.lines) || h.TotalCount() != test.lines[i] {
					t.Errorf("line %d has %d values, want %v", i, h.TotalCount(), test.lines)
				}
				opened := test.rec.Time.UnixMilli() + int64(i)*1000
				golden.Equal(t, fmt.Sprintf("start of line %d in ms", i), opened, h.StartTimeMs())
				if got := h.EndTimeMs() - h.StartTimeMs(); i == len(test.lines)-1 && (got < test.lengthMs-1 || got > test.lengthMs+1) {
					t.Errorf("the last line lasts %d ms, want %d", got, test.lengthMs)
				}
				merged.Merge(h)
			}
			if !merged.Equals(whole) {
				t.Errorf("the lines hold %d values of %d, or others", merged.TotalCount(), whole.TotalCount())
			}
		})
	}
}

// TestHDRLogLastInterval: the window's end cuts the last interval short.
func TestHDRLogLastInterval(t *testing.T) {
	rec := openSample(t)
	rec.Metrics[0].Value = 2.25 // s
	var b bytes.Buffer
	must.Do(t, text.HDRLog(&b, rec, record.HistLatency))
	golden.Contains(t, b.String(), "\n1.000,1.000,0.000,HIST", "\n2.000,0.250,")
}

func TestHDRLogRefuses(t *testing.T) {
	damaged := openSample(t)
	damaged.Histograms[0].Parts[2] = "AAAA"
	for _, test := range []struct {
		name, histogram string
		rec             *record.Record
		want            error
		says            string
	}{
		{"histogram=none", "nonsense", sample(t), zkbench.ErrParams, `histogram: "nonsense" is not in the record; accepted: latency`},
		{"part=damaged", record.HistLatency, damaged, zkbench.ErrMalformed, "interval 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b bytes.Buffer
			err := text.HDRLog(&b, test.rec, test.histogram)
			must.Fail(t, err, test.want, "log")
			golden.Contains(t, fmt.Sprint(err), test.says)
			if b.Len() > 0 {
				t.Errorf("output in spite of the error: %q", &b)
			}
		})
	}
}

// TestBenchmarkOfStages: a line has the time of each stage, in a unit that benchstat shows
// as seconds.
func TestBenchmarkOfStages(t *testing.T) {
	rec := record.New()
	rec.Workload, rec.Case, rec.Env.GOMAXPROCS = "Gates", "gates=16", 1
	rec.Metrics = []record.Metric{
		record.StageTime("prove").Metric(0.25),
		record.StageTime("verify").Metric(0.001),
		exact("key", "B/key", 42),
	}
	text, units, result := benchmark(t, rec)
	golden.Equal(t, "units", []string{"prove-ns", "verify-ns", "B/key"}, units)
	if result.Iters != 1 || !strings.Contains(text, "BenchmarkGates/gates=16\t1\t250000000 prove-ns\t1000000 verify-ns\t42 B/key") {
		t.Errorf("%s", text)
	}
}

// TestUnits: figures of one unit have their names before it, and what package testing would not take,
// or would take for its own, is one word of another name.
func TestUnits(t *testing.T) {
	units := text.Units{"ns/op": true}
	var got []string
	for _, m := range []record.Metric{
		exact("proof", "B/proof", 1), exact("proof of mine", "B/proof", 2), exact("rounds", "field rounds/op", 3), exact("mine", "ns/op", 4),
		exact("alone", "", 5), exact("", "", 6), exact("proof", "B/proof", 7), exact("proof", "B/proof", 8), exact("infinite", "x", math.Inf(1)),
	} {
		if unit, ok := units.Take(m, m.Unit()); ok {
			got = append(got, fmt.Sprint(m.Value, " ", unit))
		}
	}
	golden.Equal(t, "figures", []string{"1 B/proof", "2 proof_of_mine-B/proof", "3 field_rounds/op", "4 mine-ns/op", "5 alone", "7 proof-B/proof"}, got)
}
