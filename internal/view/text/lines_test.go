package text_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/text"
)

func written(t *testing.T, rec *record.Record) string {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, text.Case(&b, rec))
	return b.String()
}

// field returns the cells of the line that begins with label.
func field(t *testing.T, text, label string) []string {
	t.Helper()
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, " "+label+"  "); ok {
			return regexp.MustCompile(`\s{2,}`).Split(strings.TrimSpace(rest), -1)
		}
	}
	t.Fatalf("no line %s in:\n%s", label, text)
	return nil
}

// ns parses a time as the report writes it, with or without the mark of few operations.
func ns(t *testing.T, s string) float64 {
	t.Helper()
	s = strings.TrimSuffix(s, " few")
	return float64(must.Get(time.ParseDuration(s))(t))
}

// TestCaseHasEveryLineOfTheStudy, each with a description.
func TestCaseHasEveryLineOfTheStudy(t *testing.T) {
	all := written(t, sample(t))
	for _, label := range []string{
		"Workers", "Total Ops", "Duration", "Real Throughput", "Pure Throughput",
		"Min", "P50 (Median)", "Average", "P95", "P99", "P99.9", "Max",
		"Std Dev", "IQR", "Jitter", "CV",
		"Error Rate", "Memory", "Allocs", "Alloc Rate", "GC Overhead", "GC Pause", "GC Cycles",
	} {
		if f := field(t, all, label); len(f) != 2 || f[0] == "" || f[1] == "" {
			t.Errorf("%s: %q, want a value and a description", label, f)
		}
	}
	golden.Contains(t, all, "\nLatency Heatmap", "\nAnalysis:\n", "\nThroughput Timeline:\n", "(Max: 52.00 ops/s")
	for _, grade := range []string{"Excellent", "Severe", "Good", "Stable"} {
		if strings.Contains(all, grade) {
			t.Errorf("a grade, %s, is in:\n%s", grade, all)
		}
	}
}

// TestCaseFigures reads figures back from the text and computes them again from
// the histograms and the counters.
func TestCaseFigures(t *testing.T) {
	for name, build := range map[string]func(*testing.T) *record.Record{"loop=closed": sample, "loop=open": openSample} {
		t.Run(name, func(t *testing.T) {
			rec := build(t)
			all := written(t, rec)
			columns := []string{record.HistLatency}
			if name == "loop=open" {
				columns = append(columns, record.HistResponse, record.HistWait)
			}
			for i, column := range columns {
				encoded, ok := rec.Histogram(column)
				if !ok {
					t.Fatalf("no histogram %s", column)
				}
				h := must.Get(encoded.Decode())(t)
				for label, want := range map[string]int64{
					"Min": h.Min(), "P50 (Median)": h.ValueAtPercentile(50), "P95": h.ValueAtPercentile(95),
					"P99": h.ValueAtPercentile(99), "P99.9": h.ValueAtPercentile(99.9), "Max": h.Max(),
				} {
					golden.Near(t, column+" "+label, float64(want), ns(t, field(t, all, label)[i]), 0.001)
				}
			}
			mean, _, _ := strings.Cut(field(t, all, "Average")[0], " ")
			dev := ns(t, field(t, all, "Std Dev")[0])
			cv := must.Get(strconv.ParseFloat(strings.TrimSuffix(field(t, all, "CV")[0], "%"), 64))(t)
			golden.Near(t, "CV", 100*dev/ns(t, mean), cv, 0.001)
			failed, started := rec.Count(record.CountFailed), rec.Count(record.CountStarted)
			golden.Equal(t, "error rate", fmt.Sprintf("%.4f%%", 100*float64(failed)/float64(started)), field(t, all, "Error Rate")[0])
			sums := []string{"Started"}
			if name == "loop=open" {
				sums = append(sums, "Offered")
			}
			for _, label := range sums {
				f := field(t, all, label)
				if got, want := summed(t, f[1]), summed(t, f[0]); got != want || strings.Contains(f[1], "ADD UP") {
					t.Errorf("%s %s: the parts are %d", label, f, got)
				}
			}
		})
	}
}

// summed returns the sum of the numbers in a text.
func summed(t *testing.T, text string) int {
	t.Helper()
	sum := 0
	for _, n := range regexp.MustCompile(`\d+`).FindAllString(text, -1) {
		v := must.Get(strconv.Atoi(n))(t)
		sum += v
	}
	return sum
}

func TestCaseSaysWhatDoesNotAddUp(t *testing.T) {
	rec := openSample(t)
	rec.Counters[0].Value++ // offered
	golden.Contains(t, field(t, written(t, rec), "Offered")[1], "DOES NOT ADD UP, the sum is 10100")
}

func TestCaseOpenLoop(t *testing.T) {
	all := written(t, openSample(t))
	for label, want := range map[string][]string{
		"Offered Rate":  {"101.0/s"},
		"Dropped":       {"30"},
		"Never Started": {"8"},
		"P99.99":        {"66.42ms few", "125.5ms few", "50.23ms few"},
		"10078":         {"4.000s"},
		"...":           {"12 more, all younger"},
		"RSS":           {"-", "Not reported by this platform"},
		"Peak memory":   {"-", "Not reported by this platform"},
		"failed":        {"40", "7.627ms"},
		"issue":         {"1111"},
		"transfer":      {"8889"},
		"input":         {"10000"},
		"retries":       {"5"},
	} {
		if got := field(t, all, label); !slices.Equal(got[:len(want)], want) {
			t.Errorf("%s: %q, want %q", label, got, want)
		}
	}
	golden.Contains(t, all, "\nAnalysis:\n no findings\n")
	if closed := written(t, sample(t)); strings.Contains(closed, "Offered") || strings.Contains(closed, "Response") {
		t.Errorf("a closed loop has lines of an open one:\n%s", closed)
	}
}

// TestCaseHasNoLineForWhatIsAbsent takes one metric after the other away.
func TestCaseHasNoLineForWhatIsAbsent(t *testing.T) {
	for label, name := range map[string]fmt.Stringer{
		"Real Throughput": record.Throughput, "Jitter": record.LatencyJitter, "IQR": record.LatencyIQR, "CV": record.LatencyStdDev,
		"GC Assist": record.GCAssistShare, "GC Pause": record.GCPauses, "Mutex Wait": record.MutexWait, "Sched P99": record.SchedP99,
		"Memory": record.AllocBytes, "proof-size": exact("proof-size", "", 0),
	} {
		rec := sample(t)
		rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool { return m.Name() == name.String() })
		if strings.Contains(written(t, rec), "\n "+label+" ") {
			t.Errorf("%s stands without %s", label, name)
		}
	}
}

func TestCaseTellsExactFromVarying(t *testing.T) {
	rec := sample(t)
	if f := field(t, written(t, rec), "Memory"); !strings.HasSuffix(f[1], "(exact)") {
		t.Errorf("memory: %q", f)
	}
	for i := range rec.Metrics {
		rec.Metrics[i].Kind = record.Timed
	}
	if f := field(t, written(t, rec), "Memory"); !strings.HasSuffix(f[1], "(not exact)") {
		t.Errorf("memory: %q", f)
	}
}

// TestStyle: colour adds marks to the text and changes nothing else.
func TestStyle(t *testing.T) {
	rec := openSample(t)
	rec.Findings = sample(t).Findings
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	for name, view := range map[string]func(s text.Style, b *bytes.Buffer) error{
		"view=case":  func(s text.Style, b *bytes.Buffer) error { return s.Case(b, rec) },
		"view=table": func(s text.Style, b *bytes.Buffer) error { return s.Table(b, []*record.Record{rec}) },
	} {
		t.Run(name, func(t *testing.T) {
			var plain, coloured bytes.Buffer
			must.Do(t, view(text.Style{}, &plain))
			must.Do(t, view(text.Style{Colour: true}, &coloured))
			if escape.Match(plain.Bytes()) || !escape.Match(coloured.Bytes()) {
				t.Error("escape sequences stand in the wrong text")
			}
			golden.Equal(t, "text without colour", plain.String(), escape.ReplaceAllString(coloured.String(), ""))
		})
	}
	var b bytes.Buffer
	must.Do(t, (text.Style{Colour: true}).Case(&b, rec))
	for _, marked := range []string{"Analysis:", "unfinished", "FAILED: 40 of 10062 operations failed: planted"} {
		if !regexp.MustCompile("\x1b\\[[0-9;]+m" + regexp.QuoteMeta(marked) + "\x1b\\[0m").MatchString(b.String()) {
			t.Errorf("%s is not marked", marked)
		}
	}
}

// TestTimeline reads the cells of the throughput's line.
func TestTimeline(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		window float64 // s
		cells  string
		most   string
	}{
		{"values=study", []float64{240, 247, 120, 1, 0}, 5, "██▄▁ ", "247.0 ops/s, 1s per cell"},
		{"values=eighths", []float64{1, 2, 3, 4, 5, 6, 7, 8}, 8, "▁▂▃▄▅▆▇█", "8.000 ops/s, 1s per cell"},
		{"values=none", []float64{0, 0}, 2, "  ", "0 ops/s, 1s per cell"},
		{"intervals=60", slices.Repeat([]float64{5}, 60), 60, strings.Repeat("█", 60), "5.000 ops/s, 1s per cell"},
		{"intervals=61", append(slices.Repeat([]float64{1, 3}, 30), 1), 61, strings.Repeat("█", 30) + "▄", "2.000 ops/s, 2s per cell"},
		// The last interval lasted a quarter of a second: (1·4 + ¼·9) / 1¼ = 5.
		{"intervals=62", append(slices.Repeat([]float64{4}, 61), 9), 61.25, strings.Repeat("▆", 30) + "█", "5.000 ops/s, 2s per cell"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rec := &record.Record{
				Metrics: []record.Metric{record.Duration.Metric(test.window)},
				Series:  []record.Series{record.Throughput.Series(time.Second, test.values)},
			}
			want := fmt.Sprintf(" Throughput  [%s]  (Max: %s)\n", test.cells, test.most)
			golden.Contains(t, written(t, rec), want)
		})
	}
}

// TestTimelineMergesToTheGreatest: a percentile of joined intervals is not the
// mean of theirs.
func TestTimelineMergesToTheGreatest(t *testing.T) {
	rec := &record.Record{Series: []record.Series{
		record.LatencyP99.Series(time.Second, append(slices.Repeat([]float64{1e6}, 99), 8e6)),
	}}
	golden.Contains(t, written(t, rec), "["+strings.Repeat("▁", 49)+"█]  (Max: 8.000ms, 2s per cell)")
}
