package history_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/compare/history"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/view/text"
)

// counted returns records of a count that goes from 40 to 50 and back in three days. The last one
// has another environment.
func counted() []*record.Record {
	recs := []*record.Record{
		sample("a", 0, allocs(40)), sample("b", 1, allocs(50)), ofSession("s", 0, sample("c", 2, allocs(40))), ofSession("s", 1, sample("d", 2, allocs(40))),
		sample("e", 3, allocs(40)),
	}
	for i, commit := range []string{"0123456789abcdef", "aaaaaaaaaa+dirty", "bbbbbbbbbb", "bbbbbbbbbb", ""} {
		recs[i].Env.Commit = commit
	}
	recs[1].Env.Go, recs[1].Env.Modules = "go1.27", map[string]string{"example/m": "v1.0.0"}
	recs[4].Env.Quota = 1.5
	return recs
}

func TestText(t *testing.T) {
	lines := linesOf(t, history.Query{Metric: record.Allocs.Name()}, counted()...)
	var b bytes.Buffer
	must.Do(t, history.Summary(&b, text.Style{}, lines, 0.01))
	must.Do(t, history.Text(&b, text.Style{}, lines))
	want := `allocs: 2 lines, 4 points, 2026-01-01 to 2026-01-04
1 of 2 have a step; the largest: Sender/curve=BN254/bits=32 2026-01-02, +25.0 %, worse, since aaaaaaa+dirty (0123456..aaaaaaa)

Sender/curve=BN254/bits=32
One, linux/amd64, adx arithmetic, 2 processors, GOMAXPROCS 2, GOGC 100
  begun (UTC)       commit         median allocs/op  least–greatest  n  change
  2026-01-01 08:00  0123456        40                -               1
  2026-01-02 08:00  aaaaaaa+dirty  50                -               1  +25.0 %  step +25.0 %, worse, since aaaaaaa+dirty (0123456..aaaaaaa); go: go1.26.1 / go1.27; example/m: unknown / v1.0.0
  2026-01-03 08:00  bbbbbbb        40                -               2  -20.0 %  step -20.0 %, better, since bbbbbbb (aaaaaaa..bbbbbbb); go: go1.27 / go1.26.1; example/m: v1.0.0 / unknown

Sender/curve=BN254/bits=32
One, linux/amd64, adx arithmetic, 2 processors, GOMAXPROCS 2, quota 1.5, GOGC 100
different environment: quota: none / 1.5
  begun (UTC)       commit  median allocs/op  least–greatest  n  change
  2026-01-04 08:00  -       40                -               1
`
	golden.Equal(t, "text", want, b.String())
}

// TestSummary says how far steps can be chance.
func TestSummary(t *testing.T) {
	var recs []*record.Record
	for day := range 12 {
		recs = append(recs, sample(fmt.Sprint(day), day, throughput(1e6)))
		if day < 9 {
			short := sample(fmt.Sprint("short", day), day, throughput(1e6))
			short.Workload = "Issuer"
			recs = append(recs, short)
		}
	}
	var b bytes.Buffer
	must.Do(t, history.Summary(&b, text.Style{}, linesOf(t, history.Query{}, recs...), 0.01))
	want := `throughput: 2 lines, 21 points, 2026-01-01 to 2026-01-12
no line has a step
1 line tested at level 0.01: if nothing has changed, expect up to 0.01 with a step
1 line with fewer than 10 points, too few for a step at level 0.01
`
	golden.Equal(t, "text", want, b.String())
}

// TestColour: a step for the worse is red, one for the better is green, whichever way
// the metric goes.
func TestColour(t *testing.T) {
	rates := counted()
	for _, r := range rates {
		r.Metrics[0] = record.Throughput.Exact(r.Metrics[0].Value)
	}
	const red, green = "\x1b[1;31m  2026-01-0%d", "\x1b[32m  2026-01-0%d"
	for _, test := range []struct {
		name     string
		recs     []*record.Record
		metric   record.Quantity
		up, down string
	}{{"lower is better", counted(), record.Allocs, red, green}, {"higher is better", rates, record.Throughput, green, red}} {
		var b strings.Builder
		if err := history.Text(&b, text.Style{Colour: true}, linesOf(t, history.Query{Metric: test.metric.Name()}, test.recs...)); err != nil {
			t.Fatal(err)
		}
		golden.Contains(t, b.String(), fmt.Sprintf(test.up, 2), fmt.Sprintf(test.down, 3), "\x1b[1mSender/")
		b.Reset()
		must.Do(t, history.StepTable(&b, text.Style{Colour: true}, linesOf(t, history.Query{Metric: test.metric.Name()}, test.recs...)))
		golden.Contains(t, b.String(), strings.Replace(fmt.Sprintf(test.up, 2), "  2026", "2026", 1), strings.Replace(fmt.Sprintf(test.down, 3), "  2026", "2026", 1))
		golden.Equal(t, "steps and a head", 3, strings.Count(b.String(), "\n"))
	}
}

// TestFigures: times have the unit that fits, whatever that of the records.
func TestFigures(t *testing.T) {
	for _, test := range []struct {
		unit   string
		value  float64
		kind   record.Kind
		wanted []string
	}{
		{"ns", 81_400, record.Timed, []string{"median time ", " 81.40µs "}},
		{"s", 0.0125, record.Timed, []string{"median time ", " 12.50ms "}},
		{"ns/op", 2e9, record.Timed, []string{"median time/op ", " 2.000s "}},
		{"B/op", 12_345_678, record.Timed, []string{"median B/op ", " 12.35M "}},
		{"B/op", 12_345_678, record.Exact, []string{"median B/op ", " 12345678 "}},
		{"allocs/op", 40.0 / 3, record.Exact, []string{" 13.333333 "}},
	} {
		m := record.Reported("m", test.unit, test.value, test.kind)
		var b strings.Builder
		must.Do(t, history.Text(&b, text.Style{}, linesOf(t, history.Query{Metric: "m"}, sample("a", 0, m))))
		golden.Contains(t, b.String(), test.wanted...)
	}
}

func TestCSV(t *testing.T) {
	recs := counted()
	recs[0].Env.Vector = []string{"avx", "avx2"}
	for _, r := range recs[1:4] {
		r.Env.Vector = recs[0].Env.Vector
	}
	recs[3].Metrics[0].Value = 42
	var b bytes.Buffer
	must.Do(t, history.CSV(&b, linesOf(t, history.Query{Metric: record.Allocs.Name()}, recs...)))
	rows := must.Get(csv.NewReader(&b).ReadAll())(t)
	const one = "One, linux/amd64, adx arithmetic, 2 processors, GOMAXPROCS 2, GOGC 100, avx avx2"
	const other = "One, linux/amd64, adx arithmetic, 2 processors, GOMAXPROCS 2, quota 1.5, GOGC 100"
	sender := func(cells ...string) []string {
		return append([]string{"Sender", "curve=BN254/bits=32", "allocs", "allocs/op"}, cells...)
	}
	want := [][]string{
		{"workload", "case", "metric", "unit", "environment", "begun", "commit", "go", "median", "least", "greatest", "n", "step"},
		sender(one, "2026-01-01T08:00:00Z", "0123456789abcdef", "go1.26.1", "40", "40", "40", "1", ""),
		sender(one, "2026-01-02T08:00:00Z", "aaaaaaaaaa+dirty", "go1.27", "50", "50", "50", "1", "0.25"),
		sender(one, "2026-01-03T08:00:00Z", "bbbbbbbbbb", "go1.26.1", "41", "40", "42", "2", "-0.18"),
		sender(other, "2026-01-04T08:00:00Z", "", "go1.26.1", "40", "40", "40", "1", ""),
	}
	golden.Equal(t, "rows", want, rows)
}

func TestChart(t *testing.T) {
	m := record.LatencyMean.Exact
	line := linesOf(t, history.Query{Metric: "latency-mean"},
		ofSession("s", 0, sample("a", 0, m(2e6))), ofSession("s", 1, sample("b", 0, m(4e6))), sample("c", 1, m(3e6)), sample("d", 2, m(6e6)))[0]
	c := line.Chart()
	want := []plot.Curve{
		{Name: "median of the session", Points: []plot.Point{{X: 1, Y: 3, AboutY: plot.Interval{Least: 2, Most: 4}}, {X: 2, Y: 3}, {X: 3, Y: 6}}},
		{Name: "median between the steps", Reference: true, Points: []plot.Point{{X: 1, Y: 3}, {X: 2.5, Y: 3}, {X: 2.5, Y: 6}, {X: 3, Y: 6}}},
	}
	golden.Equal(t, "lines", want, c.Lines)
	if c.Y != "ms" || len(c.Marks) != 1 || c.Marks[0].X != 2.5 || !strings.HasPrefix(c.Marks[0].Name, "+100.0 %, worse, since ") {
		t.Errorf("y %s, marks %+v", c.Y, c.Marks)
	}
	var b bytes.Buffer
	if err := plot.Write(&b, plot.SVG, c); err != nil || !strings.Contains(b.String(), "Sender: latency-mean") {
		t.Errorf("%v, no title in %d bytes", err, b.Len())
	}

	var recs []*record.Record
	for day := range 20 { // changes each day, most at its end
		recs = append(recs, sample(fmt.Sprint(day), day, m(100+float64(day%2*day))))
	}
	many := linesOf(t, history.Query{Metric: "latency-mean"}, recs...)[0].Chart()
	if len(many.Marks) != 4 || many.Marks[0].X < 10 || !strings.Contains(many.Notes[len(many.Notes)-1], "4 of 19 steps") {
		t.Errorf("marks %+v, notes %q", many.Marks, many.Notes)
	}
}
