package charts_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/plottest"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/charts"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// load is a record of a load with a throughput and a mean latency in ms.
func load(workload, at string, cpus, repetition int, tps, ms float64) *record.Record {
	r := record.New()
	r.Workload, r.Axes, r.Process.Index = workload, recordtest.Axes(at), repetition
	r.Env = record.Env{OS: "linux", Arch: "amd64", CPU: "Some Processor", Cores: 8, GOMAXPROCS: cpus, Go: "go1.26"}
	r.Metrics = []record.Metric{record.Throughput.Metric(tps), record.LatencyMean.Metric(ms * 1e6)}
	return r
}

// stages is a record of stages with their times in seconds.
func stages(workload, at string, cpus int, seconds ...float64) *record.Record {
	r := load(workload, at, cpus, 0, 0, 0)
	r.Metrics = nil
	for i, s := range seconds {
		r.Metrics = append(r.Metrics, record.StageTime([]string{"build", "prove", "verify"}[i]).Metric(s))
	}
	return r
}

func withProof(r *record.Record, size float64) *record.Record {
	r.Metrics = append(r.Metrics, record.ProofSize.Metric(size))
	return r
}

const (
	base    = "curve=BN254/bits=32/in=2/out=2/proof=csp/exec="
	workers = "/workers="
)

// scaled are three repetitions of two executors at each number of CPUs, as a suite
// interleaves them.
func scaled(workload string, cpus ...int) (recs []*record.Record) {
	for i := range 3 {
		for _, exec := range []string{"serial", "pool"} {
			for _, n := range cpus {
				loss := 1 - 0.03*float64(n-1)
				if exec == "pool" {
					loss *= 0.9
				}
				tps := 101.7 * float64(n) * loss * (1 + 0.01*float64((i+n)%3))
				recs = append(recs, load(workload, base+exec+workers+strconv.Itoa(n), n, i, tps, 1e3*float64(n)/tps))
			}
		}
	}
	return recs
}

func all(t *testing.T, recs []*record.Record) []charts.Chart {
	t.Helper()
	return must.Get(charts.All(recs, charts.Grid{RowKey: "in", Rows: "inputs", ColumnKey: "out", Columns: "outputs"}))(t)
}

func titles(all []charts.Chart) (titles []string) {
	for _, c := range all {
		titles = append(titles, c.Title)
	}
	return titles
}

func curves(t *testing.T, all []charts.Chart, title string) *plot.Curves {
	t.Helper()
	i := slices.IndexFunc(all, func(c charts.Chart) bool { return c.Title == title })
	if i < 0 {
		t.Fatalf("no chart %q in %q", title, titles(all))
	}
	return all[i].Figure.(*plot.Curves)
}

func names(c *plot.Curves) (names []string) {
	for _, l := range c.Lines {
		names = append(names, l.Name)
	}
	return names
}

// TestPointsAreResults: a point is the figure of suite.Results, error bars go from the least
// repetition to the greatest, and there are as many points as numbers of CPUs.
func TestPointsAreResults(t *testing.T) {
	counts := []int{1, 2, 4}
	recs := slices.Concat(scaled("Sender", counts...), scaled("Issuer", counts...))
	row := suite.Results(suite.Header{}, recs)
	result := func(name string) string {
		i := slices.Index(row.Columns, name)
		if i < 0 {
			t.Fatalf("no column %q in %q", name, row.Columns)
		}
		return row.Values[i]
	}
	figure := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	got := all(t, recs)
	for _, workload := range []string{"Sender", "Issuer"} {
		tps, latency := curves(t, got, workload+": throughput by CPUs"), curves(t, got, workload+": latency by throughput")
		if diff := cmp.Diff([]string{"serial", "pool"}, names(tps)); diff != "" || !slices.Equal(names(tps), names(latency)) {
			t.Fatalf("lines %q, %q", names(tps), names(latency))
		}
		for i, exec := range names(tps) {
			byCPU, byTps := tps.Lines[i].Points, latency.Lines[i].Points
			if len(byCPU) != len(counts) || len(byTps) != len(counts) {
				t.Fatalf("%s %s: %d and %d points", workload, exec, len(byCPU), len(byTps))
			}
			for k, n := range counts {
				column := fmt.Sprintf("%s/%s%s%s%d/cpus=%d ", workload, base, exec, workers, n, n)
				golden.Equal(t, column, fmt.Sprint(n, " ", result(column+"tps")), fmt.Sprint(byCPU[k].X, " ", figure(byCPU[k].Y)))
				golden.Equal(t, column, [2]string{result(column + "tps"), result(column + "lat-avg ms")}, [2]string{figure(byTps[k].X), figure(byTps[k].Y)})
				for _, in := range []struct {
					value float64
					about plot.Interval
				}{{byCPU[k].Y, byCPU[k].AboutY}, {byTps[k].X, byTps[k].AboutX}, {byTps[k].Y, byTps[k].AboutY}} {
					if !(in.about.Least < in.value && in.value < in.about.Most && math.Abs(in.about.Most/in.about.Least-1.02) < 1e-3) {
						t.Errorf("%s: %v lies in %v", column, in.value, in.about)
					}
				}
				if want := map[int]string{1: "1 CPU", 2: "2 CPUs", 4: "4 CPUs"}[n]; byTps[k].Name != want || byCPU[k].Name != "" {
					t.Errorf("%s: the point is named %q", column, byTps[k].Name)
				}
			}
		}
	}
}

// TestEfficiency: the throughput of n CPUs over n times that of one, for lines that have one
// and another.
func TestEfficiency(t *testing.T) {
	recs := []*record.Record{
		load("A", "exec=serial", 1, 0, 100, 1), load("A", "exec=serial", 2, 0, 180, 1), load("A", "exec=serial", 4, 0, 300, 1),
		load("A", "exec=pool", 2, 0, 180, 1), load("A", "exec=pool", 4, 0, 300, 1),
		load("B", "exec=serial", 1, 0, 100, 1), load("C", "exec=serial", 1, 0, 0, 1), load("C", "exec=serial", 2, 0, 5, 1),
	}
	got := all(t, recs)
	want := []plot.Curve{
		{Name: "serial", Points: []plot.Point{{X: 1, Y: 1}, {X: 2, Y: 0.9}, {X: 4, Y: 0.75}}},
		{Name: "ideal", Reference: true, Points: []plot.Point{{X: 0, Y: 1}, {X: 4, Y: 1}}},
	}
	golden.Equal(t, "lines", want, curves(t, got, "A: scaling efficiency").Lines)
	for _, none := range []string{"B: scaling efficiency", "C: scaling efficiency"} {
		if slices.Contains(titles(got), none) {
			t.Errorf("there is %q", none)
		}
	}
}

// TestNeverMixed: cases that differ are lines with names or charts with titles, and what
// they have in common is noted.
func TestNeverMixed(t *testing.T) {
	at := func(list ...string) (recs []*record.Record) {
		for _, text := range list {
			recs = append(recs, load("A", text, 1, 0, 100, 1))
		}
		return recs
	}
	other := at("bits=32/exec=serial", "bits=32/exec=serial")
	other[1].Env.CPU = "Other Processor"
	hosts := at("bits=32/exec=serial", "bits=32/exec=serial")
	hosts[0].Env.Host, hosts[1].Env.Host = "a", "b"
	slow := at("stage=prove", "stage=verify")
	slow[0].Metrics[0].Value = 1
	cpus := func(pairs ...[2]int) (recs []*record.Record) {
		for _, p := range pairs {
			recs = append(recs, load("A", fmt.Sprintf("exec=serial/workers=%d", p[0]), p[1], 0, 100, 1))
		}
		return recs
	}
	var crowded []*record.Record
	for cpus := range 16 {
		crowded = append(crowded, load("A", "proof=csp", cpus+1, 0, 100, 1), load("A", "proof=bulletproof", cpus+1, 0, 100, 1))
	}
	const sixteen = "measured: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
	var many []string
	for i := range 9 {
		many = append(many, fmt.Sprintf("exec=serial/owner=%d", i))
	}
	nine := make(map[string][]string)
	for i := range 9 {
		nine[fmt.Sprintf("A: throughput by CPUs, owner %d", i)] = []string{"serial: 1"}
	}
	for name, test := range map[string]struct {
		recs []*record.Record
		want map[string][]string // by title: lines and their points
		note string
	}{
		"one":     {at("curve=BN254/bits=32/exec=serial"), map[string][]string{"A: throughput by CPUs": {"serial: 1"}}, "BN254, bits 32"},
		"no axes": {at(""), map[string][]string{"A: throughput by CPUs": {"measured: 1"}}, ""},
		"proof and bits": {
			at("bits=32/proof=csp/exec=serial", "bits=32/proof=bulletproof/exec=serial", "bits=64/proof=csp/exec=serial"),
			map[string][]string{"A: throughput by CPUs": {"csp, bits 32: 1", "bulletproof, bits 32: 1", "csp, bits 64: 1"}},
			"serial",
		},
		"same text":           {at("a=b", "a%2fb=b"), map[string][]string{"A: throughput by CPUs": {"a b: 1", "a%2fb b: 1"}}, ""},
		"machines":            {other, map[string][]string{"A: throughput by CPUs": {"serial: 1"}, "A: throughput by CPUs, environment 2": {"serial: 1"}}, "bits 32"},
		"hosts":               {hosts, map[string][]string{"A: throughput by CPUs, a": {"serial: 1"}, "A: throughput by CPUs, b": {"serial: 1"}}, "bits 32"},
		"too crowded":         {crowded, map[string][]string{"A: throughput by CPUs, csp": {sixteen}, "A: throughput by CPUs, bulletproof": {sixteen}}, ""},
		"too many":            {at(many...), nine, ""},
		"too unlike":          {slow, map[string][]string{"A: throughput by CPUs, prove": {"measured: 1"}, "A: throughput by CPUs, verify": {"measured: 1"}}, ""},
		"workers of the CPUs": {cpus([2]int{1, 1}, [2]int{4, 4}, [2]int{2, 2}), map[string][]string{"A: throughput by CPUs": {"serial: 1 2 4"}}, "as many workers as CPUs"},
		"workers fixed": {
			cpus([2]int{1, 1}, [2]int{2, 1}, [2]int{1, 2}, [2]int{2, 2}),
			map[string][]string{"A: throughput by CPUs": {"1 worker: 1 2", "2 workers: 1 2"}},
			"serial",
		},
		"workers both": {
			cpus([2]int{1, 1}, [2]int{1, 2}, [2]int{2, 2}, [2]int{1, 4}, [2]int{4, 4}),
			map[string][]string{"A: throughput by CPUs": {"1 worker: 1 2 4", "as many workers as CPUs: 1 2 4"}},
			"serial",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(map[string][]string)
			for _, c := range all(t, test.recs) {
				if !strings.Contains(c.Title, "throughput by CPUs") {
					continue
				}
				f := c.Figure.(*plot.Curves)
				for _, l := range f.Lines {
					text := l.Name + ":"
					for _, p := range l.Points {
						text += fmt.Sprint(" ", p.X)
					}
					got[c.Title] = append(got[c.Title], text)
				}
				if test.note != "" && f.Notes[0] != test.note {
					t.Errorf("%s: note %q, want %q", c.Title, f.Notes[0], test.note)
				}
			}
			golden.Equal(t, "lines", test.want, got)
		})
	}
}

// TestEnvironments: machines and builds have their own charts, under the numbers that
// suite.Results gives them, whose notes say what is unlike; a size of proofs that changes
// from one to the next has two bars, another one.
func TestEnvironments(t *testing.T) {
	commit := strings.Repeat("0123456789", 4)
	build := func(workload string, change func(*record.Env), size float64) *record.Record {
		r := withProof(load(workload, "bits=32/exec=serial/cpus=1", 1, 0, size, 1), size)
		r.Env.Commit, r.Env.Modules = commit, map[string]string{"example.org/curves": "v1"}
		change(&r.Env)
		return r
	}
	dirty := func(e *record.Env) { e.Commit += "+dirty" }
	recs := []*record.Record{
		build("A", func(*record.Env) {}, 100),
		build("B", func(*record.Env) {}, 7),
		build("A", func(e *record.Env) { e.GOMAXPROCS, e.Kernel = 2, "other" }, 100),
		build("B", dirty, 7),
		build("A", dirty, 200),
		build("A", func(e *record.Env) { e.Go, e.CPU = "go1.27", "Other Processor" }, 200),
		build("A", func(e *record.Env) { e.Modules = map[string]string{"example.org/curves": "v2"} }, 100),
	}
	got := all(t, recs)
	notes := make(map[string][]string)
	for _, c := range got {
		if f, ok := c.Figure.(*plot.Curves); ok && strings.Contains(c.Title, ": throughput by CPUs") {
			notes[c.Title] = f.Notes[1 : len(f.Notes)-1]
		}
	}
	const first = "Some Processor, linux/amd64, 8 processors, go1.26, commit 0123456"
	want := map[string][]string{
		"A: throughput by CPUs":                {first},
		"A: throughput by CPUs, environment 2": {first + "+dirty", "unlike environment 1 in commit: 0123456 / 0123456+dirty"},
		"A: throughput by CPUs, environment 3": {
			"Other Processor, linux/amd64, 8 processors, go1.27, commit 0123456",
			"unlike environment 1 in cpu: Some Processor / Other Processor", "unlike environment 1 in go: go1.26 / go1.27",
		},
		"A: throughput by CPUs, environment 4": {first, "unlike environment 1 in example.org/curves: v1 / v2"},
		"B: throughput by CPUs":                {first},
		"B: throughput by CPUs, environment 2": {first + "+dirty", "unlike environment 1 in commit: 0123456 / 0123456+dirty"},
	}
	golden.Equal(t, "notes by title", want, notes)
	row := suite.Results(suite.Header{}, recs)
	for column, figure := range map[string]string{"A": "100", "A (environment 2)": "200", "A (environment 4)": "100", "B (environment 2)": "7"} {
		if i := slices.Index(row.Columns, column+"/bits=32/exec=serial/cpus=1 tps"); i < 0 || row.Values[i] != figure {
			t.Errorf("the results have no %s of %s: %q, %q", column, figure, row.Columns, row.Values)
		}
	}
	bars := []plot.BarGroup{
		{Name: "A: bits 32", Rows: []plot.Bar{
			{Name: "environment 1", Value: 100}, {Name: "environment 2", Value: 200}, {Name: "environment 3", Value: 200}, {Name: "environment 4", Value: 100},
		}},
		{Name: "B", Rows: []plot.Bar{{Name: "bits 32", Value: 7}}},
	}
	golden.Equal(t, "sizes", bars, figure[*plot.Bars](t, recs, "Sizes of proofs").Groups)
}

// TestNotes: the machine, the repetitions and what is left out.
func TestNotes(t *testing.T) {
	recs := scaled("Sender", 1, 2)
	recs[0].Status = record.Failed
	recs = append(recs, load("Sender", base+"serial/workers=1", 1, 3, 100, 10))
	recs[len(recs)-1].Status = record.Partial
	notes := curves(t, all(t, recs), "Sender: throughput by CPUs").Notes
	want := []string{
		"BN254, bits 32, in 2, out 2, csp, as many workers as CPUs", "Some Processor, linux/amd64, 8 processors, go1.26",
		"median of 2 to 3 repetitions, bars from the least to the greatest; 2 of the workload's 13 processes failed and are left out",
	}
	golden.Equal(t, "notes", want, notes)
}

// TestPDF: two plots for each workload, on one page, each with its title and as many points
// and names of points as numbers of CPUs.
func TestPDF(t *testing.T) {
	counts := []int{1, 2, 4, 8}
	got := all(t, slices.Concat(scaled("Sender", counts...), scaled("Issuer", counts...)))
	want := []string{
		"Sender: throughput by CPUs", "Sender: latency by throughput", "Issuer: throughput by CPUs", "Issuer: latency by throughput",
		"Sender: scaling efficiency", "Issuer: scaling efficiency",
	}
	golden.Equal(t, "titles", want, titles(got))
	var raw, again bytes.Buffer
	if err := errors.Join(charts.PDF(&raw, got), charts.PDF(&again, got)); err != nil || !bytes.Equal(raw.Bytes(), again.Bytes()) {
		t.Fatalf("%v, or two documents of the same records differ", err)
	}
	pages, err := plottest.Pages(raw.Bytes())
	if err != nil || len(pages) != 3 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	const orange = "0.835 0.369 0.000" // of the second line, whose points are squares
	for i, p := range pages {
		for _, title := range want[2*i : 2*i+2] {
			if !slices.Contains(p.Texts, title) {
				t.Errorf("page %d has no %q: %q", i, title, p.Texts)
			}
		}
		if points := p.Fills[orange]; points != 2*(len(counts)+1) { // and one in each key
			t.Errorf("page %d: %d points, want %d a plot and one in its key", i, points, len(counts))
		}
		for _, n := range counts {
			named := 0
			for _, s := range p.Texts {
				if s == fmt.Sprintf("%d CPUs", n) || s == fmt.Sprintf("%d CPU", n) {
					named++
				}
			}
			if want := map[bool]int{true: 2}[i < 2]; named != want { // a point of each line
				t.Errorf("page %d: %d points are named %d CPUs, want %d", i, named, n, want)
			}
		}
	}
}

// TestSVG: every chart is XML of its own file, with its title and its lines' names.
func TestSVG(t *testing.T) {
	files := make(map[string]bool)
	for _, c := range all(t, scaled("Sender", 1, 2, 4)) {
		var b bytes.Buffer
		must.Do(t, plot.Write(&b, plot.SVG, c.Figure))
		got := must.Get(plottest.SVG(b.Bytes()))(t).Texts
		for _, want := range append([]string{c.Title}, names(c.Figure.(*plot.Curves))...) {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q in %q", c.File, want, got)
			}
		}
		if files[c.File] || strings.Trim(c.File, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("file %q stands twice, or is no name for every system", c.File)
		}
		files[c.File] = true
	}
}

func TestNothing(t *testing.T) {
	failed := load("A", "exec=serial", 1, 0, 1, 1)
	failed.Status = record.Failed
	for name, recs := range map[string][]*record.Record{
		"none": nil, "failed": {failed}, "no metrics": {record.New()},
		"no numbers": {load("A", "", 1, 0, math.NaN(), math.Inf(1)), load("A", "", 2, 0, math.Inf(-1), -1)},
	} {
		got := all(t, recs)
		var b bytes.Buffer
		if err := charts.PDF(&b, got); err != nil || len(got) > 0 || b.Len() > 0 {
			t.Errorf("%s: %q, %d bytes, %v", name, titles(got), b.Len(), err)
		}
	}
	must.FailGet(charts.All([]*record.Record{nil}))(t, zkbench.ErrParams, "nil")
}

// TestHostile: names and values that no workload has give charts that are whole, in files
// whose names are harmless and differ.
func TestHostile(t *testing.T) {
	nasty := []string{"../../etc/passwd", "a<b>&\"'", "\x00\x1b[2J", "日本語", strings.Repeat("x", 5000), "", "CON", "con"}
	var recs []*record.Record
	for _, name := range nasty {
		for i, v := range []float64{1, 0, math.NaN(), math.Inf(1), -5, math.MaxFloat64} {
			r := load(name, "", i, 0, v, v)
			r.Axes = record.Axes{{Key: name, Value: name}, {Key: "exec", Value: name}, {Key: "bits", Value: name}, {Key: "in", Value: name}, {Key: "out", Value: strconv.Itoa(i)}, {Key: "workers", Value: name}}
			r.Env.CPU, r.Env.Commit = name, name
			recs = append(recs, withProof(r, v), stages(name, "a="+name, i, v, v))
		}
	}
	got := all(t, recs)
	if len(got) < 2*len(nasty) {
		t.Errorf("%d charts", len(got))
	}
	files := make(map[string]bool)
	for _, c := range got {
		if files[c.File] || len(c.File) > 140 || strings.Trim(c.File, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			t.Errorf("file %q", c.File)
		}
		files[c.File] = true
		var b bytes.Buffer
		must.Do(t, plot.Write(&b, plot.SVG, c.Figure))
		must.Get(plottest.SVG(b.Bytes()))(t)
		if b.Len() == 0 || bytes.Contains(b.Bytes(), []byte("NaN")) {
			t.Errorf("%q: %d bytes, or not a number", c.File, b.Len())
		}
	}
	must.Do(t, charts.PDF(io.Discard, got))
}

// TestFew: every workload has its first chart before any has a second, in the order of all.
func TestFew(t *testing.T) {
	var all []charts.Chart
	for i := range 3 {
		for _, workload := range []string{"A", "B"} {
			title := fmt.Sprintf("%s: chart %d", workload, i)
			all = append(all, charts.Chart{File: title, Title: title})
		}
	}
	all = append(all, charts.Chart{File: "C: chart", Title: "C: chart"})
	for _, test := range []struct {
		most int
		want string
		left int
	}{
		{10, "A: chart 0, B: chart 0, A: chart 1, B: chart 1, A: chart 2, B: chart 2, C: chart", 0},
		{7, "A: chart 0, B: chart 0, A: chart 1, B: chart 1, A: chart 2, B: chart 2, C: chart", 0},
		{4, "A: chart 0, B: chart 0, A: chart 1, C: chart", 3},
		{2, "A: chart 0, B: chart 0", 5},
		{0, "", 7},
	} {
		kept, left := charts.Few(all, test.most)
		var titles []string
		for _, c := range kept {
			titles = append(titles, c.Title)
		}
		golden.Equal(t, fmt.Sprintf("%d charts", test.most), test.want, strings.Join(titles, ", "))
		golden.Equal(t, fmt.Sprintf("left of %d", test.most), test.left, left)
	}
}
