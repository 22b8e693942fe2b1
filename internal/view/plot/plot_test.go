package plot_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/plottest"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/plot"
)

type figure func(io.Writer, plot.Format, *record.Record) error

func figures() map[string]figure {
	return map[string]figure{"percentiles": plot.Percentiles, "histogram": plot.Histogram, "timeline": plot.Timeline}
}

// ramp returns the values 1 ms to n ms, in ns.
func ramp(n int) []int64 {
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(i+1) * 1e6
	}
	return values
}

func series(q record.Quantity, values ...float64) record.Series {
	return q.Series(time.Second, values)
}

func sample(t *testing.T) *record.Record {
	t.Helper()
	rec := &record.Record{
		Workload: "Sender", Case: "curve=BN254/bits=32/note=<&>", Env: record.Env{CPU: "Some Processor", GOMAXPROCS: 2, Go: "go1.26"},
		Histograms: []record.Histogram{
			recordtest.Histogram(t, record.HistLatency, ramp(1000)...), recordtest.Histogram(t, record.HistResponse, ramp(2000)...), recordtest.Histogram(t, record.HistWait, ramp(500)...),
		},
		Metrics: []record.Metric{record.Duration.Metric(4.5)},
		Series: []record.Series{
			series(record.Throughput, 200, 250, 0, 240, 230),
			series(record.LatencyP50, 33e6, 34e6, 0, 33e6, 32e6), series(record.LatencyP99, 43e6, 44e6, 0, 43e6, 42e6),
			series(record.GCCPUShare, 7, 8, 0, 7, 7), series(record.RSS, 50e6, 51e6, 52e6, 53e6, 54e6),
		},
	}
	return rec
}

func draw(t *testing.T, f figure, rec *record.Record) plottest.Drawing {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, f(&b, plot.SVG, rec))
	return must.Get(plottest.SVG(b.Bytes()))(t)
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	return must.Get(strconv.ParseFloat(s, 64))(t)
}

// long returns the lines with more than two points: neither grid nor key.
func long(lines []plottest.Path) []plottest.Path {
	return slices.DeleteFunc(slices.Clone(lines), func(p plottest.Path) bool { return len(p) <= 2 })
}

const (
	blue   = "#0072B2"
	orange = "#D55E00"
	green  = "#009E73"
)

func wantTexts(t *testing.T, d plottest.Drawing, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !slices.Contains(d.Texts, want) {
			t.Errorf("%q is missing in %q", want, d.Texts)
		}
	}
}

func TestPercentiles(t *testing.T) {
	d := draw(t, plot.Percentiles, sample(t))
	wantTexts(t, d, "Sender: latency by percentile", "curve=BN254 bits=32 note=<&>", "latency (s)", "percentile (%)",
		"0", "50", "90", "99", "99.9", "max", "2000 operations",
		"response, from the intended start", "service, from the actual start", "wait")
	heights := make(map[string]float64)
	for _, colour := range []string{orange, blue, green} {
		all := long(d.Lines[colour])
		if len(all) != 1 || len(all[0]) < 50 {
			t.Fatalf("colour %s: %d lines, want one of many points", colour, len(all))
		}
		p := all[0]
		for i := range p[1:] {
			if p[i+1][0] < p[i][0] || p[i+1][1] < p[i][1] {
				t.Fatalf("colour %s: the line falls at point %d", colour, i+1)
			}
		}
		heights[colour] = p[len(p)-1][1] - p[0][1]
	}
	// The greatest values are 2 s, 1 s and half a second, the least ones 1 ms.
	for colour, share := range map[string]float64{blue: 0.5, green: 0.25} {
		golden.Near(t, "height of "+colour+", as part of the response's", share, heights[colour]/heights[orange], 0.02)
	}
	// From 90 to 99 is as far as from 99 to 99.9.
	line := long(d.Lines[blue])[0]
	at := func(percentile float64) float64 {
		h := percentile / 100 * 999 / 1999 * heights[orange] // of ramp(1000) in the scale of ramp(2000)
		for _, p := range line {
			if p[1]-line[0][1] >= h {
				return p[0]
			}
		}
		t.Fatalf("no point at P%v", percentile)
		return 0
	}
	first, second := at(99)-at(90), at(99.9)-at(99)
	golden.Near(t, "way from P99 to P99.9, by that from P90 to P99", first, second, 0.15)
}

func TestPercentilesOfAClosedLoop(t *testing.T) {
	rec := sample(t)
	rec.Histograms = rec.Histograms[:1]
	d := draw(t, plot.Percentiles, rec)
	if len(long(d.Lines[blue])) != 1 || len(long(d.Lines[orange])) != 0 || slices.Contains(d.Texts, "wait") {
		t.Errorf("a closed loop has more than its service time: %q", d.Texts)
	}
}

func TestHistogram(t *testing.T) {
	d := draw(t, plot.Histogram, sample(t))
	wantTexts(t, d, "service time (s)", "share of operations (%)", "P50 0.500 s", "P95 0.950 s", "P99 0.990 s", "1000 operations")
	// Sixty bars of about equal height, and three marks across the whole height.
	bars := d.Fills[blue]
	if len(bars) != 60 {
		t.Fatalf("%d bars, want 60", len(bars))
	}
	for i, b := range bars {
		golden.Near(t, fmt.Sprintf("height of bar %d", i), height(bars[20]), height(b), 0.1)
	}
	if marks := d.Lines[orange]; len(marks) != 3 || !(marks[0][0][0] < marks[1][0][0] && marks[1][0][0] < marks[2][0][0]) {
		t.Errorf("marks: %v", marks)
	}
	middle := (bars[0][0][0] + bars[59][0][0]) / 2
	if p50 := d.Lines[orange][0][0][0]; math.Abs(p50-middle) > 8 {
		t.Errorf("P50 stands at %v, the middle of the bars is %v", p50, middle)
	}
}

func height(p plottest.Path) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range p {
		lo, hi = min(lo, v[1]), max(hi, v[1])
	}
	return hi - lo
}

// TestHistogramSaysWhatItLeavesOut: an outlier does not flatten the body.
func TestHistogramSaysWhatItLeavesOut(t *testing.T) {
	values := ramp(1000)
	for i := range values {
		values[i] += 100e6
	}
	rec := &record.Record{Workload: "Sender", Histograms: []record.Histogram{recordtest.Histogram(t, record.HistLatency, append(values, 60e9)...)}}
	d := draw(t, plot.Histogram, rec)
	if !slices.ContainsFunc(d.Texts, func(s string) bool {
		return strings.HasPrefix(s, "1001 operations; not drawn: 1 above 2.07 s, up to 60.0 s")
	}) {
		t.Errorf("texts %q", d.Texts)
	}
	if n := len(d.Fills[blue]); n < 20 {
		t.Errorf("%d bars are left", n)
	}
}

func TestTimeline(t *testing.T) {
	d := draw(t, plot.Timeline, sample(t))
	wantTexts(t, d, "throughput", "service P50", "service P99", "garbage collection, share of processor time", "resident set",
		"ops/s", "ms", "%", "MB", "time since the window opened (s)")
	// Blue: throughput in 5 intervals, P50 with a gap after the second, memory.
	var lengths []int
	for _, p := range long(d.Lines[blue]) {
		lengths = append(lengths, len(p))
	}
	golden.Equal(t, "points of the lines", []int{10, 4, 4, 10}, lengths)
	// The last interval is half as wide as the others, and all tiles end with it.
	p := long(d.Lines[blue])[0]
	if whole, last := p[1][0]-p[0][0], p[9][0]-p[8][0]; math.Abs(last-whole/2) > 0.02 {
		t.Errorf("the last interval is %v points wide, the others %v", last, whole)
	}
	for _, colour := range []string{blue, green} {
		for _, q := range long(d.Lines[colour]) {
			if len(q) == 10 && (q[0][0] != p[0][0] || q[9][0] != p[9][0]) {
				t.Errorf("a line goes from %v to %v, the first one from %v to %v", q[0][0], q[9][0], p[0][0], p[9][0])
			}
		}
	}
	// 200 and 250 of 250, the axis' end.
	golden.Near(t, "height of 200 ops/s, as part of 250 ops/s", 0.8, (p[0][1]-p[4][1])/(p[2][1]-p[4][1]), 0.001)
}

func TestSameRecordSameBytes(t *testing.T) {
	for name, f := range figures() {
		for _, format := range []plot.Format{plot.SVG, plot.PDF} {
			var first, second bytes.Buffer
			must.Do(t, errors.Join(f(&first, format, sample(t)), f(&second, format, sample(t))))
			golden.Equal(t, fmt.Sprintf("figure=%s/format=%s: drawn again", name, format), first.Bytes(), second.Bytes())
			head := map[plot.Format]string{plot.SVG: "<?xml", plot.PDF: "%PDF-"}[format]
			if !strings.HasPrefix(first.String(), head) {
				t.Errorf("figure=%s/format=%s begins with %.20q", name, format, &first)
			}
			if format == plot.PDF && !regexp.MustCompile(`CreationDate \(D:20000101000000`).Match(first.Bytes()) {
				t.Errorf("figure=%s: the PDF has a date of creation", name)
			}
		}
	}
}

func TestFigureRefuses(t *testing.T) {
	damaged := sample(t)
	damaged.Histograms[0].HDR = "AAAA"
	for name, f := range figures() {
		t.Run("figure="+name, func(t *testing.T) {
			var b bytes.Buffer
			err := f(&b, "png", sample(t))
			must.Fail(t, err, zkbench.ErrParams, "format=png")
			golden.Contains(t, fmt.Sprint(err), "accepted: svg, pdf")
			if err := f(&b, plot.SVG, damaged); name != "timeline" && !errors.Is(err, zkbench.ErrMalformed) {
				t.Errorf("histogram=damaged: error %v, want ErrMalformed", err)
			}
			b.Reset()
			empty := &record.Record{
				Histograms: []record.Histogram{recordtest.Histogram(t, record.HistLatency)},
				Series:     []record.Series{series(record.Throughput)},
			}
			if err := errors.Join(f(&b, plot.SVG, new(record.Record)), f(&b, plot.SVG, empty)); err != nil || b.Len() > 0 {
				t.Errorf("a record without data gives %d bytes, error %v", b.Len(), err)
			}
		})
	}
}

// TestNegativeRate: a rate that no run has, far below an axis of small ones, is drawn as 0.
func TestNegativeRate(t *testing.T) {
	var b bytes.Buffer
	must.Do(t, plot.Timeline(&b, plot.SVG, &record.Record{
		Metrics: []record.Metric{record.Duration.Metric(2)},
		Series:  []record.Series{series(record.Throughput, -1e92, 5e-215)},
	}))
	if must.Get(plottest.SVG(b.Bytes()))(t); strings.Contains(b.String(), "NaN") {
		t.Error("it has numbers that are none")
	}
}

// TestFigureOfAnything: no values make a figure fail, or one that is not XML.
func TestFigureOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Int64Range(0, int64(time.Hour)), 1, 20).Draw(t, "latencies")
		rates := rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), 1, 20).Draw(t, "rates")
		rec := &record.Record{
			Workload: rapid.StringN(0, 20, 200).Draw(t, "workload"), Case: rapid.StringN(0, 200, 800).Draw(t, "case"),
			Histograms: []record.Histogram{recordtest.Histogram(t, record.HistLatency, values...), recordtest.Histogram(t, record.HistWait, values...)},
			Metrics:    []record.Metric{record.Duration.Metric(rapid.Float64Range(-1, 1e6).Draw(t, "duration"))},
			Series:     []record.Series{series(record.Throughput, rates...), series(record.LatencyP99, rates...)},
		}
		for name, f := range figures() {
			var b bytes.Buffer
			must.Do(t, f(&b, plot.SVG, rec))
			if _, err := plottest.SVG(b.Bytes()); err != nil || strings.Contains(b.String(), "NaN") {
				t.Fatalf("%s: %v, NaN %t", name, err, strings.Contains(b.String(), "NaN"))
			}
		}
	})
}
